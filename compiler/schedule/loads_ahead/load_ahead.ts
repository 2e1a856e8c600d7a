/**
 * Loops that reduce in each iteration load the tiles of the next one before they reduce.
 *
 *     while (p, m)                        x = load p
 *       x = load p                        while (x, p + step, m)
 *       m = max(m, reduce x)       ─▶       next = load p, if there is another iteration
 *       p = p + step                        m = max(m, reduce x)
 *                                           x, p = next, p + step
 *
 * Threads wait for each other in a reduction, and assemblers move no load over that. Nor do they over the end of an iteration
 * that adds up elements, which are reduced behind the loop: where such a loop is long enough, its tiles come by copies, and the
 * loop around it becomes one with it (flat_nests.ts). A short one stays beside it as it was.
 */
import { copyOps } from "../../ir/copy_ops.ts";
import { loopOf } from "../../ir/flow.ts";
import {
  type Func,
  isOp,
  type Op,
  type OpOf,
  type Region,
  takeNames,
  type Value,
} from "../../ir/func.ts";
import { rootsOf } from "../../ir/pointer_roots.ts";
import { countUses, holds, replaceUses } from "../../ir/walk.ts";
import { bug } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { dropDead } from "../../tile/drop_dead.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { sharedBytes } from "../allocate_shared.ts";
import { ScheduleBuilder } from "../builder.ts";
import { copyOfIteration, firstIteration } from "../pipeline/prefetch.ts";
import { accumulators } from "./accumulators.ts";
import { type AheadForm, chooseForm } from "./ahead_form.ts";
import { accumulatingLoop, type AheadLoop, aheadLoop, Stores } from "./ahead_loads.ts";
import { flatten, nestOf } from "./flat_nests.ts";
import { loadIntoRegisters } from "./in_registers.ts";
import { copyIntoSlots } from "./in_slots.ts";

export const loadAhead: Pass<TargetContext> = {
  name: "load-ahead",
  doc: "loops that reduce, or add up for a reduction, load the tiles of later iterations early",
  run: (func, context) => {
    // Loops around dots have pipelines of their own, and take most of registers and shared memory.
    if (!holds(func.body, REDUCTIONS) || holds(func.body, DOTS)) return false;
    const ahead = new Loops(func, context);
    ahead.visit(func.body);
    if (!ahead.isChanged) return false;
    replaceUses(func, ahead.replaced);
    func.body.ops.unshift(...ahead.buffers);
    dropDead.run(func);
    return true;
  },
};

const REDUCTIONS: ReadonlySet<Op["name"]> = new Set(["reduce", "scan"]);
const DOTS: ReadonlySet<Op["name"]> = new Set(["dot", "warp_group_dot", "register_group_dot"]);

class Loops {
  isChanged = false;
  readonly buffers: OpOf<"shared_buffer">[] = [];
  /** What the results of loops have become. */
  readonly replaced = new Map<Value, Value>();
  readonly #stores: Stores;
  readonly #accumulators: ReturnType<typeof accumulators>;
  readonly #uses: ReadonlyMap<Value, number>;
  /** What exchanges need, of all of the function: no loop changes that. */
  #exchanged: number | undefined;

  constructor(readonly func: Func, readonly context: TargetContext) {
    this.#stores = new Stores(func, rootsOf(func, new Set(func.params)));
    this.#accumulators = accumulators(func);
    this.#uses = countUses(func);
  }

  visit(region: Region, isInLoop = false): void {
    region.ops = region.ops.flatMap((op) => {
      const added = op.name === "while" ? this.#accumulator(op, isInLoop) : undefined;
      if (added !== undefined) return added;
      op.regions.forEach((inner) => this.visit(inner, isInLoop || op.name === "while"));
      return op.name === "while" ? this.#reduction(op, isInLoop) : [op];
    });
  }

  /** Where slots of shared memory may begin. */
  #offset(): number {
    return this.buffers.reduce((sum, { attrs }) => sum + attrs.slots * attrs.slot_bytes, 0);
  }

  #formOf(ahead: AheadLoop): AheadForm | undefined {
    this.#exchanged ??= sharedBytes(this.func);
    return chooseForm(ahead, this.context, this.#offset() + this.#exchanged);
  }

  /** Innermost loops only: around others latencies matter less. */
  #reduction(loop: OpOf<"while">, isInLoop: boolean): readonly Op[] {
    const { func, buffers } = this;
    if (holds(loopOf(loop).body, LOOPS)) return [loop];
    const ahead = aheadLoop(loop, this.#stores, isInLoop);
    const form = ahead && this.#formOf(ahead);
    if (ahead === undefined || form === undefined) return [loop];
    this.isChanged = true;
    if (form.in === "registers") return loadIntoRegisters(func, ahead);
    const waits = this.#stores.around(ahead, loop, isInLoop);
    const made = copyIntoSlots(func, ahead, { ...form, offset: this.#offset(), waits });
    buffers.push(...made.buffers);
    return made.ops;
  }

  /** A loop that adds up tiles, or with one in it that does: copies, where there are iterations enough. */
  #accumulator(loop: OpOf<"while">, isInLoop: boolean): readonly Op[] | undefined {
    const { func, buffers, replaced } = this;
    const nest = nestOf(loop, (inner) => this.#accumulators.has(inner), this.#uses);
    const adds = this.#accumulators.get(nest?.inner ?? loop);
    if (adds === undefined || holds(loopOf(nest?.inner ?? loop).body, LOOPS)) return undefined;
    const hasFewPrograms = nest !== undefined || adds === "tile";
    const inText = accumulatingLoop(nest?.inner ?? loop, this.#stores, hasFewPrograms);
    const form = inText && this.#formOf(inText);
    if (form?.in !== "slots") return undefined;
    const { before, loop: copy } = nest === undefined ? copyOf(func, loop) : flatten(func, nest);
    const ahead = accumulatingLoop(copy, this.#stores, hasFewPrograms);
    if (ahead === undefined || ahead.loads.length !== form.vectorBits.length) return undefined;
    this.isChanged = true;
    const waits = this.#stores.around(ahead, loop, isInLoop);
    const build = new ScheduleBuilder(func, [...before], loop.span);
    const isLong = runsAfter(ahead, build, form.slots);
    const made = copyIntoSlots(func, ahead, { ...form, offset: this.#offset(), waits });
    buffers.push(...made.buffers);
    const results = build.choose(
      isLong,
      ({ out }) => {
        out.push(...made.ops);
        return copy.results.slice(0, loop.results.length);
      },
      ({ out }) => {
        const plain = copyOf(func, loop).loop;
        out.push(plain);
        return plain.results;
      },
    );
    for (const [from, to] of zip(loop.results, results)) {
      takeNames(to, from);
      replaced.set(from, to);
    }
    return build.out;
  }
}

const LOOPS: ReadonlySet<Op["name"]> = new Set(["while"]);

function copyOf(
  func: Func,
  loop: OpOf<"while">,
): { readonly before: readonly Op[]; readonly loop: OpOf<"while"> } {
  const [copy] = copyOps(func, [loop], new Map());
  return isOp(copy, "while") ? { before: [], loop: copy } : bug("the copy of a loop is none");
}

/** Whether a loop has more iterations than so many. */
function runsAfter(ahead: AheadLoop, build: ScheduleBuilder, iterations: number): Value {
  let iteration = firstIteration(ahead, build);
  for (let i = 0; i <= iterations; i++) {
    iteration = copyOfIteration({ func: build.func, ...ahead }, build, iteration).next();
  }
  return iteration.runs;
}

/**
 * Loops that reduce in each iteration load the tiles of the next one before they reduce.
 *
 *     while (p, m)                        x = load p
 *       x = load p                        while (x, p + step, m)
 *       m = max(m, reduce x)       ─▶       next = load p, if there is another iteration
 *       p = p + step                        m = max(m, reduce x)
 *                                           x, p = next, p + step
 *
 * Threads wait for each other in a reduction, and assemblers move no load over that. Sums of elements that are reduced
 * behind a loop need none of this: assemblers unroll such loops, and begin the loads of several iterations.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Region } from "../../ir/func.ts";
import { rootsOf } from "../../ir/pointer_roots.ts";
import { holds } from "../../ir/walk.ts";
import { dropDead } from "../../tile/drop_dead.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { sharedBytes } from "../allocate_shared.ts";
import { chooseForm } from "./ahead_form.ts";
import { aheadLoop, Stores } from "./ahead_loads.ts";
import { loadIntoRegisters } from "./in_registers.ts";
import { copyIntoSlots } from "./in_slots.ts";

export const loadAhead: Pass<TargetContext> = {
  name: "load-ahead",
  doc: "loops that reduce in each iteration load the tiles of later ones before that",
  run: (func, context) => {
    // Loops around dots have pipelines of their own, and take most of registers and shared memory.
    if (!holds(func.body, REDUCTIONS) || holds(func.body, DOTS)) return false;
    const ahead = new Loops(func, context);
    ahead.visit(func.body);
    if (!ahead.isChanged) return false;
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
  readonly #stores: Stores;
  /** What exchanges need, of all of the function: no loop changes that. */
  #exchanged: number | undefined;

  constructor(readonly func: Func, readonly context: TargetContext) {
    this.#stores = new Stores(func, rootsOf(func, new Set(func.params)));
  }

  /** Innermost loops only: around others latencies matter less. */
  visit(region: Region, isInLoop = false): void {
    region.ops = region.ops.flatMap((op) => {
      op.regions.forEach((inner) => this.visit(inner, isInLoop || op.name === "while"));
      return op.name === "while" ? this.#loop(op, isInLoop) : [op];
    });
  }

  #loop(loop: OpOf<"while">, isInLoop: boolean): readonly Op[] {
    const { func, context, buffers } = this;
    if (holds(loopOf(loop).body, LOOPS)) return [loop];
    const ahead = aheadLoop(loop, this.#stores, isInLoop);
    if (ahead === undefined) return [loop];
    const offset = buffers.reduce((sum, { attrs }) => sum + attrs.slots * attrs.slot_bytes, 0);
    this.#exchanged ??= sharedBytes(func);
    const form = chooseForm(ahead, context, offset + this.#exchanged);
    if (form === undefined) return [loop];
    this.isChanged = true;
    if (form.in === "registers") return loadIntoRegisters(func, ahead);
    const waits = this.#stores.around(ahead, isInLoop);
    const made = copyIntoSlots(func, ahead, { ...form, offset, waits });
    buffers.push(...made.buffers);
    return made.ops;
  }
}

const LOOPS: ReadonlySet<Op["name"]> = new Set(["while"]);

/**
 * Keeps rows in shared memory that a thread's registers would hold from one reduction to the next.
 *
 * A kernel on rows needs what it has loaded before and after a reduction. In registers that is most of what a thread has,
 * so few blocks fit a multiprocessor, and while they wait for each other's parts too little is under way. Where the tiles
 * that are held take more than half of the registers that the program permits (`max_registers`), loads become asynchronous
 * copies, each thread reads again what it has copied itself, and element-wise operations are done again behind each
 * reduction:
 *
 *     load x; reduce f(x); store g(f(x))
 *     copy x; wait; reduce f(read x); store g(f(read x))
 *
 * No thread reads what another one copied, so there are no barriers.
 */
import { type Func, newOp, newUncheckedOp, type Op, takeNames, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { fitsShared } from "../targets.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { aligned, sharedBytes } from "./allocate_shared.ts";
import { ScheduleBuilder } from "./builder.ts";
import { bytesInBlock, ownBuffer } from "./own_copies.ts";
import {
  chooseLoads,
  derivedFrom,
  heldWords,
  isQuiet,
  isZero,
  type RowLoad,
  type Section,
  sectionsOf,
} from "./row_loads.ts";

/** Registers for the ends of rows that start anywhere: threads have an element of each (layout/rows/shifted_rows.ts). */
const ENDS = 4;

export const stageRows: Pass<TargetContext> = {
  name: "stage-rows",
  doc: "rows that are wanted after a reduction stay in shared memory where registers are few",
  run: (func, context) => {
    const { maxRegisters, target } = context;
    // Beside the operands of dots rows stay where they are.
    const hasBuffers = func.body.ops.some(({ name }) => name === "shared_buffer");
    if (maxRegisters === undefined || hasBuffers) return false;
    const sections = sectionsOf(func);
    if (sections.length === 1) return false;
    const most = maxRegisters / 2 + (context.form === "shifted" ? ENDS : 0);
    const loads = chooseLoads(func, sections, context.axisInfo(), most);
    const bytes = loads.reduce((sum, { load }) => sum + bytesInBlock(load), 0);
    if (loads.length === 0 || !target.asyncCopies) return false;
    if (!fitsShared(target, aligned(sharedBytes(func)) + bytes)) return false;
    new Staging(func, sections, loads).run();
    return true;
  },
};

/**
 * The registers that a program permits, or what it needs where a target has no copies that would keep its rows elsewhere: twice
 * what tiles take. Softmax of 16,384 halves in 56 registers spilled 250 bytes of a thread on sm_75.
 */
export function registersOfRows(
  func: Func,
  { maxRegisters, target, axisInfo }: Pick<TargetContext, "maxRegisters" | "target" | "axisInfo">,
): number | undefined {
  if (maxRegisters === undefined || target.asyncCopies) return maxRegisters;
  const sections = sectionsOf(func);
  const isHeld = sections.length > 1 &&
    chooseLoads(func, sections, axisInfo(), maxRegisters / 2).length > 0;
  return isHeld ? Math.max(maxRegisters, 2 * heldWords(func, sections, new Set())) : maxRegisters;
}

interface Copied {
  readonly buffer: Value;
  readonly slot: Value;
  /** What elements are that are not in memory, and which are there; absent: zero. */
  readonly fill?: { readonly mask: Value; readonly other: Value };
}

/** Puts copies in the place of loads. */
class Staging {
  readonly #again: ReadonlySet<Value>;
  readonly #buffers: Op[] = [];
  readonly #copied = new Map<Value, Copied>();
  /** What is computed again in the section. */
  readonly #made = new Map<Value, Value>();
  readonly #out: Op[] = [];
  /** Where the next buffer begins. */
  #end = 0;
  #isUnderWay = false;

  constructor(
    readonly func: Func,
    readonly sections: readonly Section[],
    readonly loads: readonly RowLoad[],
  ) {
    this.#again = derivedFrom(func, (op) => loads.some(({ load }) => load === op));
  }

  run(): void {
    for (const section of this.sections) {
      this.#made.clear();
      section.forEach((op) => this.#stage(op));
    }
    this.func.body.ops = [...this.#buffers, ...this.#out];
  }

  #stage(op: Op): void {
    const row = this.loads.find(({ load }) => load === op);
    if (row !== undefined) this.#copy(row);
    else if (!op.results.some((value) => this.#again.has(value))) {
      op.operands = op.operands.map((value) => this.#valueOf(value));
      if (!isQuiet(op)) this.#wait(op);
      this.#out.push(op);
    }
  }

  #copy({ load, vectorBits }: RowLoad): void {
    const { func } = this;
    const build = new ScheduleBuilder(func, this.#out, load.span);
    const { pointer, mask, other } = operandsOf(load);
    const made = ownBuffer(func, load, { vectorBits }, 1, this.#end);
    this.#end += bytesInBlock(load);
    const buffer = resultOf(made);
    this.#buffers.push(made);
    const [slot, always] = [build.int(0), build.true()];
    const operands = [pointer, buffer, slot, always, always, ...mask === undefined ? [] : [mask]];
    build.effect("async_copy", operands, { part: 0, parts: 1 });
    build.effect("commit_group", []);
    const isFilled = mask !== undefined && other !== undefined && !isZero(other);
    this.#copied.set(resultOf(load), {
      buffer,
      slot,
      ...isFilled ? { fill: { mask, other } } : {},
    });
    this.#isUnderWay = true;
  }

  /** A value for a user in the section. */
  #valueOf(value: Value): Value {
    const { def } = value;
    if (def === undefined || !this.#again.has(value)) return value;
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    const op = this.#remade(value, def);
    this.#out.push(op);
    const again = resultOf(op);
    takeNames(again, value);
    this.#made.set(value, again);
    return again;
  }

  #remade(value: Value, def: Op): Op {
    const copied = this.#copied.get(value);
    if (copied === undefined) {
      const operands = def.operands.map((one) => this.#valueOf(one));
      return newUncheckedOp(this.func, def.name, operands, [value.type], def.span, def.attrs);
    }
    this.#wait(def);
    const { buffer, slot, fill } = copied;
    const attrs = { access: "vectors" } as const;
    const read = newOp(this.func, "local_load", [buffer, slot], [value.type], def.span, attrs);
    if (fill === undefined) return read;
    this.#out.push(read);
    const operands = [fill.mask, resultOf(read), fill.other];
    return newOp(this.func, "select", operands, [value.type], def.span);
  }

  /** All that has been copied is there from here on. */
  #wait({ span }: Op): void {
    if (!this.#isUnderWay) return;
    this.#isUnderWay = false;
    new ScheduleBuilder(this.func, this.#out, span).effect("wait_group", [], { pending: 0 });
  }
}

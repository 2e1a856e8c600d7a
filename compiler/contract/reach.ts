/**
 * Which parameters a value is computed from, through operations and control flow. A load ends the search:
 * what memory holds is not a parameter.
 */
import type { Func, Op, Region, Value } from "../ir/func.ts";
import { terminatorOf } from "../ir/walk.ts";

/** The data flow of one function, forwards. Sets of parameters are bits, parameter 0 the lowest. */
export class Reach {
  readonly #sets = new Map<Value, bigint>();
  readonly #params: readonly Value[];
  readonly #lists = new Map<bigint, readonly Value[]>();

  constructor(func: Func) {
    this.#params = func.params;
    func.params.forEach((param, index) => this.#sets.set(param, 1n << BigInt(index)));
    this.#flow(func.body);
  }

  /** Parameters of the function that the value depends on, each once. */
  params(value: Value): readonly Value[] {
    const set = this.#setOf(value);
    const known = this.#lists.get(set) ??
      this.#params.filter((_, index) => (set >> BigInt(index) & 1n) === 1n);
    this.#lists.set(set, known);
    return known;
  }

  #setOf(value: Value): bigint {
    return this.#sets.get(value) ?? 0n;
  }

  #union(values: readonly Value[]): bigint {
    return values.reduce((all, value) => all | this.#setOf(value), 0n);
  }

  #flow(region: Region): void {
    for (const op of region.ops) {
      if (op.regions.length > 0) this.#control(op);
      else {
        const set = op.name === "load" ? 0n : this.#union(op.operands);
        for (const result of op.results) this.#sets.set(result, set);
      }
    }
  }

  /** What enters through an operation with regions: again, until an iteration brings nothing new. */
  #control(op: Op): void {
    const carried = [...op.results, ...op.regions.flatMap(({ params }) => params)];
    let known = this.#union([...op.operands, ...carried]);
    for (;;) {
      for (const value of carried) this.#sets.set(value, known);
      for (const region of op.regions) this.#flow(region);
      const next = known | this.#union(op.regions.flatMap(leaving));
      if (next === known) return;
      known = next;
    }
  }
}

function leaving(region: Region): readonly Value[] {
  return region.ops.length === 0 ? [] : terminatorOf(region).operands;
}

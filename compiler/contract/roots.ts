/**
 * Which pointer parameters an address may come from, through operations and what loops and branches carry, each value by itself.
 * A load ends the search: what memory holds is not a parameter.
 */
import { edgesOf } from "../ir/flow.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import { isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";

/** The data flow of one function, forwards. Sets of parameters are bits, the first pointer the lowest. */
export class Roots {
  readonly #sets = new Map<Value, bigint>();
  readonly #params: readonly Value[];
  readonly #lists = new Map<bigint, readonly Value[]>();

  constructor(func: Func) {
    this.#params = func.params.filter(({ type }) => isPointer(type.element));
    this.#params.forEach((param, index) => this.#sets.set(param, 1n << BigInt(index)));
    this.#flow(func);
  }

  /** The parameters, each once: all of them, if none leads to the address. */
  of(address: Value): readonly Value[] {
    const set = this.#setOf(address);
    if (set === 0n) return this.#params;
    const known = this.#lists.get(set) ??
      this.#params.filter((_, index) => (set >> BigInt(index) & 1n) === 1n);
    this.#lists.set(set, known);
    return known;
  }

  #setOf(value: Value): bigint {
    return this.#sets.get(value) ?? 0n;
  }

  /** Once in the order of the text, then on from what a later operation has changed: values that loops carry. */
  #flow({ body }: Func): void {
    const users = new Map<Value, Value[]>();
    const changed: Value[] = [];
    walkOps(body, (op) => {
      for (const [from, to] of flowsOf(op)) {
        const known = users.get(from);
        if (known === undefined) users.set(from, [to]);
        else known.push(to);
        if (this.#add(to, this.#setOf(from)) && users.has(to)) changed.push(to);
      }
    });
    for (let value = changed.pop(); value !== undefined; value = changed.pop()) {
      const set = this.#setOf(value);
      for (const user of users.get(value) ?? []) if (this.#add(user, set)) changed.push(user);
    }
  }

  /** Whether that is more than was known. */
  #add(value: Value, set: bigint): boolean {
    const before = this.#setOf(value);
    const after = before | set;
    if (after === before) return false;
    this.#sets.set(value, after);
    return true;
  }
}

/** Which values an operation makes of which, those that it only moves included. */
function flowsOf(op: Op): readonly (readonly [from: Value, to: Value])[] {
  if (op.name === "load") return [];
  if (op.regions.length === 0) {
    return op.operands.flatMap((from) => op.results.map((to) => [from, to] as const));
  }
  return edgesOf(op).flatMap(({ from, to }) =>
    from.flatMap((value, index) => {
      const into = to[index];
      return into === undefined ? [] : [[value, into] as const];
    })
  );
}

/**
 * Which parameters a value is computed from, through operations and control flow. A load ends the search:
 * what memory holds is not a parameter.
 */
import type { Func, Op, Region, Value } from "../ir/func.ts";
import { hasTrait } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { terminatorOf } from "../ir/walk.ts";
import { bug } from "../support/bug.ts";

/** The data flow of one function, forwards. Sets of parameters are bits, parameter 0 the lowest. */
export class Reach {
  readonly #sets = new Map<Value, bigint>();
  readonly #params: readonly Value[];
  readonly #sourcesOf: (op: Op) => readonly Value[];
  readonly #lists = new Map<bigint, readonly Value[]>();

  /** @param sourcesOf the operands of an operation that are looked at */
  constructor(func: Func, sourcesOf: (op: Op) => readonly Value[] = ({ operands }) => operands) {
    this.#params = func.params;
    this.#sourcesOf = sourcesOf;
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
        const set = op.name === "load" ? 0n : this.#union(this.#sourcesOf(op));
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

/**
 * Of a product the factors that are parameters by themselves, where there are any; of all else the operands. Where `units` are 1,
 * these are no factors.
 */
export function factorsFirst(
  { params }: Func,
  units: ReadonlySet<string>,
): (op: Op) => readonly Value[] {
  const integers = new Set(
    params.filter(({ type, name = "" }) => !isPointer(type.element) && !units.has(name)),
  );
  return ({ name, operands }) => {
    const factors = name === "mul" ? operands.filter((one) => integers.has(unspread(one))) : [];
    return factors.length > 0 ? factors : operands;
  };
}

/** What a value is before it is widened and spread over a tile. */
function unspread(value: Value): Value {
  let one = value;
  for (let { def } = one; def !== undefined && isSpread(def); { def } = one) {
    const [source] = def.operands;
    one = source ?? bug("nothing is spread");
  }
  return one;
}

const isSpread = (op: Op): boolean =>
  op.name === "splat" || op.name === "broadcast" || op.name === "convert" ||
  hasTrait(op, "reshapes");

function leaving(region: Region): readonly Value[] {
  return region.ops.length === 0 ? [] : terminatorOf(region).operands;
}

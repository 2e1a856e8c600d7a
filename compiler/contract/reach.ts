/**
 * Which parameters a value is computed from, through operations and control flow. A load ends the search:
 * what memory holds is not a parameter. Sets of parameters are bits, the first one the lowest.
 */
import { edgesOf } from "../ir/flow.ts";
import type { Func, Op, Region, Value } from "../ir/func.ts";
import { hasTrait } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";
import { bug } from "../support/bug.ts";

/** What may decide a value: all that a loop carries counts together, as its test decides about all of it. */
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

/** The pointer parameters that an address may be computed from; each loop-carried value has a set of its own. */
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

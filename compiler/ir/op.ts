/**
 * The parts of an operation by name, typed by its row in TILE_OPS once its name is known:
 *
 *     if (op.name === "load") {
 *       const { pointer, mask } = operandsOf(op); // Value, Value | undefined
 *       const type = resultOf(op).type;
 *     }
 *
 * Passes that treat all operations alike use the lists `operands`, `results` and `regions`. Attributes need no function:
 * `op.attrs.axis`.
 */
import { bug, must } from "../support/bug.ts";
import type { ScalarValue } from "../support/arith.ts";
import { type Func, isOp, type Op, type OpOf, type Region, type Value } from "./func.ts";
import { TILE_OPS, type TileOp, type TileOpRow } from "./ops.ts";
import { type ArgRow, argsOf, TILE_OP_NAMES } from "./table.ts";
import type { TensorMap } from "./tensor_map.ts";

type Args<N extends TileOp> = (typeof TILE_OPS)[N]["args"];
type OperandAs<Class> = Class extends `${string}*` ? readonly Value[]
  : Class extends `${string}?` ? Value | undefined
  : Value;

/** The operands of an operation by the names of its row. */
export type OperandsOf<N extends TileOp> = {
  readonly [K in N]: { readonly [A in keyof Args<K>]: OperandAs<Args<K>[A]> };
}[N];

type RegionNames<N extends TileOp> = (typeof TILE_OPS)[N] extends
  { readonly regions: readonly (infer Name extends string)[] } ? Name : never;

/** Operations with regions. */
export type ControlOp = {
  [N in TileOp]: RegionNames<N> extends never ? never : N;
}[TileOp];

/** The regions of an operation by the names of its row. */
export type RegionsOf<N extends ControlOp> = {
  readonly [K in N]: { readonly [Name in RegionNames<K>]: Region };
}[N];

/** Names for a list of operands. Each operation has a class of getters, so that a view is one small object. */
class View {
  /** Only declared: a field of a class with so many subclasses is defined by a slow call for each object. */
  declare readonly operands: readonly Value[];

  constructor(operands: readonly Value[]) {
    this.operands = operands;
  }
}

function viewOf(name: TileOp): typeof View {
  class Named extends View {}
  argsOf(name).forEach((arg, index) =>
    Object.defineProperty(Named.prototype, arg.name, { get: getter(name, arg, index) })
  );
  return Named;
}

function getter(
  op: TileOp,
  { name, count }: ArgRow,
  index: number,
): (this: View) => Value | readonly Value[] | undefined {
  if (count === "optional") return viewed((operands) => operands[index]);
  if (count === "one") {
    return viewed((operands) => operands[index] ?? bug(`${op} lacks its operand ${name}`));
  }
  return viewed(index === 0 ? (operands) => operands : (operands) => operands.slice(index));
}

function viewed<T>(read: (operands: readonly Value[]) => T): (this: View) => T {
  return function (): T {
    return read(this.operands);
  };
}

const VIEWS = new Map(TILE_OP_NAMES.map((name) => [name, viewOf(name)]));

/** The operands by name; a view of the list as it is now. */
export function operandsOf<N extends TileOp>(op: OpOf<N>): OperandsOf<N> {
  const Named = must(VIEWS.get(op.name), "row of an operation");
  // It has a getter for each name of the row, and the type is derived from that row.
  return new Named(op.operands) as object as OperandsOf<N>;
}

/** The result of an operation that has one. */
export function resultOf({ name, results }: Pick<Op, "name" | "results">): Value {
  return results[0] ?? bug(`${name} without a result`);
}

/** What a `tensor_load` copies from: the verifier sees to it that the function has the map. */
export function tensorMapOf({ maps }: Pick<Func, "maps">, load: OpOf<"tensor_load">): TensorMap {
  return maps[load.attrs.map] ?? bug(`no tensor map ${load.attrs.map}`);
}

/** The operands of an operation that takes two, whatever their names. */
export function pairOf({ name, operands: [first, second] }: Op): readonly [Value, Value] {
  if (first === undefined || second === undefined) bug(`${name} without two operands`);
  return [first, second];
}

/** The regions by name. */
export function regionsOf<N extends ControlOp>(op: OpOf<N>): RegionsOf<N> {
  const { regions: names = [] }: TileOpRow = TILE_OPS[op.name];
  const regions: Record<string, Region> = {};
  names.forEach((name, index) => regions[name] = must(op.regions[index], name));
  return regions as RegionsOf<N>;
}

/** The operation that made a value, if it has this name. */
export function madeBy<N extends TileOp>(value: Value | undefined, name: N): OpOf<N> | undefined {
  const def = value?.def;
  return isOp(def, name) ? def : undefined;
}

/** The value in every element, if a `constant` made it. */
export function constantOf(value: Value | undefined): ScalarValue | undefined {
  return value?.def?.name === "constant" ? value.def.attrs.value : undefined;
}

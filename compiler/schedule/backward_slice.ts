/**
 * Backward slices: copies of the operations that some values of a region depend on, with other values for its
 * parameters. Copied are pure operations, and loads of single elements, from constant memory or of whole numbers, such as
 * the positions of blocks from a table. Where the region would not run with these parameters, nothing uses what the
 * copies compute; a guard then keeps the loads within bounds.
 */
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import type { BareOp } from "../ir/ops.ts";
import { type OperandsOf, operandsOf, resultOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait, isLookup, rowOf } from "../ir/table.ts";
import type { IrType } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import type { Span } from "../support/source.ts";
import { zip } from "../support/zip.ts";

/** Cheap to compute again, and free of effects. */
function isCopyable(op: Op): boolean {
  return rowOf(op).effect === "pure" && !hasTrait(op, "once") && op.name !== "convert_layout";
}

/**
 * Reads one element, constant memory, or whole numbers, which say where something is. The caller ensures that memory does
 * not change between the copy and the original.
 */
function isCheapLoad(op: Op): boolean {
  if (op.name !== "load" || op.attrs.modifiers.length > 0) return false;
  const { type: { element, shape } } = resultOf(op);
  const isTable = shape.length === 0 || (element === "int32" || element === "int64");
  return (isLookup(op) || isTable) && operandsOf(op).other === undefined;
}

/**
 * The parameters of a region that values of it depend on; undefined if something cannot be copied. Loads can where the
 * copies have a guard.
 */
export function parametersNeeded(
  region: Region,
  values: readonly Value[],
  isGuarded: boolean,
): ReadonlySet<number> | undefined {
  return needsOf(region)(values, isGuarded);
}

/** {@linkcode parametersNeeded} of one region, which is asked about many values and does not change meanwhile. */
export type Needs = (
  values: readonly Value[],
  isGuarded: boolean,
) => ReadonlySet<number> | undefined;

export function needsOf(region: Region): Needs {
  const inside = new Set(region.ops);
  const params = new Map(region.params.map((param, index) => [param, index]));
  const isOutside = ({ def }: Value): boolean => def !== undefined && !inside.has(def);
  return (values, isGuarded) => {
    const seen = new Set<Value>();
    const found = new Set<number>();
    for (const value of values) {
      for (const one of sourcesFirst(value, (at) => seen.has(at) || isOutside(at))) {
        seen.add(one);
        const index = params.get(one);
        if (index !== undefined) found.add(index);
        const { def } = one;
        const isAgain = def === undefined || isCopyable(def) || (isGuarded && isCheapLoad(def));
        if (!isAgain) return undefined;
      }
    }
    return found;
  };
}

/** Adds the values of a region around a loop that values of a region of the loop use. */
export function addOuter(
  region: Region,
  values: readonly Value[],
  around: Region,
  outer: Set<Value>,
): void {
  const inside = new Set(region.ops);
  const atHome = new Set(around.ops);
  const note = (value: Value): void => {
    const isOuter = value.def === undefined ? around.params.includes(value) : atHome.has(value.def);
    if (isOuter) outer.add(value);
  };
  const seen = new Set<Value>();
  const isOutside = ({ def }: Value): boolean => def === undefined || !inside.has(def);
  for (const value of values) {
    note(value);
    for (const one of sourcesFirst(value, (other) => seen.has(other) || isOutside(other))) {
      seen.add(one);
      one.def?.operands.forEach(note);
    }
  }
}

/** What takes the places of a region's first parameters, for {@linkcode copySlice}; a loop may carry more by now. */
export function replacing({ params }: Region, values: readonly Value[]): Map<Value, Value> {
  return new Map(zip(params.slice(0, values.length), values));
}

/** The operands of a load that also needs a condition. */
function guardLoad(
  func: Func,
  { pointer, mask }: Pick<OperandsOf<"load">, "pointer" | "mask">,
  guard: Value,
  span: Span,
  out: Op[],
): Value[] {
  const type: IrType = { ...pointer.type, element: "bool" };
  const add = (name: BareOp, operands: readonly Value[]): Value => {
    const op = newOp(func, name, operands, [type], span);
    out.push(op);
    return resultOf(op);
  };
  const all = type.shape.length === 0 ? guard : add("splat", [guard]);
  return [pointer, mask === undefined ? all : add("and", [all, mask])];
}

/**
 * Copies into `out` what a value needs; `known` has the parameters' replacements and gets what is copied. Loads happen
 * only where the guard holds; elsewhere they give zero.
 */
export function copySlice(
  func: Func,
  region: Region,
  known: Map<Value, Value>,
  out: Op[],
  guard?: Value,
): (value: Value) => Value {
  const inside = new Set(region.ops);
  const isThere = (value: Value): boolean =>
    known.has(value) || value.def === undefined || !inside.has(value.def);
  const copyOf = (value: Value): Value => known.get(value) ?? value;
  /** The operands of the copy of a load; without a guard there is none, since `parametersNeeded` refuses it. */
  const guarded = (load: OpOf<"load">): Value[] => {
    const { pointer, mask } = operandsOf(load);
    const source = { pointer: copyOf(pointer), mask: mask && copyOf(mask) };
    return guardLoad(func, source, must(guard, "guard"), load.span, out);
  };
  return (value) => {
    for (const { def } of sourcesFirst(value, isThere)) {
      if (def === undefined) continue;
      const op = newOp(
        func,
        def.name,
        def.name === "load" ? guarded(def) : def.operands.map(copyOf),
        def.results.map(({ type }) => type),
        def.span,
        def.attrs,
      );
      out.push(op);
      for (const [result, copy] of zip(def.results, op.results)) known.set(result, copy);
    }
    return copyOf(value);
  };
}

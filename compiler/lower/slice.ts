/** Copies of the pure operations that some values of a region depend on, with other values for its parameters. */
import { type Func, newOp, type Op, type Region, type Value } from "../ir/func.ts";
import { TILE_OPS } from "../ir/ops.ts";
import { must } from "../support/bug.ts";

/** Cheap to do again, and free of effects. */
function isCopyable(op: Op): boolean {
  return TILE_OPS[op.name].effect === "pure" && op.regions.length === 0 &&
    !["dot", "reduce", "scan", "convert_layout", "stage_read"].includes(op.name);
}

/** The parameters of a region that values of it depend on; undefined if something cannot be done again. */
export function parametersBehind(
  region: Region,
  values: readonly Value[],
): ReadonlySet<number> | undefined {
  const inside = new Set(region.ops);
  const seen = new Set<Value>();
  const found = new Set<number>();
  const visit = (value: Value): boolean => {
    if (seen.has(value)) return true;
    seen.add(value);
    const index = region.params.indexOf(value);
    if (index >= 0) {
      found.add(index);
      return true;
    }
    const { def } = value;
    if (def === undefined || !inside.has(def)) return true;
    return isCopyable(def) && def.operands.every(visit);
  };
  return values.every(visit) ? found : undefined;
}

/** Copies into `out` what a value needs; `known` has the parameters' replacements and gets what is copied. */
export function copySlice(
  func: Func,
  region: Region,
  known: Map<Value, Value>,
  out: Op[],
): (value: Value) => Value {
  const inside = new Set(region.ops);
  const copy = (value: Value): Value => {
    const found = known.get(value);
    if (found !== undefined) return found;
    const { def } = value;
    if (def === undefined || !inside.has(def)) return value;
    const op = newOp(
      func,
      def.name,
      def.operands.map(copy),
      def.results.map(({ type }) => type),
      def.span,
      def.attrs,
    );
    out.push(op);
    def.results.forEach((result, i) => known.set(result, must(op.results[i], "copied result")));
    return must(known.get(value), "copied value");
  };
  return copy;
}

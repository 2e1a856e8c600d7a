/** Copies of operations with their regions. */
import { type Func, newUncheckedOp, newValue, type Op, type Region, type Value } from "./func.ts";
import { zip } from "../support/zip.ts";

/** Copies operations in order; `known` has what takes the places of values and gets the copies of results. */
export function copyOps(func: Func, ops: readonly Op[], known: Map<Value, Value>): Op[] {
  const valueOf = (value: Value): Value => known.get(value) ?? value;
  const copyRegion = ({ params, ops: inside }: Region): Region => {
    const copies = params.map(({ type, name }) => newValue(func, type, name));
    for (const [param, copy] of zip(params, copies)) known.set(param, copy);
    return { params: copies, ops: inside.map(copyOp) };
  };
  const copyOp = (op: Op): Op => {
    const types = op.results.map(({ type }) => type);
    const operands = op.operands.map(valueOf);
    const regions = op.regions.map(copyRegion);
    const copy = newUncheckedOp(func, op.name, operands, types, op.span, op.attrs, regions);
    for (const [from, to] of zip(op.results, copy.results)) {
      if (from.name !== undefined) to.name = from.name;
      known.set(from, to);
    }
    return copy;
  };
  return ops.map(copyOp);
}

/**
 * `a * b + c` becomes one operation with one rounding (language.md 9.2). The assembler never does that: everything it
 * gets says how to round. Only for products that have no other use, and not across the border of a loop, where a
 * product that does not change would be computed in every iteration.
 */
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { countUses } from "../ir/walk.ts";
import type { Pass } from "./pass.ts";

export const fuseMultiplyAdd: Pass = {
  name: "fuse-multiply-add",
  doc: "a * b + c with one rounding, unless `fp_contract` is off",
  run: (func, { floats }) => floats.contract && run(func),
};

function run(func: Func): boolean {
  const uses = countUses(func);
  let changed = false;
  const visit = (region: Region): void => {
    const here = new Set(region.ops);
    region.ops = region.ops.flatMap((op) => {
      op.regions.forEach(visit);
      const fused = fuse(func, op, (value) => {
        const product = value.def;
        return product?.name === "mul" && here.has(product) && uses.get(value) === 1
          ? product
          : undefined;
      });
      changed ||= fused !== undefined;
      return fused ?? [op];
    });
  };
  visit(func.body);
  return changed;
}

/** What replaces a sum or difference: it defines the same value. */
function fuse(
  func: Func,
  op: Op,
  productOf: (value: Value) => OpOf<"mul"> | undefined,
): Op[] | undefined {
  if (op.name !== "add" && op.name !== "sub" || op.name === "sub" && op.attrs.apart === true) {
    return undefined;
  }
  const { left, right } = operandsOf(op);
  const { element } = left.type;
  // Narrower floats are computed in float and rounded to their own type anyway.
  if (element !== "float32" && element !== "float64") return undefined;
  const product = productOf(left) ?? productOf(right);
  if (product === undefined) return undefined;
  const { left: a, right: b } = operandsOf(product);
  const isLeft = resultOf(product) === left;
  const addend = isLeft ? right : left;
  if (op.name === "add") return [fma(func, op, a, b, addend)];
  const negated = newOp(func, "neg", [isLeft ? addend : a], [a.type], op.span);
  const value = resultOf(negated);
  return [negated, isLeft ? fma(func, op, a, b, value) : fma(func, op, value, b, addend)];
}

function fma(func: Func, sum: Op, a: Value, b: Value, c: Value): Op {
  const op: Op = {
    ...newOp(func, "math", [a, b, c], [], sum.span, { function: "fma" }),
    results: sum.results,
  };
  for (const value of op.results) value.def = op;
  return op;
}

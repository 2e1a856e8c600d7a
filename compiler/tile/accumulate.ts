/**
 * `x + (0 + a @ b)` becomes `x + a @ b` in one operation: the sums of `acc += a @ b` stay where the dots are
 * made. Only for dots that have no other use, which would be multiplied twice, and not across the border of a
 * loop, where an invariant dot would be computed in every iteration.
 */
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { constantOf, madeBy, operandsOf } from "../ir/op.ts";
import { countUses } from "../ir/walk.ts";
import type { PlainPass } from "./pass.ts";
import { isZero } from "./rules/rule.ts";

export const accumulate: PlainPass = {
  name: "accumulate",
  doc: "x + (0 + a @ b) becomes x + a @ b",
  run,
};

function run(func: Func): boolean {
  const uses = countUses(func);
  let changed = false;
  const visit = (region: Region): void => {
    const here = new Set(region.ops);
    region.ops = region.ops.map((op) => {
      op.regions.forEach(visit);
      const fused = op.name === "add" ? fuse(func, op, here, uses) : undefined;
      if (fused === undefined) return op;
      changed = true;
      return fused;
    });
  };
  visit(func.body);
  return changed;
}

/** The dot that replaces an addition: it defines the same value. */
function fuse(
  func: Func,
  add: OpOf<"add">,
  here: ReadonlySet<Op>,
  uses: ReadonlyMap<Value, number>,
): Op | undefined {
  const { left, right } = operandsOf(add);
  const productOf = (value: Value): OpOf<"dot"> | undefined => {
    const product = madeBy(value, "dot");
    return product !== undefined && here.has(product) && uses.get(value) === 1 &&
        isZero(constantOf(operandsOf(product).sum))
      ? product
      : undefined;
  };
  const leftProduct = productOf(left);
  const product = leftProduct ?? productOf(right);
  if (product === undefined) return undefined;
  const { a, b } = operandsOf(product);
  const addend = leftProduct === undefined ? left : right;
  const op: Op = {
    ...newOp(func, "dot", [a, b, addend], [], product.span, product.attrs),
    results: add.results,
  };
  for (const value of op.results) value.def = op;
  return op;
}

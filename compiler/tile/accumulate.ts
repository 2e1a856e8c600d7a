/**
 * `x + (0 + a @ b)` becomes `x + a @ b` in one operation: the sums of `acc += a @ b` stay where the products are
 * made. Only for products that nobody else uses, which would be multiplied twice, and not across the border of a
 * loop, where a product that does not change would be multiplied in every round.
 */
import { constantOf } from "../ir/attrs.ts";
import { type Func, newOp, type Op, type Region, type Value } from "../ir/func.ts";
import { countUses } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
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

/** The product that takes the place of an addition: it defines the same value. */
function fuse(
  func: Func,
  add: Op,
  here: ReadonlySet<Op>,
  uses: ReadonlyMap<Value, number>,
): Op | undefined {
  const index = add.operands.findIndex((value) => {
    const product = value.def;
    return product?.name === "dot" && here.has(product) && uses.get(value) === 1 &&
      isZero(constantOf(must(product.operands[2], "accumulator")));
  });
  if (index < 0) return undefined;
  const product = must(add.operands[index]?.def, "product");
  const sum = must(add.operands[1 - index], "other addend");
  const [a, b] = [must(product.operands[0], "a"), must(product.operands[1], "b")];
  const op: Op = {
    ...newOp(func, "dot", [a, b, sum], [], product.span, product.attrs),
    results: add.results,
  };
  for (const value of op.results) value.def = op;
  return op;
}

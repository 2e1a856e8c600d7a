/** Sums of x + 0.0 add up x instead, and 0.0 once: loops that begin with zero leave such additions where they are one iteration. */
import { type Func, isOp, type Op, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { replaceUses } from "../../ir/walk.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { withoutZero } from "../../layout/rows/outside_values.ts";
import { sameLayout } from "../../linear/linear.ts";
import { ScheduleBuilder } from "../builder.ts";

export function addZeroOnce(func: Func): void {
  const sums = new Map<Value, Value>();
  const after = new Map<Op, readonly Op[]>();
  for (const op of func.body.ops) {
    if (!isOp(op, "reduce") || op.attrs.operator !== "add") continue;
    const { value } = operandsOf(op);
    const added = withoutZero(value);
    if (added === value || !sameLayout(layoutOf(added), layoutOf(value))) continue;
    op.operands[0] = added;
    const sum = resultOf(op);
    const build = new ScheduleBuilder(func, [], op.span);
    const zero = build.value("constant", [], sum.type, { value: 0 });
    sums.set(sum, build.value("add", [sum, zero], sum.type));
    after.set(op, build.out);
  }
  replaceUses(func, sums);
  func.body.ops = func.body.ops.flatMap((op) => [op, ...after.get(op) ?? []]);
}

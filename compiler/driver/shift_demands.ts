/** For which launches rows are shifted alike (layout/rows/shifted_rows.ts). */
import { apply, constant, param, printExpr } from "../contract/expr.ts";
import type { ContractExpr, Requirement } from "../contract/types.ts";
import type { Value } from "../ir/func.ts";
import { isPointer } from "../ir/types.ts";
import { ACCESS_BYTES } from "../layout/anchors.ts";
import type { ShiftDemands } from "../layout/rows/alignment.ts";
import { must } from "../support/bug.ts";

export function shiftDemands({ vector, alike }: ShiftDemands): readonly Requirement[] {
  const rest = (value: Value): ContractExpr =>
    apply(
      "%",
      param(must(value.name, "name of a parameter")),
      constant(isPointer(value.type.element) ? ACCESS_BYTES : vector),
    );
  const conditions = alike.map(([one, other]) => apply("==", rest(one), rest(other)));
  return conditions.map((condition) => ({ condition, text: printExpr(condition) }));
}

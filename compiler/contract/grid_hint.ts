/** What to change where a grid that a pragma states differs from the grid that the masks of the code show (E9002). */
import { type Span, useSite } from "../support/source.ts";
import { printExpr } from "./expr.ts";
import type { Shown } from "./infer.ts";
import { normalForm, sameExpr } from "./normal.ts";
import { constantOf, subPoly } from "./poly.ts";
import type { ContractExpr } from "./types.ts";

/** A mask that admits one index too many or too few is the usual reason, so the hint begins with the mask. */
export function gridHint(stated: ContractExpr, { expr, span }: Shown): string {
  const mask = maskText(span);
  const [wanted, admitted] = [tilesOf(stated), tilesOf(expr)];
  const difference = wanted && admitted && sameExpr(wanted.tile, admitted.tile)
    ? constantOf(subPoly(normalForm(admitted.extent), normalForm(wanted.extent)))
    : undefined;
  if (wanted === undefined || admitted === undefined || difference === undefined) {
    return `the code's grid follows from ${mask}: correct the mask or the pragma`;
  }
  const [right, found] = [quoted(wanted.extent), quoted(admitted.extent)];
  const count = difference < 0n ? -difference : difference;
  return `${mask} admits ${found} indices, ${count} ${
    difference < 0n ? "fewer" : "more"
  } than the ` +
    `pragma's ${right}: for ${right} elements compare the index with \`< ${
      printExpr(wanted.extent)
    }\`, for ${found} write ${quoted(expr)} in the pragma`;
}

/** `cdiv(extent, tile)`. */
function tilesOf(
  expr: ContractExpr,
): { readonly extent: ContractExpr; readonly tile: ContractExpr } | undefined {
  if (expr.op !== "cdiv") return undefined;
  const [extent, tile] = expr.args;
  return extent === undefined || tile === undefined ? undefined : { extent, tile };
}

const quoted = (expr: ContractExpr): string => `\`${printExpr(expr)}\``;

function maskText(span: Span): string {
  const { file, start, end } = useSite(span);
  const text = file.text.slice(start, end);
  return /^[^\n\r]{1,40}$/.test(text) ? `the mask \`${text}\`` : "the mask";
}

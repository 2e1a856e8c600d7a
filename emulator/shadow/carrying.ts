/** An instruction whose sources may have undefined bits, as rules see it. */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import type { TypeName } from "../../compiler/ptx/types.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { fillShadow, type Shadow, undefinedLanes } from "./shadow_row.ts";

export interface Carrying {
  readonly match: Match;
  readonly context: HandlerContext;
  /** Shadows of the registers that it reads and of those that it writes, as far as they have one. */
  readonly sources: readonly Shadow[];
  readonly results: readonly Shadow[];
}

/** Writes the shadows of the results in lanes; rows of sources are zero where those are defined. */
export type Rule = (carrying: Carrying) => WarpFunction;

/** Lanes in which any source has undefined bits. */
function anyUndefined(
  { context: { machine }, sources }: Pick<Carrying, "context" | "sources">,
): (w: number, lanes: number) => number {
  return (w, lanes) => {
    let bad = 0;
    for (const source of sources) bad |= undefinedLanes(machine.views, w, source, lanes);
    return bad;
  };
}

/** Lanes where one of some operands has undefined bits. */
export function undefinedIn(
  context: HandlerContext,
  operands: readonly Operand[],
): (w: number, lanes: number) => number {
  return anyUndefined({
    context,
    sources: operands.flatMap((operand) => context.shadow(operand) ?? []),
  });
}

/** The row of an operand's undefined bits: of zeros where it has no shadow. */
export function shadowRow(context: HandlerContext, operand: Operand, type: TypeName): number {
  const shadow = context.shadow(operand);
  if (shadow !== undefined) return shadow.row;
  const held = operand.kind === "register" ? operand.type : type;
  return context.row({ kind: "integer", value: 0n }, held);
}

/** Results are undefined as a whole where any source is in any part. */
export function whole(carrying: Carrying): WarpFunction {
  const { context: { machine }, results } = carrying;
  const badLanes = anyUndefined(carrying);
  return (w, lanes) => {
    const bad = badLanes(w, lanes);
    for (const result of results) fillShadow(machine.views, w, result, lanes, bad);
  };
}

/** Results are undefined in all lanes where any source is in any lane. */
export function everywhere(carrying: Carrying): WarpFunction {
  const { context: { machine }, results } = carrying;
  const badLanes = anyUndefined(carrying);
  return (w, lanes) => {
    const bad = badLanes(w, lanes) === 0 ? 0 : lanes;
    for (const result of results) fillShadow(machine.views, w, result, lanes, bad);
  };
}

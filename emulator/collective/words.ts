/** Reading the operands of instructions of a whole warp, and writing what lanes share. */
import type { Match } from "../../compiler/ptx/match.ts";
import { LANES } from "../register_file.ts";
import { scalarDestinations, scalarSources } from "../lanes/shape.ts";
import type { HandlerContext } from "../machine.ts";
import type { Views } from "../memory.ts";

/** Gives the lanes of a mask the same word. */
export function storeWord(views: Views, at: number, value: number, mask: number): void {
  for (let lane = 0; lane < LANES; lane++) {
    if ((mask >>> lane) & 1) views.i32[(at >>> 2) + lane] = value;
  }
}

/** Gives the lanes of a mask their bits of a word. */
export function storePredicate(views: Views, at: number, word: number, mask: number): void {
  views.i32[at >>> 2] = ((views.i32[at >>> 2] ?? 0) & ~mask) | (word & mask);
}

/** Rows of the destinations, the second only where there is one. */
export function destinationRows(
  match: Match,
  context: HandlerContext,
): readonly [first: number, second: number | undefined] {
  const [first = 0, second] = scalarDestinations(match)
    .map(({ operand, type }) => context.row(operand, type));
  return [first, second];
}

/** Row of the first source. */
export function sourceRow(match: Match, context: HandlerContext): number {
  const [source] = scalarSources(match);
  return source === undefined ? 0 : context.row(source.operand, source.type);
}

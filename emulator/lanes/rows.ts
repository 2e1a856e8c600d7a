/**
 * Where the operands of an instruction that acts on lanes are: rows of the register file, in the order of its
 * operation.
 */
import type { Match } from "../../compiler/ptx/match.ts";
import type { HandlerContext, LaneOperation, WarpFunction } from "../machine.ts";
import { type LaneSource, runLanes } from "./run.ts";
import { scalarDestinations, scalarSources } from "./shape.ts";

/** Rows of the sources and of the destinations. */
export interface LaneRows {
  readonly sources: readonly LaneSource[];
  readonly results: readonly number[];
}

/** The rows of an instruction; sinks have spare rows. */
export function laneRows(match: Match, context: HandlerContext): LaneRows {
  return {
    sources: scalarSources(match).map(({ operand, type }) =>
      type === "pred" ? context.predicate(operand) : { row: context.row(operand, type), invert: 0 }
    ),
    results: scalarDestinations(match).map(({ operand, type }) => context.row(operand, type)),
  };
}

/** Compiles an instruction that has an operation on lanes. */
export function compileLanes(
  match: Match,
  operation: LaneOperation,
  context: HandlerContext,
): WarpFunction {
  const { sources, results } = laneRows(match, context);
  return runLanes(operation, sources, results, context.machine);
}

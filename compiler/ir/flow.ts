/**
 * The edges of structured control: which values flow into which parameters and results, and on which way.
 *
 *     results = while initial (test.params) { … condition continues, leaving } (body.params) { … yield repeated }
 *
 *     initial  ─ entry ─▶ test.params     leaving ─ continue ─▶ body.params
 *     repeated ─ back ──▶ test.params     leaving ─ exit ─────▶ results
 *
 * The results of an `if` are the values that the branch taken yields. Nothing else moves values between regions: an
 * operation uses values of the regions around it directly.
 */
import { bug } from "../support/bug.ts";
import { isOp, type Op, type OpOf, type Region, type Value } from "./func.ts";
import type { TileOp } from "./ops.ts";
import { operandsOf, regionsOf } from "./op.ts";
import { terminatorOf } from "./walk.ts";

/** A `while`, taken apart. All lists of values are as long as the ones that they flow into. */
export interface Loop {
  readonly test: Region;
  readonly body: Region;
  /** Ends the test. */
  readonly condition: OpOf<"condition">;
  /** Ends the body. */
  readonly end: OpOf<"yield">;
  /** Whether another iteration follows. */
  readonly continues: Value;
  /** Into the test, before the first iteration … */
  readonly initial: readonly Value[];
  /** … and from each iteration to the next one. */
  readonly repeated: readonly Value[];
  /** From the test into the body or, after the last iteration, the results. */
  readonly leaving: readonly Value[];
}

/** An `if`, taken apart. */
export interface Branch {
  readonly condition: Value;
  readonly then: Region;
  readonly otherwise: Region;
  /** End the two regions. */
  readonly thenEnd: OpOf<"yield">;
  readonly otherwiseEnd: OpOf<"yield">;
  /** What the results are where the condition holds … */
  readonly thenValues: readonly Value[];
  /** … and where it does not. */
  readonly otherwiseValues: readonly Value[];
}

/** Values that become others together, by position. */
export interface Edge {
  readonly kind: "entry" | "back" | "continue" | "exit" | "then" | "otherwise";
  readonly from: readonly Value[];
  readonly to: readonly Value[];
}

export function loopOf(op: OpOf<"while">): Loop {
  const { test, body } = regionsOf(op);
  const condition = endOf(test, "condition");
  const end = endOf(body, "yield");
  const { continues, carried } = operandsOf(condition);
  return {
    test,
    body,
    condition,
    end,
    continues,
    initial: op.operands,
    repeated: end.operands,
    leaving: carried,
  };
}

export function branchOf(op: OpOf<"if">): Branch {
  const { then, otherwise } = regionsOf(op);
  const [thenEnd, otherwiseEnd] = [endOf(then, "yield"), endOf(otherwise, "yield")];
  return {
    condition: operandsOf(op).condition,
    then,
    otherwise,
    thenEnd,
    otherwiseEnd,
    thenValues: thenEnd.operands,
    otherwiseValues: otherwiseEnd.operands,
  };
}

/** The edges of an operation; none of one without regions. */
export function edgesOf(op: Op): readonly Edge[] {
  if (op.name === "while") {
    const { test, body, initial, repeated, leaving } = loopOf(op);
    return [
      { kind: "entry", from: initial, to: test.params },
      { kind: "back", from: repeated, to: test.params },
      { kind: "continue", from: leaving, to: body.params },
      { kind: "exit", from: leaving, to: op.results },
    ];
  }
  if (op.name === "if") {
    const { thenValues, otherwiseValues } = branchOf(op);
    return [
      { kind: "then", from: thenValues, to: op.results },
      { kind: "otherwise", from: otherwiseValues, to: op.results },
    ];
  }
  return [];
}

/** What flows into a value on an edge; undefined if nothing does. */
export function sourceOf({ from, to }: Pick<Edge, "from" | "to">, value: Value): Value | undefined {
  return from[to.indexOf(value)];
}

function endOf<N extends TileOp>(region: Region, name: N): OpOf<N> {
  const end = terminatorOf(region);
  return isOp(end, name) ? end : bug(`a region ends in ${end.name}, not in ${name}`);
}

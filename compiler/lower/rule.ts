/** What a lowering rule is, and the accessors all rules use. */
import type { Op, Value } from "../ir/func.ts";
import { must } from "../support/bug.ts";
import type { AxisInfo } from "../tile/axis.ts";
import type { LowerContext } from "./context.ts";

/** What axis analysis knows of a value. */
export type AxisFacts = (value: Value) => AxisInfo;
/** Emits one operation and remembers its result in `cx.values`. */
export type Rule = (cx: LowerContext, op: Op, axisInfo: AxisFacts) => void;

/** An operand that the operation's row demands. */
export const operand = (op: Op, index: number): Value =>
  must(op.operands[index], `operand ${index} of ${op.name}`);

/** The only result of an operation. */
export const resultOf = (op: Op): Value => must(op.results[0], `result of ${op.name}`);

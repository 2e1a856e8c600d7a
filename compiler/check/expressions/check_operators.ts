/** Element-wise operators (language.md, 5.2 to 5.5): operand rules, common types, common shapes. */
import type { Span } from "../../support/source.ts";
import type { Code } from "../../support/diagnostic.ts";
import type * as ast from "../../parse/ast.ts";
import { SCALARS, spellType } from "../tree/types.ts";
import type { TypedBinaryOperator } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { broadcastShapes, clashText, fitsWithNewAxis } from "./broadcast.ts";
import { clashNotes } from "../analysis/origin.ts";
import {
  commonOf,
  isArithmetic,
  isFloat,
  isInteger,
  isNullConstant,
  NEW_AXIS_HINT,
  pointerOf,
  promote,
  reportOperand,
  toBool,
  unify,
} from "./convert.ts";
import {
  binary,
  broadcast,
  constant,
  convert,
  difference,
  isBool,
  logicalNot,
  offset,
  unary,
  type Value,
} from "../tree/nodes.ts";
import { noteQuotient, reportSign } from "./mistakes.ts";
import { elementOf, samePointee, scalarType, type ShapeOf, shapeOf } from "../tree/value_types.ts";

/** Operators of {@linkcode applyBinary}: all that evaluate both operands element by element. */
export type ElementwiseOperator = Exclude<ast.BinaryOperator, "@" | "&&" | "||">;

/** Where an operation is: its own span for the result, the operator's for what is wrong with it. */
export interface OperationSpans {
  readonly span: Span;
  readonly operatorSpan: Span;
  /** The operator as written, where that is another: `+=` adds. */
  readonly operator?: string;
}

interface BinaryRow {
  readonly operator: TypedBinaryOperator;
  readonly rule: (
    cx: Context,
    row: BinaryRow,
    text: string,
    lhs: Value,
    rhs: Value,
    at: OperationSpans,
  ) =>
    | Value
    | undefined;
  /** What is wrong with operands the row does not take. */
  readonly code: Code;
}

const BINARY: Readonly<Record<ElementwiseOperator, BinaryRow>> = {
  "*": { operator: "mul", rule: arithmetic, code: "E5020" },
  "/": { operator: "div", rule: arithmetic, code: "E5020" },
  "%": { operator: "rem", rule: integral, code: "E5021" },
  "+": { operator: "add", rule: additive, code: "E5022" },
  "-": { operator: "sub", rule: additive, code: "E5022" },
  "<<": { operator: "shl", rule: shift, code: "E5024" },
  ">>": { operator: "shr", rule: shift, code: "E5024" },
  "&": { operator: "and", rule: integral, code: "E5024" },
  "^": { operator: "xor", rule: integral, code: "E5024" },
  "|": { operator: "or", rule: integral, code: "E5024" },
  "<": { operator: "lt", rule: compare, code: "E5025" },
  "<=": { operator: "le", rule: compare, code: "E5025" },
  ">": { operator: "gt", rule: compare, code: "E5025" },
  ">=": { operator: "ge", rule: compare, code: "E5025" },
  "==": { operator: "eq", rule: compare, code: "E5025" },
  "!=": { operator: "ne", rule: compare, code: "E5025" },
};

/** `lhs operator rhs` on checked operands. */
export function applyBinary(
  cx: Context,
  text: ElementwiseOperator,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  const row = BINARY[text];
  return row.rule(cx, row, text, lhs, rhs, at);
}

function arithmetic(
  cx: Context,
  row: BinaryRow,
  text: string,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  if (!isArithmetic(lhs) || !isArithmetic(rhs)) {
    reportOperand(cx, row.code, at.operatorSpan, at.operator ?? text, [lhs, rhs]);
    return undefined;
  }
  const operands = broadcastAll(cx, unify(cx, [lhs, rhs]), at, text);
  const [a, b] = operands ?? [];
  if (a === undefined || b === undefined) return undefined;
  const result = binary(row.operator, a, b, at.span, cx.foldReporter(at.span));
  if (row.operator === "div") noteQuotient(cx, result, a, b);
  return result;
}

function integral(
  cx: Context,
  row: BinaryRow,
  text: string,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  if (isInteger(lhs) && isInteger(rhs)) return arithmetic(cx, row, text, lhs, rhs, at);
  const hint = text === "%" && isArithmetic(lhs) && isArithmetic(rhs)
    ? { hint: "use `fmod(a, b)` for the remainder of floats" }
    : {};
  reportOperand(cx, row.code, at.operatorSpan, at.operator ?? text, [lhs, rhs], hint);
  return undefined;
}

function shift(
  cx: Context,
  row: BinaryRow,
  text: string,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  if (!isInteger(lhs) || !isInteger(rhs)) {
    reportOperand(cx, row.code, at.operatorSpan, at.operator ?? text, [lhs, rhs]);
    return undefined;
  }
  const [a, b] = broadcastAll(cx, [promote(cx, lhs), promote(cx, rhs)], at, text) ?? [];
  if (a === undefined || b === undefined) return undefined;
  return binary(row.operator, a, b, at.span);
}

function additive(
  cx: Context,
  row: BinaryRow,
  text: string,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  const [left, right] = [pointerOf(lhs), pointerOf(rhs)];
  if (left === undefined && right === undefined) return arithmetic(cx, row, text, lhs, rhs, at);
  if (left !== undefined && right !== undefined && text === "-") {
    return pointerDifference(cx, lhs, rhs, at);
  }
  if (left !== undefined && isInteger(rhs)) {
    return offsetPointer(cx, lhs, rhs, text === "-", at, text);
  }
  if (right !== undefined && isInteger(lhs) && text === "+") {
    return offsetPointer(cx, rhs, lhs, false, at, text, true);
  }
  const hint = left !== undefined && isFloat(rhs)
    ? { hint: "the offset of a pointer must be an integer" }
    : right !== undefined && text === "-"
    ? { hint: "write the pointer on the left: `p - i`" }
    : {};
  reportOperand(cx, row.code, at.operatorSpan, at.operator ?? text, [lhs, rhs], hint);
  return undefined;
}

/** `pointer ± count`; `swapped` when the count was written first, for the order in messages. */
export function offsetPointer(
  cx: Context,
  pointer: Value,
  count: Value,
  negative: boolean,
  at: OperationSpans,
  text: string,
  swapped = false,
): Value | undefined {
  if (!checkSized(cx, pointer, at.span)) return undefined;
  const wide = negative
    ? unary("neg", convert(count, scalarType("int64")), count.span)
    : isBool(count)
    ? promote(cx, count)
    : count;
  const operands = broadcastAll(cx, swapped ? [wide, pointer] : [pointer, wide], at, text);
  const [first, second] = operands ?? [];
  if (first === undefined || second === undefined) return undefined;
  return swapped ? offset(second, first, at.span) : offset(first, second, at.span);
}

/** E3011: a void* has no elements to load or to move by. */
export function checkSized(cx: Context, pointer: Value, span: Span): boolean {
  if (pointerOf(pointer)?.pointee.kind !== "void") return true;
  cx.reporter.error("E3011", span, "void* has no element type", {
    hint: "cast it first, for example `(float*) p`",
  });
  return false;
}

function pointerDifference(
  cx: Context,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  const [left, right] = [pointerOf(lhs), pointerOf(rhs)];
  if (left === undefined || right === undefined || !samePointee(left, right)) {
    const types = `${spellType(elementOf(lhs.type))} and ${spellType(elementOf(rhs.type))}`;
    cx.reporter.error("E5023", at.operatorSpan, `cannot subtract pointers of types ${types}`, {
      hint: "cast one of them, or both to `long` for a count of bytes",
    });
    return undefined;
  }
  if (!checkSized(cx, lhs, at.span)) return undefined;
  const [a, b] = broadcastAll(cx, [lhs, convert(rhs, elementOf(lhs.type))], at, "-") ?? [];
  return a === undefined || b === undefined ? undefined : difference(a, b, at.span);
}

function compare(
  cx: Context,
  row: BinaryRow,
  text: string,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): Value | undefined {
  const pair = isArithmetic(lhs) && isArithmetic(rhs)
    ? compareNumbers(cx, text, lhs, rhs, at)
    : unifyPointers(lhs, rhs);
  if (pair === undefined) {
    reportOperand(cx, row.code, at.operatorSpan, at.operator ?? text, [lhs, rhs]);
    return undefined;
  }
  const [a, b] = broadcastAll(cx, pair, at, text) ?? [];
  if (a === undefined || b === undefined) return undefined;
  return binary(row.operator, a, b, at.span);
}

function compareNumbers(
  cx: Context,
  text: string,
  lhs: Value,
  rhs: Value,
  at: OperationSpans,
): readonly Value[] {
  reportSign(cx, text, [lhs, rhs], at.operatorSpan);
  const common = commonOf(cx, [lhs, rhs]);
  if (common !== undefined && SCALARS[common].class === "int" && !SCALARS[common].signed) {
    const signed = [lhs, rhs].find((value) => {
      const element = elementOf(promote(cx, value).type);
      return element.kind === "scalar" && SCALARS[element.name].signed;
    });
    if (signed !== undefined && !(signed.kind === "constant" && signed.value >= 0)) {
      cx.reporter.warn(
        "W5026",
        at.operatorSpan,
        `\`${text}\` compares ${spellType(lhs.type)} with ${spellType(rhs.type)} as unsigned`,
        { hint: "cast one side; a negative value compares as a large unsigned one" },
      );
    }
  }
  return unify(cx, [lhs, rhs]);
}

/** Two pointers of one type, or one with void*, or one with the constant 0; undefined for all else. */
export function unifyPointers(lhs: Value, rhs: Value): readonly Value[] | undefined {
  const [left, right] = [pointerOf(lhs), pointerOf(rhs)];
  if (left !== undefined && right !== undefined) {
    const either = left.pointee.kind === "void" || right.pointee.kind === "void";
    if (!either && !samePointee(left, right)) return undefined;
    if (left.space !== right.space) return undefined;
    const target = left.pointee.kind === "void" ? left : right.pointee.kind === "void" ? right : {
      ...left,
      const: left.const || right.const,
      volatile: left.volatile || right.volatile,
    };
    return [convert(lhs, target), convert(rhs, target)];
  }
  if (left !== undefined && isNullConstant(rhs)) return [lhs, convert(rhs, left)];
  if (right !== undefined && isNullConstant(lhs)) return [convert(lhs, right), rhs];
  return undefined;
}

/** Stretches operands to their common shape (E5010). */
export function broadcastAll(
  cx: Context,
  values: readonly Value[],
  at: OperationSpans,
  text: string,
): readonly Value[] | undefined {
  let shape: ShapeOf;
  let owner: Value | undefined;
  for (const value of values) {
    const outcome = broadcastShapes(shape, shapeOf(value.type));
    if ("clash" in outcome) {
      const { clash } = outcome;
      const fits = fitsWithNewAxis(clash.lhs, clash.rhs) || fitsWithNewAxis(clash.rhs, clash.lhs);
      cx.reporter.error(
        "E5010",
        at.operatorSpan,
        `the operands of \`${at.operator ?? text}\` do not broadcast: ${clashText(clash)}`,
        {
          notes: clashNotes(clash, owner ?? value, value),
          ...(fits ? { hint: NEW_AXIS_HINT } : {}),
        },
      );
      return undefined;
    }
    if (shapeOf(value.type) !== undefined) owner = value;
    shape = outcome.shape;
  }
  return values.map((value) => broadcast(value, shape));
}

/** `-e`, `+e`, `~e`, `!e`. */
export function applyUnary(
  cx: Context,
  operator: "-" | "+" | "~" | "!",
  operand: Value,
  at: OperationSpans,
): Value | undefined {
  if (operator === "!") return logicalNot(toBool(operand), at.span);
  if (!isArithmetic(operand)) {
    reportOperand(cx, "E5020", at.operatorSpan, operator, [operand]);
    return undefined;
  }
  if (operator === "~") {
    if (isInteger(operand)) return unary("not", promote(cx, operand), at.span);
    reportOperand(cx, "E5024", at.operatorSpan, operator, [operand]);
    return undefined;
  }
  const weak = cx.weak.get(operand);
  if (weak !== undefined && operand.kind === "constant") {
    // A sign changes no digit, so the literal is still weak.
    if (operator === "+") return operand;
    const negated = unary("neg", operand, at.span);
    cx.weak.set(negated, { text: weak.text, negative: !weak.negative });
    return negated;
  }
  const promoted = promote(cx, operand);
  if (operator === "+") return promoted;
  return unary("neg", promoted, at.span, cx.foldReporter(at.span));
}

/** The 1 of `++` and `--`; as an `int` it takes the type of what it is added to. */
export function one(span: Span): Value {
  return constant(1n, scalarType("int32"), span);
}

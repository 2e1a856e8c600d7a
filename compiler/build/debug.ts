/** `printf`, `assert` and `assume` (language.md 7.4). */
import type { TypedExpr } from "../check/tree/typed.ts";
import type { Value } from "../ir/func.ts";
import { type IrType, isPointer } from "../ir/types.ts";
import { SCALARS } from "../support/scalar.ts";
import { sourceText, type Span } from "../support/source.ts";
import { append, type Context, emit, emitConstant, setVariable, valueOf } from "./context.ts";
import type { BuiltinCall } from "./types.ts";

/** A line per program, or per element: what the format leaves open is closed. */
export function buildPrintf(cx: Context, call: BuiltinCall, args: readonly Value[]): undefined {
  const [format = ""] = call.options;
  const line = format.endsWith("\n") ? format : `${format}\n`;
  append(cx, "print", args, [], call.span, { format: line });
  return undefined;
}

export function buildAssert(cx: Context, call: BuiltinCall, args: readonly Value[]): undefined {
  const [condition] = call.args;
  const shown = condition === undefined ? "" : sourceText(condition.span);
  const [text] = call.options;
  append(cx, "check", args, [], call.span, {
    text: text === undefined ? shown : `${shown}: ${text}`,
  });
  return undefined;
}

/** The promise is checked where checks are, and what it says of variables is known from here on. */
export function buildAssume(cx: Context, call: BuiltinCall, args: readonly Value[]): undefined {
  const [condition] = call.args;
  if (condition === undefined) return undefined;
  append(cx, "check", args, [], call.span, { text: `assume(${sourceText(condition.span)})` });
  learn(cx, condition);
  return undefined;
}

/** The value, promised to be a multiple; builds for debugging check that. */
export function buildMultiple(cx: Context, value: Value, n: number, span: Span): Value {
  if (n > 1 && cx.checkPromises) {
    const { element, shape } = value.type;
    const type: IrType = { element: isPointer(element) ? "int64" : element, shape };
    const number = isPointer(element) ? emit(cx, "convert", [value], type, span) : value;
    const divisor = emitConstant(cx, BigInt(n), type, span);
    const rest = emit(cx, "rem", [number, divisor], type, span);
    const none = emitConstant(cx, 0n, type, span);
    const holds = emit(cx, "eq", [rest, none], { ...type, element: "bool" }, span);
    append(cx, "check", [holds], [], span, {
      text: `assume(${sourceText(span)} is a multiple of ${n})`,
    });
  }
  return emit(cx, "assume_multiple", [value], value.type, span, { n });
}

/** `x % n == 0`, alone or joined by `&&` and `&`: x is a multiple of n. The condition is not zero. */
function learn(cx: Context, condition: TypedExpr): void {
  // Zero converts to zero.
  if (condition.kind === "convert") return learn(cx, condition.operand);
  if (condition.kind === "conditional" && isConstant(condition.else, 0n)) {
    // `a && b` is `a ? b : false`.
    learn(cx, condition.condition);
    return learn(cx, condition.then);
  }
  if (condition.kind !== "binary") return;
  const { operator, lhs, rhs } = condition;
  if (operator === "and") {
    learn(cx, lhs);
    return learn(cx, rhs);
  }
  if (operator === "ne" && isConstant(rhs, 0n)) return learn(cx, lhs);
  if (operator !== "eq") return;
  const remainder = isConstant(rhs, 0n) ? lhs : isConstant(lhs, 0n) ? rhs : undefined;
  if (remainder !== undefined) learnMultiple(cx, remainder);
}

/** `x % n`, or `x & (n - 1)` for a power of two, is zero. */
function learnMultiple(cx: Context, remainder: TypedExpr): void {
  if (remainder.kind !== "binary") return;
  const { operator, lhs, rhs } = remainder;
  const number = rhs.kind === "constant" && typeof rhs.value === "bigint" ? rhs.value : 0n;
  const multiple = operator === "rem" ? number : operator === "and" ? number + 1n : 0n;
  const isMask = operator === "and" && (multiple & (multiple - 1n)) !== 0n;
  if (multiple < 2n || multiple > 2n ** 30n || isMask) return;
  const source = variableBehind(lhs);
  if (source === undefined) return;
  const value: Value = valueOf(cx, source.variable);
  setVariable(
    cx,
    source.variable,
    emit(cx, "assume_multiple", [value], value.type, remainder.span, { n: Number(multiple) }),
  );
}

/** The integer variable whose value an expression is, perhaps in a wider type. */
function variableBehind(
  expr: TypedExpr,
): Extract<TypedExpr, { kind: "variable" }> | undefined {
  if (expr.kind === "variable") return bitsOf(expr) === 0 ? undefined : expr;
  if (expr.kind !== "convert" || bitsOf(expr) < bitsOf(expr.operand)) return undefined;
  return variableBehind(expr.operand);
}

/** Bits of an integer type; 0 of others. */
function bitsOf({ type }: TypedExpr): number {
  const element = type.kind === "tile" ? type.element : type;
  if (element.kind !== "scalar") return 0;
  const { class: kind, bits } = SCALARS[element.name];
  return kind === "int" ? bits : 0;
}

const isConstant = (expr: TypedExpr, value: bigint): boolean =>
  expr.kind === "constant" && expr.value === value;

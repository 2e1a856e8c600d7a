/** Warnings about expressions that compile and are hardly meant. */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import { SCALARS } from "../tree/types.ts";
import type { Context } from "../check_context.ts";
import type { Value } from "../tree/nodes.ts";
import { elementOf } from "../tree/value_types.ts";

type Of<K extends ast.Expr["kind"]> = Extract<ast.Expr, { kind: K }>;

/** Comparisons that one would write in a row. */
const CHAINED: readonly (readonly ast.BinaryOperator[])[] = [["<", "<=", ">", ">="], ["==", "!="]];

/** `int i[64] = 0 ... 64` without `;` goes on with the next line, if that begins with `*`. */
export const MISSING_SEMICOLON = "is a `;` missing at the end of the line before?";

/** Whether a span is on a later line than another one of the same text. */
export function isOnLaterLine({ file, start, expansion }: Span, before: Span): boolean {
  return file === before.file && expansion === before.expansion &&
    file.text.slice(before.end, start).includes("\n");
}

/** Whether a span begins its line. */
export function beginsLine({ file: { text }, start }: Span): boolean {
  return text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trim() === "";
}

/** W5027: `0 <= i < n` of mathematics and Python compares 0 or 1 with n. */
export function reportChain(cx: Context, { operator, operatorSpan, lhs }: Of<"binary">): void {
  if (lhs.kind !== "binary") return;
  const first = lhs.operator;
  if (!CHAINED.some((row) => row.includes(operator) && row.includes(first))) return;
  const message = `\`${operator}\` compares what \`${first}\` gives, which is false or true`;
  cx.reporter.warn("W5027", operatorSpan, message, {
    hint: "join two comparisons by `&&`, as in `a < b && b < c`; if this is meant, put parentheses",
  });
}

/** W6007: `if (i = m)`. A second pair of parentheses says that it is meant. */
export function reportAssigned(cx: Context, condition: ast.Expr): void {
  if (condition.kind !== "assign" || condition.operator !== "=") return;
  const { operatorSpan } = condition;
  cx.reporter.warn("W6007", operatorSpan, "this condition assigns: `=` compares nothing", {
    hint: "write `==` to compare; if this is meant, put parentheses around the assignment",
    fix: { span: operatorSpan, replacement: "==" },
  });
}

/** What comparisons of an unsigned number on the left with 0 give; those that are missing may give either. */
const WITH_ZERO: Readonly<Partial<Record<string, boolean>>> = { "<": false, ">=": true };
/** The same comparisons with the sides exchanged. */
const EXCHANGED: Readonly<Partial<Record<string, string>>> = { ">": "<", "<=": ">=" };

/** W5029: `u < 0`, where u is unsigned. */
export function reportSign(
  cx: Context,
  operator: string,
  [lhs, rhs]: readonly [Value, Value],
  operatorSpan: Span,
): void {
  const exchanged = EXCHANGED[operator];
  const [value, zero] = exchanged === undefined ? [lhs, rhs] : [rhs, lhs];
  const result = WITH_ZERO[exchanged ?? operator];
  if (result === undefined || !isZero(zero) || !isUnsigned(value)) return;
  if (value.kind === "constant") return;
  // Without the type, so that instances for several types report the same.
  const message = `this is always ${result}: an unsigned number is never below 0`;
  cx.reporter.warn("W5029", operatorSpan, message, {
    hint: "compare a signed number, or leave the comparison out",
  });
}

const isZero = (value: Value): boolean => value.kind === "constant" && value.value === 0n;

function isUnsigned(value: Value): boolean {
  const element = elementOf(value.type);
  if (element.kind !== "scalar" || element.name === "bool") return false;
  const { class: kind, signed } = SCALARS[element.name];
  return kind === "int" && !signed;
}

/** Remembers a quotient of integer constants that has a remainder, until it is converted. */
export function noteQuotient(cx: Context, quotient: Value, lhs: Value, rhs: Value): void {
  if (lhs.kind !== "constant" || rhs.kind !== "constant") return;
  const [a, b] = [lhs.value, rhs.value];
  if (typeof a !== "bigint" || typeof b !== "bigint" || b === 0n || a % b === 0n) return;
  cx.quotients.set(quotient, `${a} / ${b}`);
}

/** W5028: `float f = 1 / 2`. */
export function reportQuotient(cx: Context, value: Value): void {
  const text = cx.quotients.get(value);
  if (text === undefined || value.kind !== "constant") return;
  cx.quotients.delete(value); // once is enough
  if (cx.unevaluated > 0) return;
  const message = `\`${text}\` is ${value.value} here: a quotient of integers has no fraction`;
  cx.reporter.warn("W5028", value.span, message, {
    hint: "make one of them a float, as in `1.0 / 2`; if this is meant, cast the quotient",
  });
}

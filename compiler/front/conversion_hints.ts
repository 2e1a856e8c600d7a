/** Hints about values that do not convert: they show the operand as the user wrote it. */
import type { Span } from "../support/source.ts";
import { type ElementType, type PointerType, spellType } from "./types.ts";
import type { TypedExpr } from "./typed.ts";
import type { Context } from "./check_context.ts";
import { declarationNote } from "./origin.ts";
import { elementOf, isBool, shapeOf, type Value } from "./nodes.ts";

/** A value as an operand of a cast, `*` or a subscript; `otherwise` where its text is long. */
export function operandText(value: TypedExpr, otherwise: string): string {
  if (value.kind === "variable") return value.variable.name;
  const { span } = value;
  const text = span.expansion === undefined ? span.file.text.slice(span.start, span.end) : "";
  if (!SHORT_TEXT.test(text)) return otherwise;
  return PRIMARY.test(text) ? text : `(${text})`;
}

/** One line without comments or line splices. */
const SHORT_TEXT = /^(?!.*\/[/*])[^\\\n\r]{1,24}$/;
const PRIMARY = /^(\w+|\([^()]*\)|\w+\[[^[\]]*\])$/;

/** What to write where a pointer is assigned to a number (E5302). */
export function pointerHint(value: Value, from: PointerType, to: ElementType): string {
  const shown = operandText(value, "p");
  if (to.kind === "scalar" && to.name === "bool") return `compare it: \`${shown} != NULL\``;
  return from.pointee.kind === "void"
    ? `cast it to \`long\`: \`(long) ${shown}\``
    : `load what it points to: \`*${shown}\``;
}

/** E5012. */
export function reportNotScalar(cx: Context, value: Value, span: Span): void {
  const rank = shapeOf(value.type)?.length ?? 0;
  const [first, second] = isBool(value) ? ["any", "all"] as const : ["+", "max"] as const;
  const reduced = (operator: string): string =>
    `\`${testedText(value)}[${Array(rank).fill(operator).join(", ")}]\``;
  cx.reporter.error("E5012", span, `a scalar is needed here, not ${spellType(value.type)}`, {
    ...(value.kind === "variable" ? { notes: [declarationNote(value.variable)] } : {}),
    hint: `reduce it: ${reduced(first)} or ${reduced(second)}`,
  });
}

/** Pointers are not reduced; what a reduction takes is the comparison that became bools. */
function testedText(value: Value): string {
  if (value.kind !== "convert") return operandText(value, "x");
  const { operand } = value;
  const isPointer = operand.type.kind !== "void" && elementOf(operand.type).kind === "pointer";
  return isPointer ? `(${operandText(operand, "p")} != NULL)` : operandText(operand, "x");
}

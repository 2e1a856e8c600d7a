/** Hints about values that do not convert: they show the operand as the user wrote it. */
import type { Span } from "../../support/source.ts";
import { type ElementType, type PointerType, spellType } from "../tree/types.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { declarationNote } from "../analysis/origin.ts";
import { isBool, type Value } from "../tree/nodes.ts";
import { elementOf, shapeOf } from "../tree/value_types.ts";

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

/** E5012; `declared`: the variable that the value initialises. */
export function reportNotScalar(cx: Context, value: Value, span: Span, declared?: string): void {
  const [first, second] = isBool(value) ? ["any", "all"] as const : ["+", "max"] as const;
  const reduce = `reduce it: \`${reducedText(value, first)}\` or \`${reducedText(value, second)}\``;
  const pointers = pointersIn(value);
  const declare = (name: string): string =>
    `declare a tile: \`${pointers}${name}[${(shapeOf(value.type) ?? []).join(", ")}]\``;
  cx.reporter.error("E5012", span, `a scalar is needed here, not ${spellType(value.type)}`, {
    ...(value.kind === "variable" ? { notes: [declarationNote(value.variable)] } : {}),
    hint: pointers !== ""
      ? declare(declared ?? "p")
      : declared === undefined
      ? reduce
      : `${declare(declared)}, or ${reduce}`,
  });
}

/** The asterisks of a declaration of a value: pointers are not reduced. */
function pointersIn({ type }: Value): string {
  let asterisks = "";
  for (let element = elementOf(type); element.kind === "pointer"; asterisks += "*") {
    if (element.pointee.kind === "void") return `${asterisks}*`;
    element = element.pointee;
  }
  return asterisks;
}

/** The value reduced over all axes. Pointers are not reduced, but their comparison with NULL is. */
export function reducedText(value: Value, operator: string): string {
  const items = (shapeOf(value.type) ?? []).map(() => operator).join(", ");
  const given = value.kind === "convert" ? value.operand : value;
  const isPointer = given.type.kind !== "void" && elementOf(given.type).kind === "pointer";
  const shown = isPointer ? `(${operandText(given, "p")} != NULL)` : operandText(given, "x");
  return `${shown}[${items}]`;
}

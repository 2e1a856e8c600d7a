/**
 * What looks like a macro and is computed where it is used: `__FILE__`, `__LINE__`, `_Pragma` everywhere,
 * `defined` and `__type_is` in conditions only (language.md, 1.2 and 1.3).
 */
import type { Reporter } from "../support/diagnostic.ts";
import { positionOf, useSite } from "../support/source.ts";
import type { Expander, MacroOperator } from "./expand.ts";
import type { PpToken } from "./lexer.ts";
import { found } from "./macros.ts";
import { canonicalType } from "./type_spelling.ts";

export interface OperatorContext {
  readonly reporter: Reporter;
  /** The file's name as `#line` set it. */
  readonly fileName: () => string;
  /** What `#line` added to the line numbers here. */
  readonly lineDelta: () => number;
  readonly isDefined: (name: string) => boolean;
}

/** The operators of ordinary text. */
export function textOperators(cx: OperatorContext): ReadonlyMap<string, MacroOperator> {
  return new Map<string, MacroOperator>([
    ["__FILE__", (name) => ({ ...name, kind: "string", text: JSON.stringify(cx.fileName()) })],
    ["__LINE__", (name) => number(name, lineOf(name) + cx.lineDelta())],
    ["_Pragma", (name, expander) => rejectPragma(name, expander, cx.reporter)],
  ]);
}

/** The operators of `#if` and `#elif`. */
export function conditionOperators(cx: OperatorContext): ReadonlyMap<string, MacroOperator> {
  return new Map<string, MacroOperator>([
    ...textOperators(cx),
    ["defined", (name, expander) => number(name, evalDefined(name, expander, cx) ? 1 : 0)],
    ["__type_is", (name, expander) => number(name, evalTypeIs(name, expander, cx) ? 1 : 0)],
  ]);
}

function number(at: PpToken, value: number): PpToken {
  return { ...at, kind: "number", text: `${value}` };
}

function lineOf({ span }: PpToken): number {
  const use = useSite(span);
  return positionOf(use.file, use.start).line;
}

function rejectPragma(name: PpToken, expander: Expander, reporter: Reporter): undefined {
  reporter.error("E1043", name.span, "`_Pragma` is not supported", {
    hint: "write a `#pragma` line",
  });
  if (nextIs(expander, "(")) expander.takeArguments();
}

/** `defined X` or `defined(X)`. */
function evalDefined(name: PpToken, expander: Expander, cx: OperatorContext): boolean {
  const open = nextIs(expander, "(") ? expander.take() : undefined;
  const operand = expander.take();
  const close = open === undefined ? undefined : expander.take();
  if (operand.kind !== "identifier") {
    cx.reporter.error("E1011", name.span, `\`defined\` needs the name of a macro${found(operand)}`);
    return false;
  }
  if (close !== undefined && close.text !== ")") {
    cx.reporter.error(
      "E1011",
      close.span,
      `expected \`)\` after \`defined(${operand.text}\`${found(close)}`,
    );
    expander.untake([close]);
  }
  return cx.isDefined(operand.text);
}

/** `__type_is(A, B)`: both expand to the same type, however it is spelled. */
function evalTypeIs(name: PpToken, expander: Expander, cx: OperatorContext): boolean {
  const args = nextIs(expander, "(") ? expander.takeArguments()?.args : undefined;
  const types = args?.map((arg) => canonicalType(expander.expandList(arg).map(({ text }) => text)));
  if (types?.length !== 2 || types.includes("")) {
    const message = "`__type_is` needs two types, as in `__type_is(TYPE, half)`";
    cx.reporter.error("E1011", name.span, message);
    return false;
  }
  return types[0] === types[1];
}

function nextIs(expander: Expander, text: string): boolean {
  const token = expander.take();
  expander.untake([token]);
  return token.kind === "punctuator" && token.text === text;
}

/** A range written with two dots: one message, and the range that is meant. */
import { joinSpans } from "../support/source.ts";
import type { Expr } from "./ast.ts";
import type { ParseContext } from "./parse_context.ts";

/** `0 .. N`, or `0..16`, which are the tokens `0`, `.` and `.16`. */
export function atTwoDots({ cursor }: ParseContext): boolean {
  return cursor.at(".") && cursor.ahead(1).text.startsWith(".");
}

/** Passes over the dots. The upper bound, where the second dot is part of its token. */
export function readTwoDots({ cursor, reporter }: ParseContext): Expr | undefined {
  const first = cursor.next().span;
  const { kind, text, span } = cursor.next();
  const second = { ...span, end: span.start + 1 };
  const dots = joinSpans(first, second);
  reporter.error("E5003", dots, "expected `...`, found two dots", {
    hint: "a range has three: `lo ... hi`",
    fix: { span: dots, replacement: "..." },
  });
  return kind === "number"
    ? { kind, text: text.slice(1), span: { ...span, start: second.end } }
    : undefined;
}

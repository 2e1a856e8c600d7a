/** The operators `#` and `##` of macro bodies (C11, 6.10.3.2 and 6.10.3.3). */
import { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import { hiddenInBoth, lex, type PpToken } from "./lexer.ts";

/** The string literal with the spelling of an argument. */
export function stringify(arg: readonly PpToken[]): string {
  const parts = arg.map((token, i) => {
    const quoted = token.kind === "string" || token.kind === "char" || token.text === '"';
    const text = quoted ? token.text.replace(/["\\]/g, "\\$&") : token.text;
    return i > 0 && (token.spaceBefore || token.lineStart) ? ` ${text}` : text;
  });
  // A lone backslash at the end would escape the closing quote.
  const text = parts.join("").replace(/(?<!\\)((?:\\\\)*)\\$/, "$1");
  return `"${text}"`;
}

/** Joins the last token on the left with the first on the right; E1020 when that is not one token. */
export function paste(
  left: readonly PpToken[],
  right: readonly PpToken[],
  span: Span,
  reporter: Reporter,
): PpToken[] {
  const before = left.at(-1);
  const after = right[0];
  if (before === undefined || after === undefined) return [...left, ...right];
  const text = before.text + after.text;
  const file = { name: "<pasted>", text };
  const [token, end] = lex(file, new Reporter()).tokens;
  if (token === undefined || end?.kind !== "end" || token.text !== text || token.kind === "other") {
    const parts = `\`${before.text}\` and \`${after.text}\``;
    reporter.error("E1020", span, `\`##\` joins ${parts}, which is not one token`);
    return [...left, ...right];
  }
  const hide = hiddenInBoth(before.hide, after.hide);
  const { spaceBefore, lineStart } = before;
  const pasted: PpToken = { kind: token.kind, text, span, spaceBefore, lineStart };
  return [
    ...left.slice(0, -1),
    hide === undefined ? pasted : { ...pasted, hide },
    ...right.slice(1),
  ];
}

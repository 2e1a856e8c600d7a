/** Whether macros of different values have given the same tokens: what follows from tokens alone is then the same too. */
import type { SourceFile, Span } from "../support/source.ts";
import type { Token } from "./token.ts";

/** Equal in spelling and origin, so that also diagnostics are the same. */
export function sameTokens(a: readonly Token[], b: readonly Token[]): boolean {
  return a.length === b.length && a.every((token, i) => sameToken(token, b[i]));
}

function sameToken(a: Token, b: Token | undefined): boolean {
  return b !== undefined && a.text === b.text && a.kind === b.kind &&
    a.spaceBefore === b.spaceBefore && sameSpan(a.span, b.span);
}

function sameSpan(a: Span, b: Span): boolean {
  if (a === b) return true;
  if (a.start !== b.start || a.end !== b.end || !sameFile(a.file, b.file)) return false;
  const [from, other] = [a.expansion, b.expansion];
  if (from === undefined || other === undefined) return from === other;
  return from.macro === other.macro && sameSpan(from.use, other.use);
}

/** The text of a macro from outside is a file of its own each time. */
function sameFile(a: SourceFile, b: SourceFile): boolean {
  return a === b || (a.name === b.name && a.text === b.text);
}

/** Tokens as the preprocessor delivers them to the parser. */
import type { Span } from "../support/source.ts";

export type TokenKind =
  | "identifier" // not a keyword
  | "keyword" // spelling in KEYWORDS
  | "number" // integer or floating literal, suffix included, unparsed
  | "char" // with its quotes
  | "string" // with its quotes
  | "punctuator"
  | "loop-pragma" // one whole `#pragma tri loop …` or `#pragma unroll` line; text is what follows "loop"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  /** The spelling; for `loop-pragma` the hints, e.g. `unroll(4) num_stages(2)`. */
  readonly text: string;
  readonly span: Span;
  /** Blank before it on its line; matters for `#` stringification and printing only. */
  readonly spaceBefore: boolean;
}

/** Whether a token is this keyword or punctuator (never a pragma that happens to read like it). */
export function isWord(token: Token, text: string): boolean {
  return token.text === text && (token.kind === "punctuator" || token.kind === "keyword");
}

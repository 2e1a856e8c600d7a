/** Dumps of tile IR as tokens. */
import { bug } from "../support/bug.ts";
import { positionOf, type SourceFile } from "../support/source.ts";

/** Numbers with a point, exponent or name are floats; without, integers. */
const TOKEN = new RegExp(
  [
    /\s+/,
    /\/\/.*/,
    /(?<word>[A-Za-z_]\w*)/,
    /(?<value>%\w+)/,
    /(?<symbol>@\w+)/,
    /(?<layout>#[ls]\d+)/,
    /(?<number>-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf\b))/,
    /(?<string>"(?:[^"\\]|\\.)*")/,
    /(?<mark>[=:,*(){}[\]^-])/,
  ].map((part) => part.source).join("|"),
  "y",
);

const KINDS = ["word", "value", "symbol", "layout", "number", "string", "mark"] as const;

export type TokenKind = typeof KINDS[number] | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
}

export function tokenize(file: SourceFile): readonly Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  let at = 0;
  while (at < file.text.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(file.text);
    if (match === null) {
      bug(`${file.name}, line ${positionOf(file, at).line}: stray \`${file.text[at]}\``);
    }
    const kind = KINDS.find((name) => match.groups?.[name] !== undefined);
    if (kind !== undefined) tokens.push({ kind, text: match[0], start: at });
    at += match[0].length;
  }
  tokens.push({ kind: "end", text: "", start: at });
  return tokens;
}

export function parseString(text: string): string {
  const value: unknown = JSON.parse(text);
  return typeof value === "string" ? value : bug(`${text} is not a string`);
}

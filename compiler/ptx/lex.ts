/** PTX text to tokens (PTX ISA 9.0, chapter 4 "Syntax"). Comments stay with the token that follows them. */
import { PtxSyntaxError } from "./syntax_error.ts";

export interface PtxToken {
  /** word: `ld.global.v4.b32`, `%tid.x`, `$L__1`; directive: `.reg`. */
  readonly kind: "word" | "directive" | "number" | "string" | "mark" | "end";
  readonly text: string;
  readonly offset: number;
  /** Texts of the `//` comments in front of it. */
  readonly comments?: readonly string[];
}

/** White space, comments, lines that the C preprocessor or old DWARF writers leave. */
const SPACE = /[\s\uFEFF]+|\/\/([^\n]*)|\/\*[^]*?\*\/|#[^\n]*|@@(?:DWARF|dwarf)[^\n]*/y;
const TOKEN = new RegExp(
  [
    String.raw`((?:[A-Za-z][\w$]*|[%$_][\w$]+|_)(?:\.\w+(?:::\w+)*)*)`,
    String.raw`(\.[A-Za-z_]\w*(?:::\w+)*)`,
    String.raw`(0[fF][\da-fA-F]{8}|0[dD][\da-fA-F]{16}|0[xX][\da-fA-F]+U?|0[bB][01]+U?|` +
    String.raw`(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?U?)(?![\w$])`,
    String.raw`("[^"\n]*")`,
    String.raw`(<<|>>|[<>=!]=|&&|\|\||[{}()[\]<>,;:@!|+=*/%&^~?-])`,
  ].join("|"),
  "y",
);
const KINDS = ["word", "directive", "number", "string", "mark"] as const;

/** Line and column of a position in the text, from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

/** All tokens, the last of kind `end`. Throws {@linkcode PtxSyntaxError}. */
export function lexPtx(text: string): PtxToken[] {
  const tokens: PtxToken[] = [];
  const [space, token] = [new RegExp(SPACE), new RegExp(TOKEN)];
  let comments: string[] = [];
  let offset = 0;
  const push = (kind: PtxToken["kind"], found: string): void => {
    tokens.push(
      comments.length === 0
        ? { kind, text: found, offset }
        : { kind, text: found, offset, comments },
    );
    comments = [];
  };
  while (offset < text.length) {
    space.lastIndex = offset;
    const skipped = space.exec(text);
    if (skipped !== null) {
      const [, comment] = skipped;
      if (comment !== undefined) comments.push(comment.replace(/^ /, "").replace(/\r$/, ""));
      offset = space.lastIndex;
      continue;
    }
    token.lastIndex = offset;
    const match = token.exec(text);
    const kind = KINDS.find((_, i) => match?.[i + 1] !== undefined);
    if (match === null || kind === undefined) {
      const { line, column } = lineAndColumn(text, offset);
      const found = /^[\w$.]+|[^]/u.exec(text.slice(offset, offset + 40))?.[0] ?? "";
      throw new PtxSyntaxError(line, column, "a token of PTX", `\`${found}\``);
    }
    push(kind, match[0]);
    offset = token.lastIndex;
  }
  push("end", "");
  return tokens;
}

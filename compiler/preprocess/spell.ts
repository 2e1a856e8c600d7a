/** Tokens back to text. */
import { positionOf, useSite } from "../support/source.ts";
import type { SourceFile } from "../support/source.ts";
import { lex } from "./lexer.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { Token } from "./token.ts";

interface Spelled {
  readonly kind: string;
  readonly text: string;
  readonly spaceBefore: boolean;
}

/** The tokens on one line, a blank where there were blanks or comments. */
export function spell(tokens: readonly Spelled[]): string {
  return tokens.map(({ text, spaceBefore }, i) => i > 0 && spaceBefore ? ` ${text}` : text).join(
    "",
  );
}

/**
 * Preprocessed tokens as text that lexes to the same tokens: a line where the main text began one, and a
 * blank where two tokens would run together. For `tri inspect`.
 */
export function printTokens(tokens: readonly Token[]): string {
  let text = "";
  let file: SourceFile | undefined;
  let line = 0;
  let before: Token | undefined;
  for (const token of tokens) {
    if (token.kind === "end") break;
    const use = useSite(token.span);
    const here = positionOf(use.file, use.start).line;
    const isPragma = token.kind === "loop-pragma";
    if (
      before !== undefined &&
      (isPragma || before.kind === "loop-pragma" || use.file !== file || here > line)
    ) {
      text += "\n";
    } else if (before !== undefined && (token.spaceBefore || runTogether(before, token))) {
      text += " ";
    }
    text += isPragma ? `#pragma tri loop ${token.text}` : token.text;
    [file, line, before] = [use.file, here, token];
  }
  return text === "" ? "" : `${text}\n`;
}

/** Whether two tokens without a blank between them would be read as others. */
function runTogether(left: Token, right: Token): boolean {
  // Only dots can join over more than two tokens: `.` `.` `.5`.
  if (left.text.endsWith(".") && right.text.startsWith(".")) return true;
  const file = { name: "<printed>", text: left.text + right.text };
  const [first, second, end] = lex(file, new Reporter()).tokens;
  return first?.text !== left.text || second?.text !== right.text || end?.kind !== "end";
}

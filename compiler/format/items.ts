/**
 * What a formatter moves: tokens, comments and directives in the order of the text, each with the line breaks before it.
 * A directive is one item with its text, so macro bodies and pragmas stay as they are written; so is the group of `#if 0`.
 */
import { lex, type LexedFile, type PpToken } from "../preprocess/lexer.ts";
import type { RawComment } from "../preprocess/comments.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { SourceFile, Span } from "../support/source.ts";

/** Where an item is in the text. */
interface Located {
  readonly span: Span;
  /** Line breaks between the item before and this one. */
  readonly newlines: number;
}

export interface TokenItem extends Located {
  readonly kind: "token";
  readonly token: PpToken;
}

export interface CommentItem extends Located {
  readonly kind: "comment";
  /** With its markers; newlines are `\n`. */
  readonly text: string;
  /** A `//` comment, which ends its line. */
  readonly isLine: boolean;
}

export interface DirectiveItem extends Located {
  readonly kind: "directive";
  /** From `#`, with its continued lines. */
  readonly text: string;
  /** After `#`: `define`, `if`, …; empty for text that `#if 0` skips. */
  readonly word: string;
  /** What follows `#`. */
  readonly tokens: readonly PpToken[];
}

export type Item = TokenItem | CommentItem | DirectiveItem;

/** A token or comment, before lines are known. */
type Raw =
  | { readonly kind: "token"; readonly token: PpToken; readonly span: Span }
  | { readonly kind: "comment"; readonly comment: RawComment; readonly span: Span };

const NEWLINE = /\r\n|\r|\n/g;
const SPLICE = /\\[ \t\v\f]*(?:\r\n|\r|\n)/g;

/** All items of a file. */
export function itemsOf(lexed: LexedFile): readonly Item[] {
  const { file } = lexed;
  const raw: Raw[] = [
    ...lexed.tokens.filter(({ kind }) => kind !== "end").map((token): Raw => ({
      kind: "token",
      token,
      span: token.span,
    })),
    ...lexed.rawComments.map((comment): Raw => ({ kind: "comment", comment, span: comment.span })),
  ].sort((a, b) => a.span.start - b.span.start);
  const items: Item[] = [];
  let end = 0;
  const locate = (start: number, last: number): Located => {
    const gap = file.text.slice(end, start).replace(SPLICE, "");
    end = last;
    return { span: { file, start, end: last }, newlines: gap.match(NEWLINE)?.length ?? 0 };
  };
  for (let at = 0; at < raw.length;) {
    const first = raw[at];
    if (first === undefined) break;
    if (first.kind === "comment") {
      const { line } = first.comment;
      const text = textOf(file, first.span);
      const located = locate(first.span.start, first.span.end);
      items.push({ kind: "comment", text: line ? text.trimEnd() : text, isLine: line, ...located });
      at++;
    } else if (first.token.text === "#" && first.token.lineStart) {
      const length = lengthOfLine(raw, at);
      const directive = directiveOf(file, raw.slice(at, at + length));
      at += length;
      items.push({ ...directive, ...locate(directive.span.start, directive.span.end) });
      if (!isNever(directive)) continue;
      const skipped = lengthOfSkipped(raw, at);
      const last = raw[at + skipped - 1];
      const start = raw[at];
      if (start === undefined || last === undefined || skipped === 0) continue;
      // From the beginning of its line, because the whole of it stays as it is.
      const from = file.text.lastIndexOf("\n", start.span.start) + 1;
      items.push({
        kind: "directive",
        word: "",
        tokens: [],
        text: textOf(file, { file, start: from, end: last.span.end }),
        ...locate(from, last.span.end),
      });
      at += skipped;
    } else {
      items.push({
        kind: "token",
        token: first.token,
        ...locate(first.span.start, first.span.end),
      });
      at++;
    }
  }
  return items;
}

function textOf(file: SourceFile, { start, end }: Span): string {
  return file.text.slice(start, end).replace(NEWLINE, "\n");
}

/** Items of the directive that begins here: to the end of its line, with the comments between. */
function lengthOfLine(raw: readonly Raw[], at: number): number {
  for (let end = at + 1; end < raw.length; end++) {
    const one = raw[end];
    if (one?.kind === "token" ? one.token.lineStart : one?.comment.ownLine) return end - at;
  }
  return raw.length - at;
}

function directiveOf(file: SourceFile, line: readonly Raw[]): Omit<DirectiveItem, "newlines"> {
  const [, ...tokens] = line.flatMap((one) => one.kind === "token" ? [one.token] : []);
  const start = line[0]?.span.start ?? 0;
  const span = { file, start, end: line.at(-1)?.span.end ?? start };
  const written = textOf(file, span);
  const tidy = tidyDirective(written);
  const text = hasTokens(tidy, tokens) ? tidy : written;
  return { kind: "directive", word: tokens[0]?.text ?? "", tokens, text, span };
}

/** One blank before each backslash that ends a line, none at the end, and `#word` in one piece. */
function tidyDirective(text: string): string {
  return text.replace(/^#[ \t]+/, "#")
    .replace(/[ \t]+\\[ \t\v\f]*\n/g, " \\\n")
    .replace(/\\[ \t\v\f]+\n/g, "\\\n")
    .trimEnd();
}

function hasTokens(text: string, tokens: readonly PpToken[]): boolean {
  const [, ...found] = lex({ name: "", text }, new Reporter()).tokens;
  return found.length === tokens.length + 1 &&
    tokens.every(({ text, spaceBefore }, i) =>
      found[i]?.text === text && (i === 0 || found[i]?.spaceBefore === spaceBefore)
    );
}

/** `#if 0`. */
function isNever({ word, tokens }: Pick<DirectiveItem, "word" | "tokens">): boolean {
  return word === "if" && tokens.length === 2 && tokens[1]?.text === "0";
}

/** Items until the `#else`, `#elif…` or `#endif` of the condition before. */
function lengthOfSkipped(raw: readonly Raw[], from: number): number {
  let depth = 0;
  for (let at = from; at < raw.length; at++) {
    const one = raw[at];
    if (one?.kind !== "token" || one.token.text !== "#" || !one.token.lineStart) continue;
    const next = raw[at + 1];
    const word = next?.kind === "token" && !next.token.lineStart ? next.token.text : "";
    if (word.startsWith("if")) depth++;
    else if (depth === 0 && /^(?:el|endif$)/.test(word)) return at - from;
    else if (word === "endif") depth--;
  }
  return raw.length - from;
}

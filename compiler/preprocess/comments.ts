/** Comments as documentation: neighbouring lines joined, markers stripped, found again above a function. */
import type { SourceFile, Span } from "../support/source.ts";

/** A comment that has lines of its own; `//` lines below one another are one comment. */
export interface Comment {
  /** Without markers and common decoration. */
  readonly text: string;
  readonly span: Span;
}

/** One comment as the lexer meets it. */
export interface RawComment {
  readonly span: Span;
  /** Between the markers. */
  readonly body: string;
  readonly line: boolean;
  /** No code precedes it on its line. */
  readonly ownLine: boolean;
}

/** Joins what belongs together and drops comments that follow code. */
export function collectComments(file: SourceFile, raw: readonly RawComment[]): readonly Comment[] {
  const comments: Comment[] = [];
  let lines: string[] = [];
  let span: Span | undefined;
  const flush = (): void => {
    if (span !== undefined) comments.push({ text: trimLines(lines), span });
    lines = [];
    span = undefined;
  };
  for (const comment of raw) {
    if (!comment.ownLine) {
      flush();
    } else if (!comment.line) {
      flush();
      comments.push({ text: blockText(comment.body), span: comment.span });
    } else {
      if (span !== undefined && !adjoins(file, span.end, comment.span.start)) flush();
      lines.push(comment.body.replace(/^\/*[ \t]?/, ""));
      span = { file, start: span?.start ?? comment.span.start, end: comment.span.end };
    }
  }
  flush();
  return comments;
}

/** Only blanks and one newline between two offsets. */
function adjoins(file: SourceFile, from: number, to: number): boolean {
  return /^[ \t]*(?:\r\n|\r|\n)?[ \t]*$/.test(file.text.slice(from, to));
}

/** The inside of a block comment without the stars that some people put before every line. */
function blockText(body: string): string {
  const lines = body.replace(/^\*+/, "").replace(/\*+$/, "").split(/\r\n|\r|\n/);
  const starred = lines.slice(1).every((line) => /^\s*(?:\*|$)/.test(line));
  const stripped = lines.map((line, i) =>
    starred && i > 0 ? line.replace(/^\s*\*+ ?/, "") : line.trimStart()
  );
  return trimLines(stripped);
}

function trimLines(lines: readonly string[]): string {
  return lines.map((line) => line.trimEnd()).join("\n").replace(/^\n+|\n+$/g, "");
}

const NEWLINE = "(?:\\r\\n|\\r|\\n)";
const PRAGMA_LINE = `[ \\t]*#[ \\t]*pragma\\b(?:\\\\[ \\t]*${NEWLINE}|[^\\r\\n])*${NEWLINE}`;
const BETWEEN = new RegExp(`^[ \\t]*(?:${NEWLINE}(?:${PRAGMA_LINE})*)?[ \\t]*$`);

/**
 * The text of the comment that ends right above an offset, where a definition begins; empty if there is
 * none. `#pragma` lines may be between the two, empty lines not.
 */
export function docAbove(comments: readonly Comment[], file: SourceFile, offset: number): string {
  const above = comments.findLast(({ span }) => span.file === file && span.end <= offset);
  if (above === undefined) return "";
  return BETWEEN.test(file.text.slice(above.span.end, offset)) ? above.text : "";
}

/**
 * Source text and positions in it. Every token, node and value carries a {@linkcode Span}, also through
 * macro expansion, so that a diagnostic can always show the characters that a person wrote.
 */

/** One text of a compilation: a file, or the value of a `-D`, named like `<-D TM>`. */
export interface SourceFile {
  /** From the project's root; what diagnostics show. */
  readonly name: string;
  /** All of it, as it was written. */
  readonly text: string;
}

/** Half-open range of UTF-16 offsets into the original text of a file. */
export interface Span {
  /** The text. */
  readonly file: SourceFile;
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
  /** Set when the text is from a macro expansion: where it was used. Chains through nested macros. */
  readonly expansion?: Expansion;
}

/** The use of a macro that produced a token. */
export interface Expansion {
  /** Its name. */
  readonly macro: string;
  /** Where it is. */
  readonly use: Span;
}

/** 1-based line and column, in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const lineStartsCache = new WeakMap<SourceFile, readonly number[]>();

function lineStarts(file: SourceFile): readonly number[] {
  let starts = lineStartsCache.get(file);
  if (starts === undefined) {
    const found = [0];
    const newline = /\r\n|\r|\n/g;
    for (let m = newline.exec(file.text); m !== null; m = newline.exec(file.text)) {
      found.push(m.index + m[0].length);
    }
    starts = found;
    lineStartsCache.set(file, starts);
  }
  return starts;
}

/** The position of an offset. */
export function positionOf(file: SourceFile, offset: number): Position {
  const starts = lineStarts(file);
  let lo = 0;
  let hi = starts.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if ((starts[mid] ?? 0) <= offset) lo = mid;
    else hi = mid - 1;
  }
  return { line: lo + 1, column: offset - (starts[lo] ?? 0) + 1 };
}

/** The text of a 1-based line without its newline. */
export function lineText(file: SourceFile, line: number): string {
  const starts = lineStarts(file);
  const start = starts[line - 1] ?? file.text.length;
  const end = starts[line] ?? file.text.length;
  return file.text.slice(start, end).replace(/[\r\n]+$/, "");
}

/** The smallest span that covers both; the first one's when they lie in different files. */
export function joinSpans(a: Span, b: Span): Span {
  if (a.file !== b.file || a.expansion !== b.expansion) {
    // Tokens of different origin: climb to the location in the main text where both were used.
    const [ra, rb] = [useSite(a), useSite(b)];
    if (ra.file !== rb.file) return a;
    return { file: ra.file, start: Math.min(ra.start, rb.start), end: Math.max(ra.end, rb.end) };
  }
  const { file, expansion } = a;
  const [start, end] = [Math.min(a.start, b.start), Math.max(a.end, b.end)];
  return expansion === undefined ? { file, start, end } : { file, start, end, expansion };
}

/** The outermost location where a span was used: itself, unless it is from a macro expansion. */
export function useSite(span: Span): Span {
  let at = span;
  while (at.expansion !== undefined) at = at.expansion.use;
  return at;
}

/** The text that a span covers where it was written, on one line; of macros their use. */
export function sourceText(span: Span): string {
  const { file, start, end } = useSite(span);
  return file.text.slice(start, end).replace(/\s+/g, " ");
}

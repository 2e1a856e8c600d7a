/**
 * Diagnostics as text for a terminal and as data for tools. The shape is the one that readers of other
 * compilers know:
 *
 *     error[E2001]: `TN` is not declared
 *      --> kernels/t.tc:4:9
 *       |
 *     4 | int rn[TN] = 0 ... TN;
 *       |        ^^
 *       = help: pass `-DTN=…` or declare it with `#pragma tri`
 */
import { abridge } from "./abridge.ts";
import type { Diagnostic, Note } from "./diagnostic.ts";
import { type Expansion, lineText, type Position, positionOf, type Span } from "./source.ts";

/** How diagnostics look. */
export interface RenderOptions {
  /** ANSI colours, for terminals. */
  readonly color: boolean;
}

const STYLES = {
  error: "\x1b[1;31m",
  warning: "\x1b[1;33m",
  note: "\x1b[1;36m",
  help: "\x1b[1;32m",
  gutter: "\x1b[34m",
  bold: "\x1b[1m",
} as const;
type Style = keyof typeof STYLES;
type Paint = (style: Style, text: string) => string;

const TAB_WIDTH = 4;
/** Columns of source shown; longer lines are cut around the span. */
const MAX_COLUMNS = 100;
/** Columns kept on each side of the span in a cut line. */
const CONTEXT_COLUMNS = 30;
/** Longer chains of macros show their two ends. */
const MAX_CHAIN = 6;

/** One diagnostic as lines of text, ending in a newline. */
export function renderDiagnostic(diagnostic: Diagnostic, { color }: RenderOptions): string {
  const paint: Paint = (style, text) => color ? `${STYLES[style]}${text}\x1b[0m` : text;
  const { code, severity, message, span, notes, hint, fix } = diagnostic;
  const title = `${paint(severity, `${severity}[${code}]`)}${
    paint("bold", `: ${visible(abridge(message))}`)
  }`;
  const lines = [title, ...renderLocation(span, severity, paint)];
  if (hint !== undefined) lines.push(remark("help", hint, paint));
  if (fix !== undefined && !saysAlready(hint, fix.replacement)) {
    lines.push(remark("help", describeFix(fix.span, fix.replacement), paint));
  }
  for (const note of [...expansionNotes(span), ...notes]) {
    if (note.span === undefined) lines.push(remark("note", note.message, paint));
    else {
      lines.push(`${paint("note", "note")}: ${visible(abridge(note.message))}`);
      lines.push(...renderLocation(note.span, "note", paint));
    }
  }
  return `${lines.join("\n")}\n`;
}

function remark(kind: "help" | "note", text: string, paint: Paint): string {
  return `  ${paint("gutter", "=")} ${paint(kind, kind)}: ${visible(abridge(text))}`;
}

function saysAlready(hint: string | undefined, replacement: string): boolean {
  return replacement.trim() !== "" && hint?.includes(replacement) === true;
}

function describeFix({ file, start, end }: Span, replacement: string): string {
  const old = file.text.slice(start, end);
  if (old === "") return `insert \`${replacement}\``;
  return replacement.trim() === ""
    ? `remove \`${old}\``
    : `replace \`${old}\` with \`${replacement}\``;
}

/** ` --> file:line:column`, the line and its underline. */
function renderLocation(span: Span, style: Style, paint: Paint): string[] {
  const { line, column } = positionOf(span.file, span.start);
  const number = `${line}`;
  const margin = " ".repeat(number.length);
  const bar = paint("gutter", "|");
  const { shown, before, width } = excerpt(span, { line, column });
  const underline = paint(style, "^".repeat(Math.max(1, width)));
  return [
    `${margin}${paint("gutter", "-->")} ${visible(span.file.name)}:${line}:${column}`,
    `${margin} ${bar}`,
    `${paint("gutter", number)} ${bar} ${shown}`.trimEnd(),
    `${margin} ${bar} ${" ".repeat(before)}${underline}`,
  ];
}

interface Excerpt {
  readonly shown: string;
  /** Columns before the underline, and its width. */
  readonly before: number;
  readonly width: number;
}

/** The line as it is shown: tabs widened, controls made visible, cut to size around the span. */
function excerpt({ file, start, end }: Span, { line, column }: Position): Excerpt {
  const text = lineText(file, line);
  const from = Math.min(column - 1, text.length);
  // A span over several lines is shown by its first.
  const to = Math.max(from, Math.min(from + (end - start), text.length));
  const head = widen(text.slice(0, from), 0);
  const marked = widen(text.slice(from, to), columns(head));
  const tail = widen(text.slice(to), columns(head) + columns(marked));
  if (columns(head + marked + tail) <= MAX_COLUMNS) {
    return { shown: head + marked + tail, before: columns(head), width: columns(marked) };
  }
  const keptHead = columns(head) > CONTEXT_COLUMNS ? `…${head.slice(-CONTEXT_COLUMNS)}` : head;
  const room = MAX_COLUMNS - columns(keptHead);
  const keptMarked = columns(marked) > room ? `${marked.slice(0, room - 1)}…` : marked;
  const tailRoom = room - columns(keptMarked);
  const keptTail = columns(tail) > tailRoom ? `${tail.slice(0, Math.max(0, tailRoom - 1))}…` : tail;
  const shown = keptHead + keptMarked + keptTail;
  return { shown, before: columns(keptHead), width: columns(keptMarked) };
}

/** Tabs as blanks up to the next stop, for a text that begins in a column. */
function widen(text: string, column: number): string {
  let widened = "";
  let at = column;
  for (const piece of text.split(/(\t)/)) {
    const shown = piece === "\t" ? " ".repeat(TAB_WIDTH - at % TAB_WIDTH) : visible(piece);
    widened += shown;
    at += columns(shown);
  }
  return widened;
}

/** Without characters that would move the cursor, recolour the terminal or reverse the text. */
function visible(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** Scripts and pictures whose characters are two columns wide (Unicode, annex 11, roughly). */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u{3000}-\u{303f}\u{ff01}-\u{ff60}]/u;

/** Columns on a terminal: combining marks take none, East Asian characters and pictures two. */
function columns(text: string): number {
  if (/^\p{ASCII}*$/u.test(text)) return text.length;
  let count = 0;
  for (const char of text) count += /\p{Mn}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return count;
}

/** The macros whose expansion contains a span, innermost first. */
function expansionNotes({ expansion }: Span): Note[] {
  const chain: Expansion[] = [];
  for (let at = expansion; at !== undefined; at = at.use.expansion) chain.push(at);
  const notes = chain.map(({ macro, use }): Note => ({
    message: `in expansion of macro \`${macro}\``,
    span: use,
  }));
  if (notes.length <= MAX_CHAIN) return notes;
  const left = notes.length - MAX_CHAIN;
  const half = MAX_CHAIN / 2;
  return [
    ...notes.slice(0, half),
    { message: `${left} more macros in between` },
    ...notes.slice(-half),
  ];
}

/** A range of a text, both ends as 1-based lines and columns in UTF-16 units. */
export interface JsonLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A diagnostic as plain data, as `--json` prints it. */
export interface JsonDiagnostic extends JsonLocation {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** The macros whose expansion contains it, innermost first, and where each was used. */
  readonly expansions: readonly (JsonLocation & { readonly macro: string })[];
  readonly notes: readonly ({ readonly message: string } & Partial<JsonLocation>)[];
  readonly hint?: string;
  readonly fix?: JsonLocation & { readonly replacement: string };
}

/** One diagnostic as plain data. */
export function diagnosticToJson(diagnostic: Diagnostic): JsonDiagnostic {
  const { code, severity, message, span, notes, hint, fix } = diagnostic;
  const expansions: (JsonLocation & { macro: string })[] = [];
  for (let at = span.expansion; at !== undefined; at = at.use.expansion) {
    expansions.push({ macro: at.macro, ...location(at.use) });
  }
  return {
    code,
    severity,
    message,
    ...location(span),
    expansions,
    notes: notes.map((note) => ({
      message: note.message,
      ...(note.span === undefined ? {} : location(note.span)),
    })),
    ...(hint === undefined ? {} : { hint }),
    ...(fix === undefined ? {} : { fix: { ...location(fix.span), replacement: fix.replacement } }),
  };
}

function location({ file, start, end }: Span): JsonLocation {
  const first = positionOf(file, start);
  const last = positionOf(file, end);
  return {
    file: file.name,
    line: first.line,
    column: first.column,
    endLine: last.line,
    endColumn: last.column,
  };
}

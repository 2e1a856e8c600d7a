/**
 * Phase 1 and 2 of translation (language.md, 1.1): bytes to text, and lines joined where a backslash ends
 * them. Joining moves offsets, so the result maps its offsets back to the source text.
 */
import type { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";

/** Where one backslash-newline was cut out. */
export interface Cut {
  /** Offset in the joined text of the first character after the cut. */
  readonly at: number;
  /** Characters cut out so far, this one included. */
  readonly shift: number;
  /** Offset of the backslash in the original text. */
  readonly origin: number;
}

export interface JoinedText {
  readonly file: SourceFile;
  readonly text: string;
  readonly cuts: readonly Cut[];
}

const BYTE_ORDER_MARK = 0xfeff;

/** Decodes a file's bytes. A byte order mark is dropped; bytes that are not UTF-8 are E1001. */
export function decodeSource(name: string, bytes: Uint8Array, reporter: Reporter): SourceFile {
  const text = new TextDecoder().decode(bytes);
  const file = { name, text };
  const bad = firstBadByte(bytes);
  if (bad !== undefined) {
    const start = new TextDecoder().decode(bytes.subarray(0, bad)).length;
    const shown = (bytes[bad] ?? 0).toString(16).padStart(2, "0");
    reporter.error("E1001", { file, start, end: start + 1 }, `the byte 0x${shown} is not UTF-8`, {
      hint: "save the file as UTF-8",
    });
  }
  return file;
}

/** Offset of the first byte that no UTF-8 text has there (RFC 3629, section 4). */
function firstBadByte(bytes: Uint8Array): number | undefined {
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return undefined;
}

/** Length of the valid UTF-8 sequence at an offset; 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead <= 0xdf
    ? 2
    : lead >> 4 === 0xe
    ? 3
    : lead >= 0xf0 && lead <= 0xf4
    ? 4
    : 0;
  if (length === 0) return 0;
  for (let i = 1; i < length; i++) {
    if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  const second = bytes[at + 1] ?? 0;
  const overlong = (lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90);
  const surrogate = lead === 0xed && second >= 0xa0;
  const beyond = lead === 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

/** Joins continued lines. Blanks between the backslash and the newline are W1003. */
export function joinLines(file: SourceFile, reporter: Reporter): JoinedText {
  const { text } = file;
  const splice = /\\([ \t\v\f]*)(?:\r\n|\r|\n)/g;
  const cuts: Cut[] = [];
  let joined = "";
  let copied = 0;
  let shift = 0;
  for (let match = splice.exec(text); match !== null; match = splice.exec(text)) {
    joined += text.slice(copied, match.index);
    copied = match.index + match[0].length;
    shift += match[0].length;
    cuts.push({ at: joined.length, shift, origin: match.index });
    const blanks = match[1] ?? "";
    if (blanks !== "") {
      const span = { file, start: match.index, end: match.index + 1 + blanks.length };
      reporter.warn("W1003", span, "white space follows the backslash that continues this line", {
        fix: { span: { file, start: span.start + 1, end: span.end }, replacement: "" },
      });
    }
  }
  joined = cuts.length === 0 ? text : joined + text.slice(copied);
  reportUnreadable(file, reporter);
  return { file, text: joined, cuts };
}

/** Characters that no text may hold: NUL, and halves of surrogate pairs. */
function reportUnreadable(file: SourceFile, reporter: Reporter): void {
  const nul = file.text.indexOf("\0");
  if (nul >= 0) {
    reporter.error(
      "E1002",
      { file, start: nul, end: nul + 1 },
      "the text contains a NUL character",
    );
  }
  if (!file.text.isWellFormed()) {
    const start = file.text.search(/\p{Surrogate}/u);
    reporter.error(
      "E1001",
      { file, start, end: start + 1 },
      "an unpaired surrogate is not a character",
    );
  }
}

/** Where the text proper begins: after a byte order mark. */
export function textStart(text: string): number {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
}

/** The original offset of a character of the joined text. */
export function originalOffset(joined: JoinedText, offset: number): number {
  const { cuts } = joined;
  let lo = 0;
  let hi = cuts.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((cuts[mid]?.at ?? 0) <= offset) lo = mid + 1;
    else hi = mid;
  }
  return offset + (cuts[lo - 1]?.shift ?? 0);
}

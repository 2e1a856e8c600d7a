/**
 * A statement to lines. Line breaks of the user stay where there may be one: after commas, operators and opening
 * brackets. What is longer than a line is broken at the outermost of these; the next line begins below the first thing
 * in the innermost bracket, or four columns to the right.
 */
import { LINE_WIDTH, type Piece } from "./piece.ts";
import type { Statement } from "./statements.ts";

const INDENT = 2;
const CONTINUATION = 4;
/** What is in a bracket further to the right than this is not aligned with it. */
const LAST_ALIGNED = 60;

/** A bracket that is open while lines are laid out. */
interface OpenBracket {
  /** Where lines in it begin. */
  readonly column: number;
  /** Where the line began that it is on. */
  readonly lineColumn: number;
  /** A line break follows it, and precedes its closing bracket. */
  readonly hangs: boolean;
}

export function linesOf({ pieces, indent }: Statement): readonly string[] {
  return new Layout(pieces, indent * INDENT).run();
}

class Layout {
  readonly #pieces: readonly Piece[];
  readonly #breaks: Uint8Array;
  readonly #lines: string[] = [];
  readonly #open: OpenBracket[] = [];
  readonly #base: number;
  #line: string;
  #lineColumn: number;
  #isEmpty = true;

  constructor(pieces: readonly Piece[], base: number) {
    this.#pieces = pieces;
    this.#base = base;
    this.#line = " ".repeat(base);
    this.#lineColumn = base;
    this.#breaks = breaksOf(pieces);
  }

  run(): readonly string[] {
    for (const [i, piece] of this.#pieces.entries()) {
      if (i > 0 && this.#breaks[i] === 1) this.#newLine(piece);
      this.#put(piece, i);
      if (this.#breaks[i + 1] !== 1) this.#breakIfLong(i + 1);
    }
    this.#endLine();
    return this.#lines;
  }

  #put(piece: Piece, at: number): void {
    if (piece.role === "directive") {
      const isFirst = this.#pieces.length === 1;
      this.#lines.push((isFirst ? this.#line : "") + piece.text);
      this.#line = "";
      return;
    }
    if (piece.role === "close") this.#open.pop();
    this.#line += (this.#isEmpty || !piece.space ? "" : " ") +
      (piece.role === "comment" ? this.#moved(piece) : piece.text);
    this.#isEmpty = false;
    if (piece.role !== "open") return;
    const hangs = this.#breaks[at + 1] === 1;
    const column = this.#line.length + (this.#pieces[at + 1]?.space === true ? 1 : 0);
    this.#open.push({
      lineColumn: this.#lineColumn,
      hangs,
      column: hangs || column > LAST_ALIGNED
        ? this.#lineColumn + (piece.text === "{" ? INDENT : CONTINUATION)
        : column,
    });
  }

  /** A comment of several lines keeps their positions to one another. */
  #moved({ text, space, column = 0 }: Piece): string {
    const at = this.#line.length + (this.#isEmpty || !space ? 0 : 1);
    return text.split("\n").map((line, i) => {
      if (i === 0) return line.trimEnd();
      const width = line.length - line.trimStart().length;
      return line.trim() === "" ? "" : " ".repeat(Math.max(0, width + at - column)) + line.trim();
    }).join("\n");
  }

  #newLine(piece: Piece): void {
    this.#endLine();
    const top = this.#open.at(-1);
    const column = top === undefined
      ? this.#base + CONTINUATION
      : piece.role === "close"
      ? top.lineColumn
      : top.column;
    this.#line = " ".repeat(column);
    this.#lineColumn = column;
    this.#isEmpty = true;
  }

  #endLine(): void {
    if (!this.#isEmpty) this.#lines.push(this.#line);
    this.#line = "";
    this.#isEmpty = true;
  }

  /** Chooses the next break if what follows until the next one does not fit the line any more. */
  #breakIfLong(from: number): void {
    const pieces = this.#pieces;
    let width = this.#line.length;
    let best = -1;
    let end = from;
    for (; end < pieces.length && this.#breaks[end] !== 1; end++) {
      if (width > LINE_WIDTH && best >= 0) break;
      const piece = pieces[end];
      if (piece === undefined || piece.role === "directive") break;
      const fits = width <= LINE_WIDTH;
      if (mayBreak(pieces, end) && (fits || best < 0)) {
        const isBetter = best < 0 || breakCost(pieces, end) <= breakCost(pieces, best);
        if (isBetter) best = end;
      }
      width += piece.text.length + (piece.space ? 1 : 0);
    }
    if (width <= LINE_WIDTH || best !== from) return;
    this.#breaks[from] = 1;
    this.#forget(from);
  }

  /** What follows a break that was necessary is filled anew, to the end of the bracket. */
  #forget(from: number): void {
    const pieces = this.#pieces;
    const depth = pieces[from - 1]?.depth ?? 0;
    for (let at = from + 1; at < pieces.length; at++) {
      const [last, piece] = [pieces[at - 1], pieces[at]];
      if (last === undefined || piece === undefined || piece.depth < depth) return;
      if (last.depth === depth && !isForced(last, piece)) this.#breaks[at] = 0;
    }
  }
}

/** 1 at pieces that begin a line. */
function breaksOf(pieces: readonly Piece[]): Uint8Array {
  const breaks = new Uint8Array(pieces.length + 1);
  const open: number[] = [];
  for (const [i, piece] of pieces.entries()) {
    const last = pieces[i - 1];
    if (piece.role === "open") open.push(i);
    if (piece.role === "close") {
      const from = open.pop();
      if (from !== undefined && breaks[from + 1] === 1 && i > from + 1) breaks[i] = 1;
    }
    if (last === undefined) continue;
    if (isForced(last, piece)) breaks[i] = 1;
    else if (piece.newline && isBreak(last, piece)) breaks[i] = 1;
    // A break before an operator moves to after it.
    else if (last.newline && isOperator(last) && !isOperator(piece) && i > 1) breaks[i] = 1;
  }
  return breaks;
}

/** Whether a line must end between two pieces. */
function isForced(last: Piece, piece: Piece): boolean {
  return last.role === "line-comment" || last.role === "directive" ||
    piece.role === "directive" || (isComment(piece) && piece.newline);
}

function isComment({ role }: Piece): boolean {
  return role === "comment" || role === "line-comment";
}

function isOperator({ role }: Piece): boolean {
  return role === "binary" || role === "assign";
}

/** Whether a line may end between two pieces. */
function isBreak(last: Piece, piece: Piece): boolean {
  if (piece.role === "close") return false;
  if (isComment(piece)) return true;
  return last.role === "comma" || last.role === "semicolon" || isOperator(last) ||
    last.role === "comment" || (last.role === "open" && last.text !== "[") ||
    (last.token?.kind === "string" && piece.token?.kind === "string");
}

/** The same for lines that are too long: never directly after a bracket. */
function mayBreak(pieces: readonly Piece[], at: number): boolean {
  const [last, piece] = [pieces[at - 1], pieces[at]];
  return last !== undefined && piece !== undefined && last.role !== "open" && isBreak(last, piece);
}

/** Outer breaks are better; one after `=` is as bad as one in a bracket. */
function breakCost(pieces: readonly Piece[], at: number): number {
  const last = pieces[at - 1];
  return (last?.depth ?? 0) + (last?.role === "assign" ? 1 : 0);
}

/** Pieces of a statement, as the formatter places them on lines. */
import type { PpToken } from "../preprocess/lexer.ts";

/** The longest line, in columns. */
export const LINE_WIDTH = 120;

/** What a piece is to its neighbours; blanks and line breaks follow from it. */
export type Role =
  | "word" // identifiers, keywords, literals
  | "open"
  | "close"
  | "unary"
  | "postfix"
  | "member" // `.` and `->`; `<` and `>` of `bitcast<…>`
  | "binary"
  | "assign"
  | "comma"
  | "semicolon"
  | "slice" // `:` of a subscript
  | "colon"
  | "comment"
  | "line-comment"
  | "directive";

export interface Piece {
  readonly text: string;
  readonly role: Role;
  /** The brackets open around it. */
  readonly depth: number;
  /** A blank before it, where it does not begin a line. */
  readonly space: boolean;
  /** The user began a line with it. */
  readonly newline: boolean;
  /** Undefined for comments and directives. */
  readonly token?: PpToken;
  /** Of a comment: the column at which it began. */
  readonly column?: number;
}

/** What brackets are for. */
export type BracketKind =
  | "call" // of a function, macro or attribute; parameters
  | "header" // of `if`, `for`, `while`
  | "mask" // `*?(…)`
  | "group"
  | "square"
  | "list"; // `{…}` that holds values or names

export interface Bracket {
  readonly kind: BracketKind;
  /** Index of its opening piece in the statement. */
  readonly from: number;
  /** The text of what is inside may become a string: blanks stay as they are. */
  readonly verbatim: boolean;
}

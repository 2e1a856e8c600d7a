/**
 * The blanks between two tokens of a statement. Whether `*` multiplies or points, and whether parentheses are a cast,
 * depends on what is before; where types and values look the same, {@linkcode Names} decides. A wrong guess is only a
 * matter of looks.
 */
import { keywordGroup } from "../preprocess/keywords.ts";
import { isPunctuator, type PpToken } from "../preprocess/lexer.ts";
import type { Names } from "./names.ts";
import type { Bracket, BracketKind, Piece, Role } from "./piece.ts";

/** A statement as far as it is known. */
export interface Context {
  readonly pieces: readonly Piece[];
  /** Innermost last. */
  readonly brackets: readonly Bracket[];
  /** Index of the piece that begins the statement: after `if (…)` on the same line, the next one. */
  readonly start: number;
  /** Whether it is outside of functions, so that parentheses have parameters. */
  readonly isOutside: boolean;
  readonly names: Names;
}

const ASSIGNMENTS: ReadonlySet<string> = new Set(
  ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "@="],
);
/** Operators that may have an operand on their right side only. */
const PREFIXES: ReadonlySet<string> = new Set(["+", "-", "*", "&", "^", "!", "~", "++", "--"]);
const HEADERS: ReadonlySet<string> = new Set(["if", "for", "while", "switch"]);
/** Words with an operand after them, as operators have. */
const BEFORE_OPERAND: ReadonlySet<string> = new Set(["return", "case", "else", "do", "goto"]);

/** The role of a token that comes next. */
export function roleOf(context: Context, token: PpToken): Role {
  const { kind, text } = token;
  const last = context.pieces.at(-1);
  if (kind !== "punctuator") return "word";
  switch (text) {
    case "(":
    case "[":
    case "{":
      return "open";
    case ")":
    case "]":
    case "}":
      return "close";
    case ",":
      return "comma";
    case ";":
      return "semicolon";
    case ".":
    case "->":
      return "member";
    case ":": {
      if (hasTernary(context)) return "binary";
      return context.brackets.at(-1)?.kind === "square" ? "slice" : "colon";
    }
    case "?":
      // `*?(mask)` loads or stores.
      return last?.role === "unary" && last.text === "*" ? "unary" : "binary";
  }
  if (text === "<" && last?.text === "bitcast") return "member";
  if (text === ">" && isInBitcast(context)) return "member";
  if (ASSIGNMENTS.has(text)) return "assign";
  const isAfterOperand = endsOperand(context);
  if (text === "++" || text === "--") return isAfterOperand ? "postfix" : "unary";
  if (PREFIXES.has(text) && (!isAfterOperand || text === "!" || text === "~")) return "unary";
  return isAfterOperand && isPointerStar(context, text) ? "unary" : "binary";
}

/** Whether a `?` of the innermost bracket has no `:` yet. */
function hasTernary({ pieces, brackets, start }: Context): boolean {
  const from = (brackets.at(-1)?.from ?? start - 1) + 1;
  let open = 0;
  for (const { role, text, depth } of pieces.slice(from)) {
    if (role !== "binary" || depth !== brackets.length) continue;
    if (text === "?") open++;
    else if (text === ":") open--;
  }
  return open > 0;
}

/** Whether the `<` of a `bitcast<…>` in the innermost bracket has no `>` yet. */
function isInBitcast({ pieces, brackets }: Context): boolean {
  const last = pieces.findLast(({ role, depth }) => role === "member" && depth === brackets.length);
  return last?.text === "<";
}

/** Whether what is there so far ends with a value, so that an operator has a left side. */
function endsOperand({ pieces, names }: Context): boolean {
  const last = pieces.findLast(({ role }) => role !== "comment" && role !== "line-comment");
  if (last === undefined) return false;
  if (last.role === "postfix") return true;
  if (last.role === "word") return !BEFORE_OPERAND.has(last.text);
  if (last.role !== "close") return false;
  const opened = openingOf(pieces, pieces.lastIndexOf(last));
  if (last.text !== ")") return true;
  const kind = bracketKind(pieces, opened);
  if (kind === "header" || kind === "mask") return false;
  return kind !== "group" || !names.areType(tokensOf(pieces.slice(opened + 1, -1)));
}

/** `*` after the name of a type. */
function isPointerStar(
  { pieces, brackets, start, isOutside, names }: Context,
  text: string,
): boolean {
  const last = pieces.at(-1);
  if (text !== "*" || last?.role !== "word" || last.token === undefined) return false;
  if (names.isType(last.token.text) || keywordGroup(last.text) === "declaration") return true;
  if (last.token.kind !== "identifier") return false;
  const before = pieces.at(-2)?.role;
  if (brackets.length === 0) return pieces.length - 1 === start;
  return isOutside && brackets.length === 1 && (before === "open" || before === "comma");
}

/** What the bracket is for that a piece opens, by what is before it. */
export function bracketKind(pieces: readonly Piece[], at: number): BracketKind {
  const [piece, before] = [pieces[at], pieces[at - 1]];
  if (piece?.text === "[") return "square";
  if (piece?.text === "{") return "list";
  if (before?.role === "unary" && before.text === "?") return "mask";
  if (before?.role === "word") {
    if (HEADERS.has(before.text)) return "header";
    return BEFORE_OPERAND.has(before.text) ? "group" : "call";
  }
  const isCall = before?.role === "member" || (before?.role === "close" && before.text === "]");
  return isCall ? "call" : "group";
}

/** Index of the bracket that the closing one at an index belongs to. */
export function openingOf(pieces: readonly Piece[], closing: number): number {
  const depth = pieces[closing]?.depth ?? 0;
  for (let at = closing - 1; at >= 0; at--) {
    const piece = pieces[at];
    if (piece?.role === "open" && piece.depth === depth) return at;
  }
  return 0;
}

function tokensOf(pieces: readonly Piece[]): readonly PpToken[] {
  return pieces.flatMap(({ token }) => token === undefined ? [] : [token]);
}

/** Whether a blank is before a token of this role. */
export function hasSpace(context: Context, token: PpToken, role: Role): boolean {
  const { pieces, brackets } = context;
  const last = pieces.at(-1);
  if (last === undefined) return false;
  if (brackets.at(-1)?.verbatim === true) return token.spaceBefore;
  if (last.role === "comment" || last.role === "line-comment") return true;
  return wantsSpace(context, last, token, role) || wouldJoin(last, token);
}

function wantsSpace(context: Context, last: Piece, token: PpToken, role: Role): boolean {
  const { pieces, brackets } = context;
  if (role === "comma" || role === "semicolon" || role === "postfix") return false;
  if (role === "slice") return last.role === "comma";
  if (role === "member" || last.role === "member" || role === "colon") return false;
  if (token.text === "}") return last.text !== "{";
  if (role === "close") return false;
  if (last.role === "open") return last.text === "{";
  if (last.role === "unary") return false;
  if (last.role === "slice") return false;
  // `a ?: b`
  if (role === "binary") return token.text !== ":" || last.text !== "?";
  if (role === "assign") return true;
  if (last.role !== "close" && last.role !== "word" && last.role !== "postfix") return true;
  if (role === "open") return wantsSpaceToOpen(pieces, last, token, brackets);
  if (last.text !== ")") return true;
  const kind = bracketKind(pieces, openingOf(pieces, pieces.length - 1));
  // `(float)x`; after a call, a word of a declaration.
  return kind !== "group";
}

function wantsSpaceToOpen(
  pieces: readonly Piece[],
  last: Piece,
  { text }: PpToken,
  brackets: readonly Bracket[],
): boolean {
  if (text === "{") return true;
  if (last.role === "word") {
    if (text === "[") return BEFORE_OPERAND.has(last.text);
    return HEADERS.has(last.text) || BEFORE_OPERAND.has(last.text);
  }
  if (text === "[" || last.text !== ")") return last.text === "}" && brackets.length > 0;
  const kind = bracketKind(pieces, openingOf(pieces, pieces.length - 1));
  return kind === "header" || kind === "mask";
}

/** Whether two tokens without a blank between them would be others: `- -x`, `a b`, `1 .x`. */
function wouldJoin({ text: left, token }: Piece, { text: right }: PpToken): boolean {
  if (token?.kind === "number") return /^[\w.]/.test(right) && !right.startsWith("..");
  if (/\w$/.test(left) && /^\w/.test(right)) return true;
  if (left.endsWith(".") && /^[.\d]/.test(right)) return true;
  if (left === "/" && /^[/*]/.test(right)) return true;
  return [...right].some((_, i) => isPunctuator(left + right.slice(0, i + 1)));
}

/**
 * The parser's position in the token list, and what happens when a token does not fit.
 *
 * The first token that does not fit is reported and the cursor *gets stuck*: from then on it shows the end of the text,
 * so that every parsing function finishes its node, without a check of its own and without a message. The rules that
 * can continue (a statement, a declaration, a parenthesised header) ask the cursor to recover. So an error costs one
 * message, the tree stays whole around it, and nothing is thrown.
 */
import type { DiagnosticDetails, Reporter } from "../support/diagnostic.ts";
import { matchBrackets } from "../preprocess/brackets.ts";
import { KEYWORDS } from "../preprocess/keywords.ts";
import { joinSpans, positionOf, type Span, useSite } from "../support/source.ts";
import { isWord, type Token } from "../preprocess/token.ts";

/** Deeper nesting than this stops the parse; keeps every recursive phase within the stack. */
const MAX_NESTING = 256;

/** Keywords that can only begin a statement. */
const STATEMENT_WORDS: ReadonlySet<string> = new Set([
  ...KEYWORDS.statement,
  ...["switch", "case", "default", "goto"],
]);

/** Keywords that begin a declaration; at the start of a line hardly ever something else. */
const DECLARATION_WORDS: ReadonlySet<string> = new Set([
  ...KEYWORDS.type,
  ...KEYWORDS.declaration,
  ...["_Static_assert", "static_assert", "struct", "union"],
]);

/** Operators of other languages, where an operator or the end of an expression was expected. */
const FOREIGN_OPERATORS: Readonly<Record<string, string>> = {
  and: "write `&&`",
  or: "write `||`",
};

/** A position in the token list; see the opening comment. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  readonly #reporter: Reporter;
  readonly #last: number;
  readonly #whole: string;
  #index = 0;
  #depth = 0;
  #deepest = 0;
  #links = 0;
  #mostLinks = 0;
  #gaveUp = false;
  #stuckAt: Token | undefined;
  /** Index of the token the last syntax error was reported for: one message per token. */
  #reportedIndex = -1;
  #closers: Int32Array | undefined;

  /** @param whole what the tokens are, for "the end of …" */
  constructor(tokens: readonly Token[], reporter: Reporter, whole: string) {
    this.#tokens = tokens.at(-1)?.kind === "end" ? tokens : [...tokens, endAfter(tokens.at(-1))];
    this.#last = this.#tokens.length - 1;
    this.#reporter = reporter;
    this.#whole = whole;
  }

  /** The current token; an `end` while stuck. */
  get token(): Token {
    return this.#stuckAt ?? this.#at(this.#index);
  }

  /** Whether a token was reported and the parser has not recovered yet. */
  get stuck(): boolean {
    return this.#stuckAt !== undefined;
  }

  /** Index of the current token, for {@linkcode recoverAfter} and for noticing progress. */
  get index(): number {
    return this.#index;
  }

  /** The token `distance` further on. */
  ahead(distance: number): Token {
    return this.#stuckAt ?? this.#at(this.#index + distance);
  }

  /** The index just after the bracket pair that opens `distance` further on, as a distance; 0 if it never closes. */
  pastPair(distance: number): number {
    const close = this.#closerOf(this.#index + distance);
    return close < 0 ? 0 : close + 1 - this.#index;
  }

  /** The span of the token before the current one. */
  get previousSpan(): Span {
    return this.#at(this.#index - 1).span;
  }

  /** The word before the current token if it and the one before it are keywords: `int half`. */
  get previousKeyword(): string | undefined {
    const [before, last] = [this.#at(this.#index - 2), this.#at(this.#index - 1)];
    return before.kind === "keyword" && last.kind === "keyword" ? last.text : undefined;
  }

  /** The smallest span from `start`, the span of an earlier token, to the last consumed one. */
  spanFrom(start: Span): Span {
    const isEmpty = this.#at(this.#index).span === start;
    return isEmpty ? { ...start, end: start.start } : joinSpans(start, this.previousSpan);
  }

  /** Whether the current token is this keyword or punctuator. */
  at(text: string): boolean {
    return isWord(this.token, text);
  }

  atEnd(): boolean {
    return this.token.kind === "end";
  }

  /** Consumes the current token. */
  next(): Token {
    const token = this.token;
    if (this.#stuckAt === undefined && this.#index < this.#last) this.#index++;
    return token;
  }

  /** Consumes the current token if it is this keyword or punctuator. */
  accept(text: string): Token | undefined {
    return this.at(text) ? this.next() : undefined;
  }

  /** Consumes this keyword or punctuator, or gets stuck. */
  expect(text: string, details?: DiagnosticDetails): Token | undefined {
    const token = this.accept(text);
    if (token === undefined) this.fail(`\`${text}\``, details);
    return token;
  }

  /** Consumes the closing bracket of `open`, or gets stuck and shows the opening one. */
  expectClose(text: string, open: Token | undefined): void {
    const notes = open === undefined
      ? []
      : [{ message: `to match this \`${open.text}\``, span: open.span }];
    this.expect(text, { notes });
  }

  /**
   * Consumes `;`. A missing one is reported directly after the previous token; when the next token may begin
   * something new, parsing continues as if it had been there.
   */
  expectSemicolon(details: DiagnosticDetails = {}, expected = "`;`"): void {
    if (this.accept(";") !== undefined || this.stuck) return;
    const previous = useSite(this.previousSpan);
    const gap = { file: previous.file, start: previous.end, end: previous.end };
    this.#report(`expected ${expected}, found ${this.describe()}`, gap, {
      ...details,
      fix: { span: gap, replacement: ";" },
    });
    const token = this.token;
    const afterHeader = isWord(token, "{") && this.#isAt(this.#index - 1, ")");
    const mayBegin = this.#startsLine(this.#index) || isWord(token, "}") ||
      token.kind === "loop-pragma" ||
      STATEMENT_WORDS.has(token.text) || DECLARATION_WORDS.has(token.text) || afterHeader;
    if (!mayBegin) this.#stuckAt = endAt(token);
  }

  /** Reports that the current token is not what the grammar wants here, and gets stuck. */
  fail(expected: string, details: DiagnosticDetails = {}): void {
    this.complain(expected, details);
    this.#stuckAt ??= endAt(this.#at(this.#index));
  }

  /** Like {@linkcode fail}, but parsing continues at the current token. */
  complain(expected: string, details: DiagnosticDetails = {}): void {
    if (this.stuck) return;
    this.#report(`expected ${expected}, found ${this.describe()}`, this.token.span, details);
  }

  /** The current token in words. */
  describe(): string {
    const { kind, text } = this.token;
    if (kind === "end") return `the end of the ${this.#whole}`;
    if (kind === "loop-pragma") return "a loop pragma";
    return text.length > 40 ? `\`${text.slice(0, 37)}…\`` : `\`${text}\``;
  }

  /** Forgets what {@linkcode heightBound} has counted. */
  beginItem(): void {
    this.#deepest = this.#depth;
    this.#links = 0;
    this.#mostLinks = 0;
  }

  /** Notes one link of a chain such as `a + b + c`, which makes a tree taller without nesting in the text. */
  link(): void {
    if (++this.#links > this.#mostLinks) this.#mostLinks = this.#links;
  }

  /** Links counted so far on the path from the root, for {@linkcode endBranch}. */
  get links(): number {
    return this.#links;
  }

  /** A subtree ends that began when {@linkcode links} was `before`: what follows is its sibling, not its child. */
  endBranch(before: number): void {
    this.#links = before;
  }

  /** The tree read since {@linkcode beginItem} is no taller. A level of nesting adds at most eight nodes. */
  get heightBound(): number {
    return this.#mostLinks + 8 * (this.#deepest + 1);
  }

  /** Whether the rest of the text was dropped, see {@linkcode enter}. */
  get gaveUp(): boolean {
    return this.#gaveUp;
  }

  /** One level deeper. Beyond {@linkcode MAX_NESTING} the rest of the text is dropped, with one message. */
  enter(): void {
    if (++this.#depth > this.#deepest) this.#deepest = this.#depth;
    if (this.#depth <= MAX_NESTING || this.stuck) return;
    this.#report(`the text is nested more than ${MAX_NESTING} levels deep`, this.token.span, {
      hint: "split it into several statements or helper functions; what follows was not read",
    });
    this.#index = this.#last;
    this.#reportedIndex = this.#last;
    this.#gaveUp = true;
    this.#stuckAt = this.#at(this.#last);
  }

  /** Back from {@linkcode enter}. */
  leave(): void {
    this.#depth--;
  }

  /** After a stuck statement: on at the next `;`, or before whatever must begin or end a statement. */
  recoverStatement(): void {
    if (!this.stuck) return;
    this.#stuckAt = undefined;
    for (;; this.#index++) {
      const token = this.#at(this.#index);
      if (token.kind === "end" || token.kind === "loop-pragma" || isWord(token, "}")) return;
      if (token.kind === "keyword" && STATEMENT_WORDS.has(token.text)) return;
      if (isWord(token, ";")) {
        this.#index++;
        return;
      }
      if (isWord(token, "{")) {
        if (this.#isAt(this.#index - 1, ")")) return; // a header went wrong; its body can be read
        this.#index = Math.max(this.#index, this.#closerOf(this.#index));
      } else if (this.#beginsDeclarationLine(this.#index)) return;
    }
  }

  /**
   * After a stuck top-level item: past its `;` or body if it was a declaration, else on at the next line that
   * begins a declaration no further right than the file's first token (statements that an early `}` left
   * outside are passed over).
   */
  recoverTopLevel(wasDeclaration: boolean): void {
    this.#stuckAt = undefined;
    const margin = this.#column(0);
    for (; this.#index < this.#last; this.#index++) {
      if (this.#beginsDeclarationLine(this.#index) && this.#column(this.#index) <= margin) return;
      if (this.#isAt(this.#index, "{")) {
        this.#index = Math.max(this.#index, this.#closerOf(this.#index));
        if (wasDeclaration) break;
      } else if (wasDeclaration && (this.#isAt(this.#index, ";") || this.#isAt(this.#index, "}"))) {
        break;
      }
    }
    if (this.#index < this.#last) this.#index++;
  }

  /** After getting stuck inside the bracket pair that opens at `open`: on after it. Says whether parsing can go on. */
  recoverAfter(open: number): boolean {
    if (!this.stuck) return true;
    const close = this.#closerOf(open);
    if (close >= this.#index) {
      this.#index = close + 1;
      this.#stuckAt = undefined;
      return true;
    }
    // The pair is never closed. A body may follow directly: `if (a < b { … }`.
    for (let i = this.#index; i < this.#last && !this.#isAt(i, ";") && !this.#isAt(i, "}"); i++) {
      if (!this.#isAt(i, "{")) continue;
      this.#index = i;
      this.#stuckAt = undefined;
      return true;
    }
    return false;
  }

  /** Passes over the bracket pair that opens at the current token. */
  skipPair(): void {
    if (this.stuck) return;
    const close = this.#closerOf(this.#index);
    this.#index = Math.min(this.#last, close < 0 ? this.#index + 1 : close + 1);
  }

  #at(index: number): Token {
    return this.#tokens[Math.max(0, Math.min(index, this.#last))] ?? endAfter(undefined);
  }

  #isAt(index: number, text: string): boolean {
    return index >= 0 && isWord(this.#at(index), text);
  }

  #report(message: string, span: Span, details: DiagnosticDetails): void {
    if (this.#index === this.#reportedIndex) return;
    this.#reportedIndex = this.#index;
    const hint = Object.hasOwn(FOREIGN_OPERATORS, this.token.text)
      ? FOREIGN_OPERATORS[this.token.text]
      : undefined;
    this.#reporter.error(
      "E5003",
      span,
      message,
      hint === undefined ? details : { hint, ...details },
    );
  }

  #column(index: number): number {
    const { file, start } = useSite(this.#at(index).span);
    return positionOf(file, start).column;
  }

  #startsLine(index: number): boolean {
    if (index === 0) return true;
    const before = useSite(this.#at(index - 1).span);
    const here = useSite(this.#at(index).span);
    return before.file !== here.file || /[\r\n]/.test(here.file.text.slice(before.end, here.start));
  }

  #beginsDeclarationLine(index: number): boolean {
    const token = this.#at(index);
    return token.kind === "keyword" && DECLARATION_WORDS.has(token.text) &&
      this.#startsLine(index) &&
      !this.#isAt(index - 1, "(") && !this.#isAt(index - 1, ",");
  }

  /** Index of the bracket that closes the one at `open`, or -1. Read only after an error or for a rare look-ahead. */
  #closerOf(open: number): number {
    this.#closers ??= matchBrackets(this.#tokens);
    return this.#closers[open] ?? -1;
  }
}

/** The end of the list, when the list itself has none. */
function endAfter(token: Token | undefined): Token {
  const span = token?.span ?? { file: { name: "<text>", text: "" }, start: 0, end: 0 };
  return { kind: "end", text: "", span: { ...span, start: span.end }, spaceBefore: false };
}

/** What a stuck cursor shows instead of a token. */
function endAt(token: Token): Token {
  return { kind: "end", text: "", span: token.span, spaceBefore: false };
}

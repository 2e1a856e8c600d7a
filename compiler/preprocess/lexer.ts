/**
 * Text to preprocessing tokens (language.md, 1.1 and 2). This lexer handles neither directives nor macros; it
 * marks the tokens that begin a line, and the preprocessor does the rest. Nothing here is an error that a
 * skipped `#if` group could hide: a stray character becomes a token of kind `other`, which is reported
 * when it reaches the program.
 */
import { type Diagnostic, Reporter } from "../support/diagnostic.ts";
import type { Expansion, SourceFile, Span } from "../support/source.ts";
import { collectComments, type Comment, type RawComment } from "./comments.ts";
import { type JoinedText, joinLines, originalOffset, textStart } from "./text.ts";

export type PpTokenKind =
  | "identifier" // keywords too
  | "number"
  | "char"
  | "string"
  | "punctuator"
  | "other" // a character that begins no token, or a quote without its partner
  | "loop-pragma"
  | "end";

/** Names that must not be expanded in a token any more; undefined: none. */
export type HideSet = ReadonlySet<string>;

/** What both hide. Not by `Set.intersection`, which Node has from version 22 on only. */
export function hiddenInBoth(
  a: HideSet | undefined,
  b: HideSet | undefined,
): HideSet | undefined {
  return a === undefined || b === undefined
    ? undefined
    : new Set([...a].filter((name) => b.has(name)));
}

export interface PpToken {
  readonly kind: PpTokenKind;
  readonly text: string;
  readonly span: Span;
  /** Blank, comment or newline before it. */
  readonly spaceBefore: boolean;
  /** The first token of a line. */
  readonly lineStart: boolean;
  readonly hide?: HideSet;
}

/**
 * A token that came from an expansion. Written out, as is what else copies tokens: `{ ...token, span }` takes a call of
 * the run time for each field that it replaces.
 */
export function tokenFrom(token: PpToken, expansion: Expansion | undefined): PpToken {
  const { kind, text, spaceBefore, lineStart, hide } = token;
  const { file, start, end } = token.span;
  const span: Span = expansion === undefined
    ? { file, start, end }
    : { file, start, end, expansion };
  return hide === undefined
    ? { kind, text, span, spaceBefore, lineStart }
    : { kind, text, span, spaceBefore, lineStart, hide };
}

export interface LexedFile {
  readonly file: SourceFile;
  /** Ends with one token of kind `end`. */
  readonly tokens: readonly PpToken[];
  readonly comments: readonly Comment[];
  /** Every comment by itself, in order. */
  readonly rawComments: readonly RawComment[];
}

/** Longest first where one begins another. */
const PUNCTUATORS = [
  ["...", "<<=", ">>="],
  ["->", "<=", ">=", "==", "!=", "<<", ">>", "&&", "||", "++", "--", "##"],
  ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="],
  [..."[](){},;:?.+-*/%@&|^~!<>=#"],
].flat();

const PUNCTUATORS_BY_FIRST: ReadonlyMap<number, readonly string[]> = new Map(
  PUNCTUATORS.map((text) => text.charCodeAt(0)).map((first) => [
    first,
    PUNCTUATORS.filter((text) => text.charCodeAt(0) === first),
  ]),
);

/** Whether the text is one punctuator. */
export function isPunctuator(text: string): boolean {
  return PUNCTUATORS.includes(text);
}

const BLANK = 1;
const NEWLINE = 2;
const LETTER = 4;
const DIGIT = 8;

const CLASSES: readonly number[] = Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(char)) return LETTER;
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[\r\n]/.test(char)) return NEWLINE;
  // A NUL has been reported already; here it separates tokens.
  return /[ \t\v\f\0]/.test(char) ? BLANK : 0;
});

function classOf(code: number): number {
  return CLASSES[code] ?? 0;
}

const cache = new WeakMap<SourceFile, { lexed: LexedFile; found: readonly Diagnostic[] }>();

/** The tokens of a file. Reports what is wrong with its text even in groups that `#if` skips. */
export function lex(file: SourceFile, reporter: Reporter): LexedFile {
  let entry = cache.get(file);
  if (entry === undefined) {
    const own = new Reporter();
    const lexed = new Lexer(joinLines(file, own), own).run();
    entry = { lexed, found: own.diagnostics };
    cache.set(file, entry);
  }
  for (const diagnostic of entry.found) reporter.add(diagnostic);
  return entry.lexed;
}

class Lexer {
  readonly #joined: JoinedText;
  readonly #text: string;
  readonly #reporter: Reporter;
  readonly #tokens: PpToken[] = [];
  readonly #comments: RawComment[] = [];
  #at: number;
  #space = false;
  #lineStart = true;

  constructor(joined: JoinedText, reporter: Reporter) {
    this.#joined = joined;
    this.#text = joined.text;
    this.#reporter = reporter;
    this.#at = textStart(joined.text);
  }

  run(): LexedFile {
    while (this.#at < this.#text.length) this.#step();
    this.#lineStart = true;
    this.#push("end", this.#at);
    const { file } = this.#joined;
    const rawComments = this.#comments;
    const comments = collectComments(file, rawComments);
    return { file, tokens: this.#tokens, comments, rawComments };
  }

  #step(): void {
    const text = this.#text;
    const code = text.charCodeAt(this.#at);
    const kind = classOf(code);
    if (kind === BLANK) {
      this.#at++;
      this.#space = true;
    } else if (kind === NEWLINE) {
      this.#at++;
      this.#space = true;
      this.#lineStart = true;
    } else if (kind === LETTER) {
      let end = this.#at + 1;
      while (classOf(text.charCodeAt(end)) & (LETTER | DIGIT)) end++;
      this.#push("identifier", end);
    } else if (kind === DIGIT || this.#beginsFraction()) {
      this.#push("number", this.#numberEnd());
    } else if (text.startsWith("//", this.#at)) {
      this.#lineComment();
    } else if (text.startsWith("/*", this.#at)) {
      this.#blockComment();
    } else if (code === 0x22 || code === 0x27) {
      this.#quoted(code);
    } else {
      const found = PUNCTUATORS_BY_FIRST.get(code)?.find((p) => text.startsWith(p, this.#at));
      if (found !== undefined) this.#push("punctuator", this.#at + found.length);
      else this.#stray();
    }
  }

  #push(kind: PpTokenKind, end: number): void {
    const text = this.#text.slice(this.#at, end);
    const span = this.#span(this.#at, end);
    this.#tokens.push({ kind, text, span, spaceBefore: this.#space, lineStart: this.#lineStart });
    this.#at = end;
    this.#space = false;
    this.#lineStart = false;
  }

  #span(start: number, end: number): Span {
    const { file, cuts } = this.#joined;
    if (cuts.length === 0) return { file, start, end };
    const from = originalOffset(this.#joined, start);
    return {
      file,
      start: from,
      end: end > start ? originalOffset(this.#joined, end - 1) + 1 : from,
    };
  }

  /** `.5` is a number, `...5` is not. */
  #beginsFraction(): boolean {
    return this.#text.charCodeAt(this.#at) === 0x2e &&
      classOf(this.#text.charCodeAt(this.#at + 1)) === DIGIT;
  }

  /**
   * Numbers are lexed generously and judged when they are used, with two limits: they stop before `..`,
   * so that `0...16` is a range, and take a sign only after the exponent letter of their base.
   */
  #numberEnd(): number {
    const text = this.#text;
    const exponent = /^0[xX]/.test(text.slice(this.#at, this.#at + 2)) ? "p" : "e";
    let end = this.#at + 1;
    for (;; end++) {
      const code = text.charCodeAt(end);
      if (classOf(code) & (LETTER | DIGIT)) continue;
      if (code === 0x2e) {
        if (text.charCodeAt(end + 1) === 0x2e) return end;
        continue;
      }
      const sign = code === 0x2b || code === 0x2d;
      if (!sign || text.charAt(end - 1).toLowerCase() !== exponent) return end;
    }
  }

  /** A string or character literal; without a closing quote on its line the quote is a token by itself. */
  #quoted(quote: number): void {
    const text = this.#text;
    for (let end = this.#at + 1; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (classOf(code) === NEWLINE) break;
      if (code === 0x5c && classOf(text.charCodeAt(end + 1)) !== NEWLINE) end++;
      else if (code === quote) {
        this.#push(quote === 0x22 ? "string" : "char", end + 1);
        return;
      }
    }
    this.#push("other", this.#at + 1);
  }

  /** One token for a run of non-ASCII characters, so that a pasted word is one error. */
  #stray(): void {
    let end = this.#at + 1;
    if (this.#text.charCodeAt(this.#at) >= 128) {
      while (this.#text.charCodeAt(end) >= 128) end++;
    }
    this.#push("other", end);
  }

  #lineComment(): void {
    const text = this.#text;
    const start = this.#at;
    while (this.#at < text.length && classOf(text.charCodeAt(this.#at)) !== NEWLINE) this.#at++;
    this.#comment(start, text.slice(start + 2, this.#at), true);
    const { file, cuts } = this.#joined;
    const cut = cuts.find(({ at }) => at > start && at <= this.#at);
    if (cut !== undefined) {
      const span = { file, start: cut.origin, end: cut.origin + 1 };
      this.#reporter.warn("W1005", span, "the backslash makes the next line part of this comment");
    }
  }

  #blockComment(): void {
    const start = this.#at;
    const close = this.#text.indexOf("*/", start + 2);
    if (close < 0) {
      this.#reporter.error("E1004", this.#span(start, start + 2), "this comment is never closed", {
        hint: "close it with `*/`",
      });
      this.#at = this.#text.length;
      return;
    }
    this.#at = close + 2;
    this.#comment(start, this.#text.slice(start + 2, close), false);
  }

  #comment(start: number, body: string, line: boolean): void {
    const span = this.#span(start, this.#at);
    this.#comments.push({ span, body, line, ownLine: this.#lineStart });
    this.#space = true;
  }
}

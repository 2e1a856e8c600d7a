/** A position in one pragma line; every method reports what does not fit and drops the line. */
import type { Code, DiagnosticDetails, Reporter } from "../support/diagnostic.ts";
import { joinSpans, type Span } from "../support/source.ts";
import { nearest } from "../support/spelling.ts";
import type { PpToken } from "../preprocess/lexer.ts";
import { parseString } from "../preprocess/literals.ts";
import { found } from "../preprocess/macros.ts";
import type { PragmaName, PragmaText } from "./pragma.ts";
import { spell } from "../preprocess/spell.ts";

/** Ends the reading of one line; the report has been made. */
export class MalformedPragma extends Error {}

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

export class PragmaCursor {
  readonly #tokens: readonly PpToken[];
  readonly #before: Span;
  readonly #reporter: Reporter;
  #next = 0;

  /** @param before the span before the tokens, to point at when they end too early */
  constructor(tokens: readonly PpToken[], before: Span, reporter: Reporter) {
    this.#tokens = tokens;
    this.#before = before;
    this.#reporter = reporter;
  }

  get token(): PpToken | undefined {
    return this.#tokens[this.#next];
  }

  ahead(distance: number): PpToken | undefined {
    return this.#tokens[this.#next + distance];
  }

  fail(code: Code, span: Span, message: string, details: DiagnosticDetails = {}): never {
    this.#reporter.error(code, span, message, details);
    throw new MalformedPragma();
  }

  warn(code: Code, span: Span, message: string, details: DiagnosticDetails = {}): void {
    this.#reporter.warn(code, span, message, details);
  }

  failExpected(what: string, details: DiagnosticDetails = {}): never {
    const { token } = this;
    const message = `expected ${what} in the pragma${found(token)}`;
    return this.fail("E5003", token?.span ?? this.#previousSpan(), message, details);
  }

  /** A word that is none of the known ones. */
  failUnknown(word: PpToken, what: string, known: readonly string[]): never {
    const near = nearest(word.text, known);
    return this.fail("E9005", word.span, `unknown ${what} \`${word.text}\``, {
      hint: near === undefined ? `known are ${known.join(", ")}` : `did you mean \`${near}\`?`,
      ...(near === undefined ? {} : { fix: { span: word.span, replacement: near } }),
    });
  }

  accept(text: string): PpToken | undefined {
    const { token } = this;
    if (token?.text !== text || token.kind === "string") return undefined;
    this.#next++;
    return token;
  }

  expect(text: string): PpToken {
    return this.accept(text) ?? this.failExpected(`\`${text}\``);
  }

  expectEnd(): void {
    if (this.token !== undefined) this.failExpected("the end of the line");
  }

  word(what: string): PpToken {
    const { token } = this;
    if (token?.kind !== "identifier") return this.failExpected(what);
    this.#next++;
    return token;
  }

  name(what: string): PragmaName {
    const { text, span } = this.word(what);
    return { name: text, span };
  }

  /** From a token to the one that was read last. */
  since(start: Span): Span {
    return joinSpans(start, this.#tokens[this.#next - 1]?.span ?? start);
  }

  /** One or more, separated by commas. */
  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(",") !== undefined) items.push(item());
    return items;
  }

  /** Tokens up to one of `stops` outside all brackets, or to the end; at least one. */
  takeUntil(stops: readonly string[], what: string): PpToken[] {
    const start = this.#next;
    const open: PpToken[] = [];
    for (let { token } = this; token !== undefined; { token } = this) {
      if (open.length === 0 && stops.includes(token.text)) break;
      if (token.kind === "punctuator") {
        if (token.text in CLOSERS) open.push(token);
        else if (/^[)\]}]$/.test(token.text) && CLOSERS[open.pop()?.text ?? ""] !== token.text) {
          this.failExpected(what);
        }
      }
      this.#next++;
    }
    const unclosed = open.at(-1);
    if (unclosed !== undefined) {
      const notes = [{ message: `to match this \`${unclosed.text}\``, span: unclosed.span }];
      this.failExpected(`\`${CLOSERS[unclosed.text] ?? ""}\``, { notes });
    }
    return this.#next === start ? this.failExpected(what) : this.#tokens.slice(start, this.#next);
  }

  /** An expression, left for each instance to expand and read. */
  text(stops: readonly string[], what: string): PragmaText {
    return textOf(this.takeUntil(stops, what));
  }

  /** `( text, … )`, or between other brackets. */
  texts(open: string, close: string, what: string): PragmaText[] {
    this.expect(open);
    const items = this.list(() => this.text([",", close], what));
    this.expect(close);
    return items;
  }

  /** The value of a macro: tokens, or a string that holds them. */
  value(stops: readonly string[]): string {
    const tokens = this.takeUntil(stops, "a value");
    const [first] = tokens;
    if (first?.kind !== "string" || tokens.length > 1) return spell(tokens);
    const decoded = parseString(first.text);
    return decoded.kind === "string"
      ? decoded.value
      : this.fail(decoded.code, first.span, decoded.message);
  }

  /** A string token's characters. */
  string(what: string): string {
    const { token } = this;
    if (token?.kind !== "string") return this.failExpected(what);
    this.#next++;
    const decoded = parseString(token.text);
    return decoded.kind === "string"
      ? decoded.value
      : this.fail(decoded.code, token.span, decoded.message);
  }

  #previousSpan(): Span {
    const { start, end, ...rest } = this.#tokens[this.#next - 1]?.span ?? this.#before;
    return { ...rest, start: Math.max(start, end - 1), end };
  }
}

function textOf(tokens: readonly PpToken[]): PragmaText {
  const [first] = tokens;
  const last = tokens.at(-1) ?? first;
  if (first === undefined || last === undefined) throw new MalformedPragma();
  return { text: spell(tokens), span: joinSpans(first.span, last.span) };
}

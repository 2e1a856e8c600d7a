/** A position in a list of PTX tokens. */
import { bug } from "../support/bug.ts";
import { lexPtx, lineAndColumn, type PtxToken } from "./lex.ts";
import { PtxSyntaxError } from "./syntax_error.ts";

export class PtxCursor {
  readonly #text: string;
  readonly #tokens: readonly PtxToken[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = lexPtx(text);
  }

  /** How many tokens have been taken. */
  get position(): number {
    return this.#at;
  }

  /** The token `ahead` positions further on; at the end, the end. */
  peek(ahead = 0): PtxToken {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] ?? bug("no tokens");
  }

  /** Returns to the position after so many tokens. */
  rewind(position: number): void {
    this.#at = position;
  }

  /** Takes all tokens up to the semicolon that ends a statement, and gives their text. */
  takeStatement(): string {
    const texts: string[] = [];
    for (let depth = 0; depth > 0 || !this.is(";");) {
      if (this.is("{")) depth++;
      else if (this.is("}")) depth--;
      if (depth < 0 || this.peek().kind === "end") this.fail("`;`");
      texts.push(this.next().text);
    }
    return texts.join(" ");
  }

  next(): PtxToken {
    const token = this.peek();
    if (token.kind !== "end") this.#at++;
    return token;
  }

  is(text: string): boolean {
    const token = this.peek();
    return token.text === text && token.kind !== "string";
  }

  /** Takes the next token if it is this one. */
  eat(text: string): boolean {
    const found = this.is(text);
    if (found) this.#at++;
    return found;
  }

  expect(text: string): void {
    if (!this.eat(text)) this.fail(`\`${text}\``);
  }

  /** Takes the next token, which must be of a kind. */
  take(kind: PtxToken["kind"], expected: string): PtxToken {
    if (this.peek().kind !== kind) this.fail(expected);
    return this.next();
  }

  /** Stops at the next token, or at the given one. */
  fail(expected: string, token: PtxToken = this.peek()): never {
    const { line, column } = lineAndColumn(this.#text, token.offset);
    throw new PtxSyntaxError(
      line,
      column,
      expected,
      token.kind === "end" ? "the end" : `\`${token.text}\``,
    );
  }
}

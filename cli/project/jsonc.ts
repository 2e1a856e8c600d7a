/**
 * JSON with comments and trailing commas, with the span of every value and key, so that a mistake in
 * deno.json is shown with a caret. Grammar: RFC 8259, plus line and block comments as in C.
 */
import type { SourceFile, Span } from "../../compiler/support/source.ts";

export type JsonNode =
  | { readonly kind: "object"; readonly span: Span; readonly members: readonly JsonMember[] }
  | { readonly kind: "array"; readonly span: Span; readonly items: readonly JsonNode[] }
  | { readonly kind: "string"; readonly span: Span; readonly value: string }
  | { readonly kind: "number"; readonly span: Span; readonly value: number }
  | { readonly kind: "boolean"; readonly span: Span; readonly value: boolean }
  | { readonly kind: "null"; readonly span: Span };

export interface JsonMember {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: JsonNode;
}

/** Where and why a text is not JSON. */
export class JsonError extends Error {
  override readonly name = "JsonError";

  constructor(message: string, readonly span: Span) {
    super(message);
  }
}

/** Reads a whole text; throws {@linkcode JsonError}. */
export function parseJsonc(file: SourceFile): JsonNode {
  const reader = new Reader(file);
  const value = reader.value();
  reader.end();
  return value;
}

/** A member of an object by key. */
export function jsonMember(node: JsonNode, key: string): JsonNode | undefined {
  return node.kind === "object"
    ? node.members.findLast((member) => member.key === key)?.value
    : undefined;
}

const BLANK = /(?:\s|\/\/[^\n\r]*|\/\*[^]*?\*\/)*/y;
const STRING = /"(?:[^"\\\n\r]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_]\w*/y;

class Reader {
  #at = 0;

  constructor(readonly file: SourceFile) {
    if (file.text.startsWith("\uFEFF")) this.#at = 1;
  }

  end(): void {
    this.#skipBlank();
    if (this.#at < this.file.text.length) this.#fail("Expected the end of the file");
  }

  value(): JsonNode {
    this.#skipBlank();
    const start = this.#at;
    if (this.#eat("{")) return this.#object(start);
    if (this.#eat("[")) return this.#array(start);
    if (this.file.text[start] === '"') return { kind: "string", ...this.#string() };
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      return { kind: "number", span: this.#span(start), value: Number(number) };
    }
    const word = this.#match(WORD);
    const span = this.#span(start);
    if (word === "null") return { kind: "null", span };
    if (word === "true" || word === "false") {
      return { kind: "boolean", span, value: word === "true" };
    }
    this.#at = start;
    this.#fail("Expected a JSON value");
  }

  #object(start: number): JsonNode {
    const members: JsonMember[] = [];
    while (!this.#closes("}")) {
      if (this.file.text[this.#at] !== '"') this.#fail("Expected a key in double quotes");
      const key = this.#string();
      this.#skipBlank();
      if (!this.#eat(":")) this.#fail("Expected ':'");
      members.push({ key: key.value, keySpan: key.span, value: this.value() });
      this.#separator("}");
    }
    return { kind: "object", span: this.#span(start), members };
  }

  #array(start: number): JsonNode {
    const items: JsonNode[] = [];
    while (!this.#closes("]")) {
      items.push(this.value());
      this.#separator("]");
    }
    return { kind: "array", span: this.#span(start), items };
  }

  #string(): { readonly value: string; readonly span: Span } {
    const start = this.#at;
    const text = this.#match(STRING);
    if (text === undefined) this.#fail("Bad string");
    try {
      return { value: String(JSON.parse(text)), span: this.#span(start) };
    } catch {
      // A raw control character, which the pattern lets through.
      this.#at = start;
      this.#fail("Bad string");
    }
  }

  #closes(bracket: string): boolean {
    this.#skipBlank();
    return this.#eat(bracket);
  }

  #separator(bracket: string): void {
    this.#skipBlank();
    if (!this.#eat(",") && this.file.text[this.#at] !== bracket) {
      this.#fail(`Expected ',' or '${bracket}'`);
    }
  }

  #skipBlank(): void {
    this.#match(BLANK);
  }

  #eat(character: string): boolean {
    if (this.file.text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.file.text)?.[0];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return found;
  }

  #span(start: number): Span {
    return { file: this.file, start, end: this.#at };
  }

  #fail(message: string): never {
    throw new JsonError(message, { file: this.file, start: this.#at, end: this.#at + 1 });
  }
}

/** Words of a kernel by class, for colours: by regular expression and the compiler's own lists. */
import type { Words } from "../session/words.ts";

/** What a word is. */
export type TokenClass =
  | "comment"
  | "string"
  | "directive"
  | "number"
  | "keyword"
  | "type"
  | "builtin";

/** A word that has a colour. */
export interface Token {
  readonly from: number;
  readonly to: number;
  readonly name: TokenClass;
}

/** Classes of words that are names. */
export type Names = ReadonlyMap<string, TokenClass>;

const TOKEN =
  /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?)|(^[ \t]*#[ \t]*\w+(?:[ \t]+tri\b(?:[ \t]+\w+)?)?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/gm;

/** The names of the language. */
export function namesOf(words: Words): Names {
  return new Map<string, TokenClass>([
    ...words.builtin.map((word) => [word, "builtin"] as const),
    ...words.keyword.map((word) => [word, "keyword"] as const),
    ...words.type.map((word) => [word, "type"] as const),
  ]);
}

/** The words of a text, in order. */
export function* tokensOf(text: string, names: Names): Generator<Token> {
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, string, directive, number, word] = match;
    const name: TokenClass | undefined = comment !== undefined
      ? "comment"
      : string !== undefined
      ? "string"
      : directive !== undefined
      ? "directive"
      : number !== undefined
      ? "number"
      : names.get(word ?? "");
    if (name !== undefined) yield { from: match.index, to: match.index + whole.length, name };
  }
}

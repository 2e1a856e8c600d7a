/** Names of a file that the formatter must know: of types, and of macros that make strings of their arguments. */
import { keywordGroup } from "../preprocess/keywords.ts";
import type { PpToken } from "../preprocess/lexer.ts";
import type { DirectiveItem, Item } from "./items.ts";

export interface Names {
  readonly isType: (name: string) => boolean;
  /** Whether the tokens between two parentheses are a type, so that the parentheses are a cast. */
  readonly areType: (tokens: readonly PpToken[]) => boolean;
  /** Whether the text of a macro's arguments becomes a string. */
  readonly isQuoting: (macro: string) => boolean;
}

/** Reads the whole file: a type may be a macro that the build defines, which its use gives away. */
export function namesIn(items: readonly Item[]): Names {
  const types = new Set<string>();
  const quoting = new Set<string>();
  let run: PpToken[] = [];
  for (const item of items) {
    if (item.kind === "token") run.push(item.token);
    if (item.kind !== "directive") continue;
    collectTypes(run, types);
    run = [];
    if (item.word === "define") readDefine(item, types, quoting);
  }
  collectTypes(run, types);
  const isType = (name: string): boolean => keywordGroup(name) === "type" || types.has(name);
  return {
    isType,
    areType: (tokens) => areType(tokens, isType),
    isQuoting: (macro) => quoting.has(macro),
  };
}

function isPlainName(token: PpToken | undefined): token is PpToken {
  return token?.kind === "identifier" && keywordGroup(token.text) === undefined;
}

const BEFORE_DECLARATION: ReadonlySet<string> = new Set([";", "{", "}", "(", ","]);
const AFTER_DECLARED: ReadonlySet<string> = new Set(["=", "[", ";"]);

/** `T x`, `T *x = …` and `typedef … T;` say that T is a type. */
function collectTypes(tokens: readonly PpToken[], types: Set<string>): void {
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1];
    if (token.text === "typedef") {
      const end = tokens.findIndex(({ text }, at) => at > i && text === ";");
      const name = tokens[end - 1];
      if (isPlainName(name)) types.add(name.text);
    }
    if (!isPlainName(token) || next === undefined) continue;
    if (isPlainName(next)) types.add(token.text);
    const begins = i === 0 || BEFORE_DECLARATION.has(tokens[i - 1]?.text ?? "");
    const isPointer = begins && next.text === "*" && isPlainName(tokens[i + 2]) &&
      AFTER_DECLARED.has(tokens[i + 3]?.text ?? "") && tokens[i - 1]?.text !== "(" &&
      tokens[i - 1]?.text !== ",";
    if (isPointer) types.add(token.text);
  }
}

/** `#define NAME(parameters) body`. */
function readDefine({ tokens }: DirectiveItem, types: Set<string>, quoting: Set<string>): void {
  const [, name, ...body] = tokens;
  if (name === undefined) return;
  const first = body[0];
  if (first === undefined) return;
  if (keywordGroup(first.text) === "type") types.add(name.text);
  if (first.text === "(" && !first.spaceBefore) {
    const quotes = body.some(({ text }, i) => text === "#" && body[i + 1]?.kind === "identifier");
    if (quotes) quoting.add(name.text);
  }
  collectTypes(body, types);
}

/** A type, then perhaps `*`s or a shape in brackets. */
function areType(tokens: readonly PpToken[], isType: (name: string) => boolean): boolean {
  const words = tokens.findIndex(({ kind }) => kind !== "identifier");
  const head = words < 0 ? tokens : tokens.slice(0, words);
  const rest = tokens.slice(head.length);
  if (head.length === 0) return false;
  const isNamed = head.every(({ text }) => isType(text) || keywordGroup(text) === "declaration");
  return isNamed && (rest.length === 0 || rest[0]?.text === "*" || rest[0]?.text === "[");
}

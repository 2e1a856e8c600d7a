/** The words of a type, however ordered, to one scalar (language.md, 3.1), for `__type_is` in `#if`. */
import type { ScalarName } from "../support/scalar.ts";
import { keywordGroup } from "./keywords.ts";

/** Names that are one word by themselves, typedef names included (language.md, 2.1). */
const SINGLE_WORDS: ReadonlyMap<string, ScalarName> = new Map<string, ScalarName>([
  ["bool", "bool"],
  ["_Bool", "bool"],
  ["half", "float16"],
  ["float16", "float16"],
  ["bfloat16", "bfloat16"],
  ["float", "float32"],
  ["float32", "float32"],
  ["double", "float64"],
  ["float64", "float64"],
  ["float8e4", "float8e4"],
  ["float8e5", "float8e5"],
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const).flatMap(
    (name): [string, ScalarName][] => [[name, name], [`${name}_t`, name]],
  ),
  ["size_t", "uint64"],
  ["ptrdiff_t", "int64"],
]);

/** Names of types that are not keywords. */
export const TYPE_NAMES: readonly string[] = [...SINGLE_WORDS.keys()].filter((name) =>
  keywordGroup(name) === undefined
);

const INTEGER_WORDS = new Set(["char", "short", "int", "long", "signed", "unsigned"]);

/** Whether a word names a type or is part of a type's name. */
export function isTypeWord(word: string): boolean {
  return word === "void" || SINGLE_WORDS.has(word) || INTEGER_WORDS.has(word);
}

/** The scalar that the words name together; undefined when they name none. */
export function scalarOfWords(words: readonly string[]): ScalarName | undefined {
  const single = words.length === 1 ? SINGLE_WORDS.get(words[0] ?? "") : undefined;
  if (single !== undefined || words.length === 0) return single;
  if (!words.every((word) => INTEGER_WORDS.has(word))) return undefined;
  const count = (word: string): number => words.filter((other) => other === word).length;
  const [char, short, int, long] = [count("char"), count("short"), count("int"), count("long")];
  const sized = (char > 0 ? 1 : 0) + (short > 0 ? 1 : 0) + (long > 0 ? 1 : 0);
  const tooMany = char > 1 || short > 1 || int > 1 || long > 2 || (char > 0 && int > 0);
  if (sized > 1 || tooMany || count("signed") + count("unsigned") > 1) return undefined;
  const bits = char > 0 ? 8 : short > 0 ? 16 : long > 0 ? 64 : 32;
  return count("unsigned") > 0 ? `uint${bits}` : `int${bits}`;
}

/** One spelling for all ways to write a type: scalars by their canonical name, the rest unchanged. */
export function canonicalType(tokens: readonly string[]): string {
  const words = tokens.filter(isTypeWord);
  const rest = tokens.filter((token) => !isTypeWord(token));
  return [scalarOfWords(words) ?? words.join(" "), ...rest].join(" ");
}

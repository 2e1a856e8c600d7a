/**
 * The words that are not identifiers (language.md, 2.1). The preprocessor treats them as identifiers, so
 * that a macro may be called `bool`; what is left of them afterwards becomes a keyword token.
 */

export type KeywordGroup = "type" | "declaration" | "statement" | "expression" | "rejected";

/** One row per group; `rejected` words are reported as E2002 wherever they occur. */
export const KEYWORDS = {
  type: [
    "void",
    "bool",
    "_Bool",
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "half",
    "bfloat16",
    "float",
    "double",
    "float8e4",
    "float8e5",
  ],
  declaration: [
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "static",
    "inline",
    "extern",
    "typedef",
    "enum",
    "__global__",
    "__constant__",
    "__attribute__",
    "__noalias",
    "__readonly",
    "__writeonly",
    "__retune",
    "__multipleof",
    "__aligned",
  ],
  statement: ["if", "else", "for", "while", "do", "break", "continue", "return"],
  expression: [
    "newaxis",
    "sizeof",
    "_Alignof",
    "bitcast",
    "true",
    "false",
    "_Static_assert",
    "static_assert",
  ],
  rejected: [
    "struct",
    "union",
    "switch",
    "case",
    "default",
    "goto",
    "auto",
    "register",
    "_Complex",
    "_Imaginary",
    "_Atomic",
    "_Generic",
    "_Alignas",
    "_Noreturn",
    "_Thread_local",
  ],
} as const satisfies Record<KeywordGroup, readonly string[]>;

const GROUP_OF: ReadonlyMap<string, KeywordGroup> = new Map(
  (Object.keys(KEYWORDS) as KeywordGroup[]).flatMap((group) =>
    KEYWORDS[group].map((word): [string, KeywordGroup] => [word, group])
  ),
);

/** The group of a keyword; undefined for an identifier. */
export function keywordGroup(word: string): KeywordGroup | undefined {
  return GROUP_OF.get(word);
}

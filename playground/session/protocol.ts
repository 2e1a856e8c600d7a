/**
 * The enumerations of the language server protocol that hover and completion use. The bundle has this in place of the
 * package, which is 170 kB; a test compares the numbers with the package's.
 */

/** Kinds of candidates. */
export const CompletionItemKind = {
  Function: 3,
  Variable: 6,
  Property: 10,
  Keyword: 14,
  Constant: 21,
  TypeParameter: 25,
} as const;

/** Kinds of text. */
export const MarkupKind = { Markdown: "markdown" } as const;

/** The documentation of the compiler's tables, by the word that an editor requests. */
import {
  ATTRIBUTE_DOCS,
  HINT_DOCS,
  MACRO_DOCS,
  OPTION_DOCS,
  PRAGMA_DOCS,
} from "../../compiler/check/language_docs.ts";

/** Attributes by keyword. */
export const ATTRIBUTES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(ATTRIBUTE_DOCS).map(([form, doc]) => [form.replace(/\(.*/, ""), doc]),
  ),
  restrict: ATTRIBUTE_DOCS.__noalias ?? "",
};

/** What may follow `#pragma tri`. */
export const PRAGMAS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(PRAGMA_DOCS).map(([word, { form, doc }]) => [word, `\`${form}\`: ${doc}`]),
  ),
  ...OPTION_DOCS,
  loop: `before a loop: ${Object.keys(HINT_DOCS).map((hint) => `\`${hint}\``).join(", ")}`,
};

/** What may follow `#pragma tri loop`. */
export const HINTS: Readonly<Record<string, string>> = HINT_DOCS;

/** Macros that the compiler defines. */
export const PREDEFINED: Readonly<Record<string, string>> = MACRO_DOCS;

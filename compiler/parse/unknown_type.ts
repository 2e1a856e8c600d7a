/** The message for an undeclared name where a type is required (E2001). */
import { nearest } from "../support/spelling.ts";
import { foreignTypeHint } from "./foreign_words.ts";
import { KEYWORDS } from "../preprocess/keywords.ts";
import type { ParseContext } from "./parse_context.ts";
import type { Token } from "../preprocess/token.ts";

/** Reports a type name that is not declared, and remembers it so that it is reported once. */
export function reportUnknownType({ scopes, reporter }: ParseContext, { text, span }: Token): void {
  const isMacroName = /^[A-Z][A-Z0-9_]*$/.test(text);
  const near = reporter.isFull
    ? undefined
    : nearest(text, [...KEYWORDS.type, ...scopes.typeNames()]);
  const hint = foreignTypeHint(text) ?? (near && `did you mean \`${near}\`?`);
  reporter.error(
    "E2001",
    span,
    `unknown type \`${text}\`${
      isMacroName ? `; pass \`-D${text}=…\` or declare it with \`#pragma tri\`` : ""
    }`,
    hint === undefined ? {} : { hint },
  );
  scopes.declareUnknown(text);
}

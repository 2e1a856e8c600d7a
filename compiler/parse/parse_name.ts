/** The name that a declaration declares. */
import type { Name } from "./ast.ts";
import type { ParseContext } from "./parse_context.ts";
import type { Token } from "../preprocess/token.ts";

export function nameOf({ text, span }: Token): Name {
  return { text, span };
}

/** What may follow a declared name. */
const AFTER_NAME: ReadonlySet<string> = new Set([";", ",", "=", "[", ")"]);

/** A name to declare. A keyword instead of it is explained, and taken for the name if its context is that of a name. */
export function parseName({ cursor }: ParseContext, what: string): Name | undefined {
  const { token } = cursor;
  if (token.kind === "identifier") return nameOf(cursor.next());
  if (token.kind === "keyword") {
    const hint = `\`${token.text}\` is a keyword; choose another name`;
    if (!AFTER_NAME.has(cursor.ahead(1).text)) cursor.fail(what, { hint });
    else {
      cursor.complain(what, { hint });
      return nameOf(cursor.next());
    }
  } else {
    const before = cursor.previousKeyword;
    const hint = `if \`${before}\` was meant as a name: it is a keyword; choose another`;
    cursor.fail(what, before === undefined ? {} : { hint });
  }
  return undefined;
}

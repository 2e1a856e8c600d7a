/** Attributes of declarations and parameters: `__readonly`, `__multipleof(8)`. */
import type { Attribute } from "./ast.ts";
import { parseConditional } from "./parse_expr.ts";
import type { ParseContext } from "./parse_context.ts";
import { specWord } from "./spec_words.ts";

/** Whether the cursor is at an attribute. */
export function startsAttribute({ cursor }: ParseContext): boolean {
  const role = specWord(cursor.token)?.role;
  return role === "attribute" || role === "attribute-list";
}

/**
 * attribute = '__noalias' | '__readonly' | '__writeonly' | '__retune'
 *           | ( '__multipleof' | '__aligned' ) '(' cond ')'
 *           | '__attribute__' '(' '(' name [ '(' cond ')' ] { ',' … } ')' ')'
 */
export function parseAttributes(p: ParseContext): Attribute[] {
  const { cursor } = p;
  const attributes: Attribute[] = [];
  while (startsAttribute(p)) {
    const row = specWord(cursor.token);
    const { span: start } = cursor.next();
    if (row?.role === "attribute") {
      const argument = row.takesArgument ? parseAttributeArgument(p) : {};
      attributes.push({ name: row.name, ...argument, span: cursor.spanFrom(start) });
      continue;
    }
    const outer = cursor.expect("(");
    const inner = cursor.expect("(");
    do {
      const { token } = cursor;
      // `const` and others are attributes elsewhere: any word will do.
      if (token.kind !== "identifier" && token.kind !== "keyword") {
        cursor.fail("the name of an attribute");
      } else cursor.next();
      const argument = cursor.at("(") ? parseAttributeArgument(p) : {};
      if (!cursor.stuck) {
        attributes.push({ name: token.text, ...argument, span: cursor.spanFrom(token.span) });
      }
    } while (cursor.accept(","));
    cursor.expectClose(")", inner);
    cursor.expectClose(")", outer);
  }
  return attributes;
}

function parseAttributeArgument(p: ParseContext): Pick<Attribute, "argument"> {
  const open = p.cursor.expect("(");
  const argument = parseConditional(p);
  p.cursor.expectClose(")", open);
  return { argument };
}

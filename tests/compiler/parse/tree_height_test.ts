import fc from "../../support/property.ts";
import { newParseContext, type ParseContext } from "../../../compiler/parse/parse_context.ts";
import { parseBody } from "../../../compiler/parse/parse_stmt.ts";
import { heightExceeds, MAX_TREE_HEIGHT } from "../../../compiler/parse/tree_height.ts";
import { preprocess } from "../../../compiler/preprocess/preprocess.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assert } from "../../support/assert.ts";

/** A body parsed, with the cursor that counted its links. */
function parsed(text: string): { readonly body: object; readonly cursor: ParseContext["cursor"] } {
  const reporter = new Reporter();
  const file = { name: "test.tc", text: `{ ${text} }` };
  const { tokens } = preprocess(file, { defines: [], predefined: {} }, reporter);
  const context = newParseContext(tokens, reporter, "body");
  context.cursor.beginItem();
  return { body: parseBody(context), cursor: context.cursor };
}

Deno.test("heightBound stays small for many statements, whose trees are beside one another", () => {
  const text = "if (a < b) { a = a * n + 3 - f(b)[0]; } else if (b) a = n + 1;\n".repeat(2000);
  const { cursor: { heightBound } } = parsed(text);
  assert(heightBound <= MAX_TREE_HEIGHT, `${heightBound}`);
});

Deno.test("heightBound is no less than the height of the tree", () => {
  const piece = fc.constantFrom(
    ...["a = 1 + ", "b * (", "f(a, ", "a, ", "x[b][c](d)++ + ", "a ? b : ", "int i = a @ ", "; "],
    ...["if (a + b * c) ", "else ", "{ ", "} ", "for (int i = 0; i < a + b; i++) ", "while (a) "],
    ...["do { a; } while (b + c); ", "(int) ", "*?(a + b) ", "sizeof ", "a.", "[", ") ", "] "],
  );
  const repeated = fc.tuple(piece, fc.integer({ min: 1, max: 40 }))
    .map(([text, count]) => text.repeat(count));
  fc.assert(
    fc.property(fc.array(repeated, { maxLength: 12 }), (pieces) => {
      const { body, cursor: { heightBound } } = parsed(`${pieces.join("")}a;`);
      assert(!heightExceeds(body, heightBound), `${heightBound}`);
    }),
    { numRuns: 500 },
  );
});

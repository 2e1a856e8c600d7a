import { docAbove } from "../../../compiler/preprocess/comments.ts";
import { lex } from "../../../compiler/preprocess/lexer.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assertEquals } from "../../support/assert.ts";

/** The documentation of what begins at `void` in the text. */
function doc(text: string): string {
  const file = { name: "t.tc", text };
  return docAbove(lex(file, new Reporter()).comments, file, text.indexOf("void"));
}

Deno.test("docAbove() joins line comments and strips their markers", () => {
  assertEquals(
    doc("// Adds.\n//   Twice.\n///\n// End.  \nvoid f() {}"),
    "Adds.\n  Twice.\n\nEnd.",
  );
});

Deno.test("docAbove() reads block comments, with stars and without", () => {
  assertEquals(doc("/** Adds. */ void f() {}"), "Adds.");
  assertEquals(doc("/**\n * Adds.\n *  - twice\n */\nvoid f() {}"), "Adds.\n - twice");
  assertEquals(doc("/* Adds\n   things. */\n  void f() {}"), "Adds\nthings.");
});

Deno.test("docAbove() passes over pragmas, but not over empty lines or code", () => {
  assertEquals(
    doc("// Doc.\n#pragma tri grid(1, \\\n 2)\n# pragma tri key(M)\nvoid f() {}"),
    "Doc.",
  );
  assertEquals(doc("// Doc.\r\n#pragma tri key(M)\r\nvoid f() {}"), "Doc.");
  assertEquals(doc("// Licence.\n\nvoid f() {}"), "");
  assertEquals(doc("// Of x.\nint x;\nvoid f() {}"), "");
  assertEquals(doc("int x; // Of x.\nvoid f() {}"), "");
  assertEquals(doc("// Old.\n\n// New.\nvoid f() {}"), "New.");
  assertEquals(doc("void f() {}\n// After."), "");
});

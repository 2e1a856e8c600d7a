import { printComment, printDeclaration, wrap } from "../../codegen/declarations.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("printComment() uses one line where it can and never ends early", () => {
  assertEquals(printComment("Adds.", 2), "  /** Adds. */\n");
  assertEquals(printComment("  \n", 0), "");
  assertEquals(printComment("a */ b", 0), "/** a *\\/ b */\n");
  assertEquals(printComment("a\n\nb", 0), "/**\n * a\n *\n * b\n */\n");
});

Deno.test("wrap() breaks prose between words and leaves indented lines alone", () => {
  assertEquals(wrap("aa bb cc", 5), ["aa bb", "cc"]);
  assertEquals(wrap("unbreakable", 5), ["unbreakable"]);
  assertEquals(wrap("  aa bb cc", 5), ["  aa bb cc"]);
});

Deno.test("printDeclaration() breaks a union where it is too long for a line", () => {
  const union = (members: string[]): string =>
    printDeclaration({
      kind: "type",
      name: "T",
      isExported: true,
      doc: "",
      type: { kind: "union", members },
    });
  assertEquals(union([`"a"`, `"b"`]), `export type T = "a" | "b";`);
  const long = ["a", "b"].map((letter) => JSON.stringify(letter.repeat(40)));
  assertEquals(union(long), `export type T =\n  | ${long[0]}\n  | ${long[1]};`);
});

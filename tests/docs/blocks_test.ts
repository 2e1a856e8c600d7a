import { assertEquals, assertThrows } from "../support/assert.ts";
import { differenceIn, readBlocks } from "./blocks.ts";

Deno.test("readBlocks() gives every fenced block its line, its language and the marks before it", () => {
  const page = [
    "# Page",
    "",
    "<!-- file: a.tc -->",
    "",
    "```c",
    "int x;",
    "```",
    "",
    "<!-- written by a script -->",
    "",
    "Words and `code`.",
    "",
    "````sh",
    "echo '```'",
    "````",
  ].join("\n");
  assertEquals(readBlocks(page), [
    { line: 5, language: "c", text: "int x;\n", marks: { file: "a.tc" } },
    { line: 13, language: "sh", text: "echo '```'\n", marks: {} },
  ]);
});

Deno.test("readBlocks() leaves out what a script writes", () => {
  const generated =
    "<!-- begin list: written by scripts/x.ts -->\n\n```text\na\n```\n\n<!-- end list -->\n";
  assertEquals(readBlocks(`${generated}\n\`\`\`sh\nls\n\`\`\`\n`).map(({ text }) => text), [
    "ls\n",
  ]);
  assertThrows(() => readBlocks("<!-- begin list: written by x.ts -->\n"), Error, "no end");
});

Deno.test("readBlocks() refuses a mark without a block, and a block without an end", () => {
  assertThrows(() => readBlocks("<!-- needs: a GPU -->\n\nWords.\n"), Error, "line 3");
  assertThrows(() => readBlocks("```sh\necho\n"), Error, "never closed");
});

Deno.test("differenceIn() takes … for anything, and finds what a page has wrong", () => {
  const printed = "one\ntwo 2 (3.1 s)\nthree\nfour\n";
  assertEquals(differenceIn("one\ntwo 2 (… s)\nthree\nfour\n", printed), undefined);
  assertEquals(differenceIn("…\nthree\n…\n", printed), undefined);
  assertEquals(differenceIn("one\n…\n", printed), undefined);
  assertEquals(differenceIn("one\nthree\n…\n", printed), "three");
  assertEquals(differenceIn("one\n…\n2\n…", printed), "2");
  assertEquals(differenceIn("one\n", printed), "(nothing, but there is) two 2 (3.1 s)");
});

import { CODES } from "../../../compiler/support/codes.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { Workspace } from "../support/tri_process.ts";

/** Deno asks for the modules of a command, which are loaded when it runs. */
const READS = { permissions: ["--allow-read"] };

Deno.test("tri explain says what a code means, where its rule is, and shows both programs", async () => {
  using workspace = new Workspace();
  const { code, stdout, stderr } = await workspace.tri(["explain", "e5010"], READS);
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, `E5010: ${CODES.E5010}\n`);
  assertStringIncludes(
    stdout,
    "\n\nLanguage: section 5.3 of docs/language.md.\n\nWrong:\n\n    __global__ void f(",
  );
  assertStringIncludes(stdout, "= a[:, newaxis] + b[newaxis, :];");
});

Deno.test("tri explain takes several codes, and names options and files of a program", async () => {
  using workspace = new Workspace();
  const { stdout } = await workspace.tri(["explain", "W1022", "E1032"]);
  assertStringIncludes(stdout, "Wrong, with -DSIZE=32:");
  assertStringIncludes(stdout, "once.h:\n\n    #pragma once\n");
});

Deno.test("tri explain without a code lists all", async () => {
  using workspace = new Workspace();
  const { stdout } = await workspace.tri(["explain"]);
  const expected = Object.entries(CODES).map(([code, text]) => `${code}  ${text}\n`).join("");
  assertEquals(stdout, expected);
});

Deno.test("tri explain exits with 2 for a code that does not exist and suggests the nearest", async () => {
  using workspace = new Workspace();
  const { code, stderr } = await workspace.tri(["explain", "E501O"]);
  assertEquals([code, stderr], [2, "error: Unknown diagnostic E501O\nDid you mean E5010?\n"]);
});

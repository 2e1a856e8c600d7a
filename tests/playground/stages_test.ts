import { GALLERY } from "../../playground/gallery/entries.ts";
import { candidatesAt, hintAt } from "../../playground/session/help.ts";
import { problemsOf } from "../../playground/session/check.ts";
import { contractsOf } from "../../playground/session/contract.ts";
import * as own from "../../playground/session/protocol.ts";
import { STAGES, stagesOf } from "../../playground/session/stages.ts";
import * as protocol from "vscode-languageserver-protocol";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { openEntry, testEntries } from "./gallery.ts";

const opened = (name: string): ReturnType<typeof openEntry> =>
  openEntry(must(GALLERY.find((entry) => entry.name === name), name));

testEntries(
  GALLERY.filter(({ name }) => name !== "type_error"),
  (name) => `stagesOf() links lines of every stage of ${name} with lines of the text`,
  (entry) => {
    const { program } = openEntry(entry);
    const count = program.text.split("\n").length;
    const stages = stagesOf(program, STAGES, "");
    assertEquals(stages.map(({ name }) => name), [...STAGES]);
    for (const { name, text, links } of stages) {
      assert(text !== "", name);
      if (name === "plan") continue;
      assertEquals(links.length, text.split("\n").length, name);
      assert(links.every((line) => line >= 0 && line <= count), name);
      assert(new Set(links).size > 1, name);
    }
  },
);

Deno.test("stagesOf() links a statement with its operations and its instructions", () => {
  const { program } = opened("vector_add");
  const line = program.text.split("\n").findIndex((text) => text.includes("(Z + i) = sum")) + 1;
  const linked = Object.fromEntries(
    stagesOf(program, STAGES, "").map(({ name, text, links }) => [
      name,
      text.split("\n").filter((_, index) => links[index] === line).join("\n"),
    ]),
  );
  assert(linked["ast"]?.includes("assign ="));
  assert(linked["types"]?.includes("*?(inside)"));
  assert(linked["ir"]?.includes("store"));
  assert(linked["layout"]?.includes("store"));
  assert(linked["ptx"]?.includes("st.global"));
});

Deno.test("problemsOf() gives offsets and a change that mends the text", () => {
  const { program } = opened("vector_add");
  const text = program.text.replace("get_program_id(0)", "get_program_idd(0)");
  const [problem] = problemsOf({ ...program, text }, "chosen");
  assertEquals(text.slice(problem?.from, problem?.to), "get_program_idd");
  const mend = must(problem?.mend, "mend");
  const mended = text.slice(0, mend.from) + mend.insert + text.slice(mend.to);
  assertEquals(mended, program.text);
  assertEquals(problemsOf({ ...program, text: mended }, "chosen"), []);
});

Deno.test("hintAt() and candidatesAt() answer as the language server does", () => {
  const { program } = opened("vector_add");
  const offset = program.text.indexOf("sum[BLOCK]");
  assert(hintAt(program, offset)?.markdown.includes("float[64] sum"));
  assertEquals(hintAt(program, 0), undefined);
  const labels = candidatesAt(program, offset).map(({ label }) => label);
  for (const label of ["inside", "get_program_id", "float", "BLOCK"]) {
    assert(labels.includes(label), label);
  }
});

Deno.test("contractsOf() judges the conditions of each entry for the sizes", () => {
  const { program, call } = opened("vector_add");
  const judge = (N: number): (boolean | undefined)[] =>
    contractsOf(program, { ...call, sizes: { N } }).map(({ isTaken }) => isTaken);
  assertEquals(judge(200), [true, true]);
  // 202 singles are no multiple of 16 bytes.
  assertEquals(judge(202), [true, false]);
  assertEquals(contractsOf({ ...program, text: "" }, call), []);
});

Deno.test("the bundle's enumerations are those of the protocol", () => {
  for (const [name, value] of Object.entries(own.CompletionItemKind)) {
    assertEquals(
      value,
      Object.entries(protocol.CompletionItemKind).find(([key]) => key === name)?.[1],
    );
  }
  assertEquals(own.MarkupKind.Markdown, protocol.MarkupKind.Markdown);
});

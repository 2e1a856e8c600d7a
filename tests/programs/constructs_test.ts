/** Each construct of the language on its own: compiled, run on the emulator, compared with the reference and with numbers. */
import { BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { must } from "../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../compiler/targets.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { blessed } from "../support/bless.ts";
import { checkText } from "../support/compiler/check.ts";
import { emulate } from "../support/emulate.ts";
import { elementAt } from "../support/generate/inputs.ts";
import { compareElement } from "../support/generate/compare.ts";
import { interpret, NotInterpreted } from "../support/reference/mod.ts";
import { argumentsOf, constantsOf, launchOf, memoriesOfReference } from "./construct_launch.ts";
import { CONSTRUCTS } from "./constructs.ts";
import type { Construct } from "./constructs/construct.ts";
import { coverageTable, ELSEWHERE, textOf, titleOf } from "./coverage.ts";
import { compileFile } from "../support/compile.ts";

const ROOT = new URL("../../", import.meta.url);
const COVERAGE = new URL("docs/language-coverage.md", ROOT);
const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);
/** Runs the construct for some targets. */
function runConstruct(construct: Construct, targets: readonly TargetName[]): void {
  const text = textOf(construct);
  const { diagnostics, kernels } = compileFile({ name: "k.tc", text }, { targets, verify: true });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  assert(errors.length === 0, `${errors.map((e) => `${e.code} ${e.message}`)}\n${text}`);
  const grid = [...(construct.grid ?? [1, 1]), 1] as const;
  const memories = memoriesOfReference();
  const kernel = must(checkText(text).unit.kernels[0], "the kernel");
  try {
    interpret(kernel, argumentsOf(memories), grid, constantsOf(construct));
  } catch (error) {
    if (error instanceof NotInterpreted) return;
    throw error;
  }
  for (const [name, wanted] of [["Y", construct.y], ["I", construct.i]] as const) {
    const { cells } = must(memories.find((memory) => memory.name === name), name);
    const got = cells.slice(0, wanted?.length ?? 0)
      .map((cell) => cell.kind === "pointer" ? NaN : Number(cell.value));
    assertEquals(got, [...wanted ?? []], `the reference of\n${text}`);
  }
  for (const module of must(kernels[0], "the kernel").modules) {
    const { buffers, launch } = launchOf(construct, must(module.entries[0], "the entry"));
    emulate(module.ptx, launch);
    for (const [nth, { name, cells, element }] of memories.entries()) {
      for (const [index, cell] of cells.entries()) {
        const got = elementAt(must(buffers[nth], "bytes"), element, index);
        const problem = compareElement(cell, got);
        assert(
          problem === undefined || problem === "unknown",
          `${module.target}: ${name}[${index}] is ${problem}\n${text}`,
        );
      }
    }
  }
}

for (const [nth, construct] of CONSTRUCTS.entries()) {
  Deno.test(titleOf(construct), () =>
    // One old and one newer architecture; random programs go through all of them.
    runConstruct(construct, ["sm_70", must(NAMES[1 + nth % (NAMES.length - 1)], "target")]));
}

Deno.test("CONSTRUCTS call every built-in function", () => {
  const texts = CONSTRUCTS.map(textOf).join("");
  const names = new Set([...BUILTINS.values()].map(({ canonical }) => canonical));
  const missing = [...names].filter((name) => !new RegExp(`\\b${name}f?\\(`).test(texts));
  assertEquals(missing, [], "a construct in tests/programs/constructs");
});

Deno.test("coverageTable() is what docs/language-coverage.md says", () => {
  const table = coverageTable();
  if (blessed(COVERAGE, table)) return;
  assertEquals(
    Deno.readTextFileSync(COVERAGE),
    table,
    "run `deno task bless docs/language-coverage.md`",
  );
});

Deno.test("coverageTable() names tests that exist", () => {
  for (const [, , file, title] of ELSEWHERE) {
    const text = Deno.readTextFileSync(new URL(`tests/${file}`, ROOT));
    assert(text.includes(JSON.stringify(title)), `${file} has no test "${title}"`);
  }
  const titles = CONSTRUCTS.map(titleOf);
  assertEquals(new Set(titles).size, titles.length);
});

/**
 * The compiler takes any text: it answers with diagnostics, never with an exception, and it ends. Arbitrary text,
 * and kernels with tokens lost, doubled, swapped, replaced, or spliced with another kernel's.
 * `TRI_FUZZ=20000 deno test -A tests/compiler/fuzz_test.ts` tries more.
 */
import fc from "../support/property.ts";
import { type Diagnostic, Reporter } from "../../compiler/support/diagnostic.ts";
import { dumpTyped } from "../../compiler/check/tree/dump_typed.ts";
import { check } from "../../compiler/check/check.ts";
import { parse } from "../../compiler/parse/parser.ts";
import { preprocess } from "../../compiler/preprocess/preprocess.ts";
import { readPragmas } from "../../compiler/pragma/read_pragmas.ts";
import { renderDiagnostic } from "../../compiler/support/render.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { assert } from "../support/assert.ts";
import { type TargetName, TARGETS } from "../../compiler/targets.ts";
import { anyProgram } from "../support/generate/arbitrary.ts";
import { FEATURES } from "../support/generate/features.ts";
import { renderProgram } from "../support/generate/tree.ts";
import { anyEditsFrom, anyKin, mutate, WORDS } from "../support/compiler/mutate.ts";
import { compileFile } from "../support/compile.ts";
import { withPragmas } from "../support/shipped.ts";

const COUNT = Number(Deno.env.get("TRI_FUZZ") ?? 400);
const ROOT = new URL("../../", import.meta.url);

function sourcesIn(folder: string): string[] {
  const url = new URL(folder, ROOT);
  return [...Deno.readDirSync(url)].filter(({ name }) => name.endsWith(".tc"))
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name }) => withPragmas(Deno.readTextFileSync(new URL(name, url))));
}

/** One variant and one configuration of each kernel: a mutation is compiled once, not a hundred times. */
function reduced(text: string): string {
  return text
    .replaceAll(/^(#pragma tri variants \w+ in \{)([^,}]*)[^}]*\}/gm, "$1$2}")
    .replaceAll(/( in \{)([^,}]*),[^}]*\}/g, "$1$2}")
    .replaceAll(/^#pragma tri configs(.*) if [!_].*$/gm, "#pragma tri configs$1")
    .replace(/(^#pragma tri configs.*\n)(?:#pragma tri configs.*\n)*/m, "$1");
}

const KERNELS = [...sourcesIn("kernels/"), ...sourcesIn("tests/kernels/")].map(reduced);
const GOLDEN = [
  "tests/golden/check/",
  "tests/golden/check/clean/",
  "tests/golden/parse/",
  "tests/golden/parse/clean/",
].flatMap(sourcesIn);
const DEFINES = ["TM=16", "TN=32", "MB=16", "NB=16", "KB=32", "TYPE=float"].map((text) => {
  const [name = "", value = ""] = text.split("=");
  return { name, value };
});

/** A mutation may ask for a large tile; work then goes with its size, so tiles are kept small here. */
const MOST_ELEMENTS = 4096;

/** Spans lie in their files, and a message can be shown. */
function judgeDiagnostics(diagnostics: readonly Diagnostic[], text: string): void {
  for (const diagnostic of diagnostics) {
    const { span, fix, notes } = diagnostic;
    for (const at of [span, fix?.span, ...notes.map((note) => note.span)]) {
      if (at === undefined) continue;
      assert(at.start >= 0 && at.start <= at.end && at.end <= at.file.text.length, text);
    }
    assert(renderDiagnostic(diagnostic, { color: false }).length > 0, text);
  }
}

/** Every stage of the front end, one after the other, whatever the one before reported. */
function runFront(text: string): void {
  const file: SourceFile = { name: "fuzz.tc", text };
  const reporter = new Reporter();
  readPragmas(file, undefined, reporter);
  const { tokens, comments } = preprocess(
    file,
    { defines: DEFINES, predefined: { NULL: "0", __TRITON_C__: "1" } },
    reporter,
  );
  dumpTyped(check(parse(tokens, comments, reporter), {}, reporter));
  judgeDiagnostics(reporter.diagnostics, text);
}

const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);

function runCompiler(text: string, targets: readonly TargetName[] = ["sm_80"]): void {
  const options = { targets, maxTileElements: MOST_ELEMENTS, verify: true };
  const { diagnostics } = compileFile({ name: "fuzz.tc", text }, { ...options, defines: DEFINES });
  judgeDiagnostics(diagnostics, text);
}

const anyEdits = anyEditsFrom([...KERNELS, ...GOLDEN]);

/** Runs a property; failing texts are made small and shown. */
function holds(text: fc.Arbitrary<string>, run: (text: string) => void, count: number): void {
  fc.assert(fc.property(text, run), { numRuns: count });
}

const mutated = (sources: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...sources), anyEdits).map(([source, edits]) => mutate(source, edits));

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 80 }).map((words) => words.join(" ")),
  fc.array(
    fc.constantFrom(...WORDS, ..."TM TN TYPE a b A F(1) F(a,b) defined __LINE__".split(" ")),
    {
      maxLength: 60,
    },
  ).map((words) => words.join("")),
);

Deno.test("preprocess(), parse() and check() take any text", () => {
  holds(anyText, runFront, 3 * COUNT);
});

Deno.test("preprocess(), parse() and check() take files with mistakes of any kind", () => {
  holds(mutated([...KERNELS, ...GOLDEN]), runFront, 2 * COUNT);
});

Deno.test("compileFile() takes any text", () => {
  holds(anyText, runCompiler, COUNT);
});

Deno.test("compileFile() takes kernels with mistakes of any kind", () => {
  holds(mutated(KERNELS), runCompiler, COUNT / 2);
});

Deno.test("compileFile() takes random programs with mistakes of any kind", () => {
  const programs = fc.tuple(anyProgram(FEATURES), anyEdits)
    .map(([program, edits]) => mutate(renderProgram(program), edits));
  holds(programs, runCompiler, COUNT / 2);
});

/** Lines of pragmas out of all kernels, for edits to splice. */
const PRAGMAS = KERNELS.flatMap((text) => text.match(/^#pragma tri.*$/gm) ?? []);

Deno.test("compileFile() takes pragmas with mistakes of any kind", () => {
  const anyPragma = fc.tuple(fc.constantFrom(...PRAGMAS), anyEditsFrom(PRAGMAS))
    .map(([line, edits]) => mutate(line, edits));
  const files = fc.tuple(
    fc.constantFrom(...KERNELS),
    fc.array(anyPragma, { minLength: 1, maxLength: 3 }),
  ).map(([text, lines]) => `${lines.join("\n")}\n${text}`);
  const options = { targets: ["sm_80"], checkOnly: true, defines: DEFINES } as const;
  const run = (text: string): void => {
    const { diagnostics } = compileFile({ name: "fuzz.tc", text }, options);
    judgeDiagnostics(diagnostics, text);
  };
  fc.assert(fc.property(files, run), { numRuns: COUNT / 2 });
});

Deno.test("compileFile() compiles valid mutated programs, for every target", () => {
  const programs = fc.tuple(
    fc.oneof(fc.constantFrom(...KERNELS), anyProgram(FEATURES).map(renderProgram)).chain(anyKin),
    fc.constantFrom(...NAMES),
  );
  fc.assert(
    fc.property(programs, ([text, target]) => runCompiler(text, [target])),
    { numRuns: COUNT / 8 },
  );
});

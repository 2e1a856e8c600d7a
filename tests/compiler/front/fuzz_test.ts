/**
 * The compiler takes any text: it answers with diagnostics, never with an exception, and it ends. Arbitrary text,
 * and kernels with tokens lost, doubled, swapped, replaced, or spliced with another kernel's.
 * `TRI_FUZZ=20000 deno test -A tests/compiler/front/fuzz_test.ts` tries more.
 */
import fc from "fast-check";
import { compileFile } from "../../../compiler/mod.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import { dumpTyped } from "../../../compiler/front/dump_typed.ts";
import { check } from "../../../compiler/front/check.ts";
import { parse } from "../../../compiler/front/parser.ts";
import { preprocess } from "../../../compiler/front/preprocess.ts";
import { readPragmas } from "../../../compiler/front/read_pragmas.ts";
import { renderDiagnostic } from "../../../compiler/support/render.ts";
import type { SourceFile } from "../../../compiler/support/source.ts";
import { assert } from "../../support/assert.ts";
import { anyProgram } from "../../support/generate/arbitrary.ts";
import { FEATURES } from "../../support/generate/features.ts";
import { renderProgram } from "../../support/generate/tree.ts";

const COUNT = Number(Deno.env.get("TRI_FUZZ") ?? 400);
const ROOT = new URL("../../../", import.meta.url);

function sourcesIn(folder: string): string[] {
  const url = new URL(folder, ROOT);
  return [...Deno.readDirSync(url)].filter(({ name }) => name.endsWith(".tc"))
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name }) => Deno.readTextFileSync(new URL(name, url)));
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
  readPragmas(file, reporter);
  const { tokens, comments } = preprocess(
    file,
    { defines: DEFINES, predefined: { NULL: "0", __TRITON_C__: "1" } },
    reporter,
  );
  dumpTyped(check(parse(tokens, comments, reporter), {}, reporter));
  judgeDiagnostics(reporter.diagnostics, text);
}

function runCompiler(text: string): void {
  const options = { targets: ["sm_80"], maxTileElements: MOST_ELEMENTS } as const;
  const { diagnostics } = compileFile({ name: "fuzz.tc", text }, { ...options, defines: DEFINES });
  judgeDiagnostics(diagnostics, text);
}

const tokensOf = (text: string): string[] =>
  text.match(/\/\/.*|\w+|\.\.\.|[<>=!&|+*-]=|&&|\|\||##|[^\S\n]+|\n|./gs) ?? [];

const WORDS = [
  ..."+ - * / % @ & | ^ ~ ! < > == << && || ++ = += : , ; ? . ... ( ) [ ] { } # ## \\".split(" "),
  ..."newaxis sizeof bitcast true int float half bfloat16 double float8e4 void const static".split(
    " ",
  ),
  ..."0 1 2 16 4096 -1 1.5 0x80000000 1e300 08 1h 'a' '' \"s\" \" x *p *?( [+] [:,+] [^1,^0]".split(
    " ",
  ),
  ..."exp( max( atomic_add( load( zeros( sort( gather( dot( (float[16]) (int) return break".split(
    " ",
  ),
  ..."if for while do typedef enum __global__ __multipleof(8) get_program_id(0) continue".split(
    " ",
  ),
  "\n#define A A(",
  "\n#define F(x, ...) x ## __VA_ARGS__ # x\n",
  "\n#if 1\n",
  "\n#if TM >\n",
  "\n#else\n",
  "\n#endif\n",
  '\n#include "x"\n',
  "\n#pragma tri config TM=8; num_warps=2\n",
  "\n#pragma tri grid(M,\n",
  "\n#pragma tri tensor X : in float[M, N] strides [ldx, 1]\n",
  "\n#pragma unroll 2\n",
  "/*",
  "*/",
  "\\\n",
  "\u{1F600}",
  "\0",
];

const anyEdit = fc.record({
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 12 }),
  action: fc.constantFrom("drop", "double", "swap", "replace", "insert", "splice", "character"),
  word: fc.constantFrom(...WORDS),
  other: fc.constantFrom(...KERNELS, ...GOLDEN),
  from: fc.nat(),
});
type Edit = typeof anyEdit extends fc.Arbitrary<infer T> ? T : never;

function mutate(source: string, edits: readonly Edit[]): string {
  const tokens = tokensOf(source);
  for (const { at, length, action, word, other, from } of edits) {
    const i = at % Math.max(1, tokens.length);
    const here = tokens.slice(i, i + length);
    if (action === "drop") tokens.splice(i, length);
    else if (action === "double") tokens.splice(i, 0, ...here);
    else if (action === "swap") tokens.splice(i, 2, tokens[i + 1] ?? "", " ", tokens[i] ?? "");
    else if (action === "replace") tokens.splice(i, 1, word);
    else if (action === "insert") tokens.splice(i, 0, word);
    else if (action === "splice") {
      const pieces = tokensOf(other);
      const start = from % pieces.length;
      tokens.splice(i, length, ...pieces.slice(start, start + 4 * length));
    } else {
      const token = tokens[i] ?? "";
      const cut = from % (token.length + 1);
      tokens.splice(i, 1, token.slice(0, cut) + word.slice(0, 1) + token.slice(cut + 1));
    }
  }
  return tokens.join("");
}

const anyEdits = fc.array(anyEdit, { minLength: 1, maxLength: 5 });

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

import { check, checkFile } from "../../../compiler/check/check.ts";
import { dumpTyped } from "../../../compiler/check/tree/dump_typed.ts";
import { parse } from "../../../compiler/parse/parser.ts";
import { findDefinitions } from "../../../compiler/driver/front/kernel_definitions.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import { assertEquals } from "../../support/assert.ts";
import { located, run } from "../../support/compiler/preprocess.ts";

const ROOT = new URL("../../../", import.meta.url);
const DEFINES = { TYPE: "float", TM: "16", TN: "32", MB: "16", NB: "16", KB: "32" };

function sourcesIn(folder: string): (readonly [name: string, text: string])[] {
  const url = new URL(folder, ROOT);
  return [...Deno.readDirSync(url)].filter(({ name }) => name.endsWith(".tc"))
    .map(({ name }) => [`${folder}${name}`, Deno.readTextFileSync(new URL(name, url))]);
}

interface Both {
  /** Typed trees of the whole, and of the kernels one by one. */
  readonly whole: string;
  readonly parts: string;
  /** Diagnostics of the whole, of what stands outside of kernels, and of each kernel. */
  readonly found: readonly string[];
  readonly general: readonly string[];
  readonly own: readonly (readonly string[])[];
  /** Messages about names that nothing declares, of the whole and of the parts. */
  readonly undeclared: readonly [whole: ReadonlySet<string>, parts: ReadonlySet<string>];
}

function undeclaredIn(diagnostics: readonly Diagnostic[]): ReadonlySet<string> {
  return new Set(diagnostics.flatMap(({ code, message }) => code === "E2001" ? message : []));
}

/** The kernels of a text, each checked on its own, and all in one. */
function checkBoth(text: string, defines: Readonly<Record<string, string>> = {}): Both {
  const { tokens, comments } = run(text, defines);
  const unit = parse(tokens, comments, new Reporter());
  const reporter = new Reporter();
  const whole = dumpTyped(check(unit, {}, reporter));
  const { all } = findDefinitions(unit);
  const file = checkFile(unit, all, {});
  const kernels = [...all].map((definition) => file.check(definition));
  return {
    whole,
    parts: dumpTyped({ kernels: kernels.flatMap(({ kernel }) => kernel ?? []) }),
    found: reporter.diagnostics.map(located),
    general: file.diagnostics.map(located),
    own: kernels.map(({ diagnostics }) => diagnostics.map(located)),
    undeclared: [
      undeclaredIn(reporter.diagnostics),
      undeclaredIn([...file.diagnostics, ...kernels.flatMap(({ diagnostics }) => diagnostics)]),
    ],
  };
}

for (
  const [name, text] of ["tests/golden/check/", "tests/golden/check/clean/", "kernels/"]
    .flatMap(sourcesIn)
) {
  Deno.test(`checkFile() finds in the parts of ${name} what check() finds in the whole`, () => {
    const { whole, parts, found, general, own, undeclared } = checkBoth(text, DEFINES);
    // A name that nothing declares is reported where it is met first: in the whole, and in each part.
    const declared = (all: readonly string[]) =>
      new Set(all.filter((one) => !one.startsWith("E2001")));
    assertEquals(declared([...general, ...own.flat()]), declared(found));
    assertEquals(undeclared[1], undeclared[0]);
    if (!found.some((one) => one.startsWith("E"))) assertEquals(parts, whole);
  });
}

Deno.test("checkFile() lets a kernel see the names that are declared before it", () => {
  const text = [
    "const int A = 1;",
    "int twice(int x);",
    "__global__ void f(int *X) { *X = A + B; }",
    "const int B = 2;",
    "__global__ void g(int *X) { *X = twice(A + B); int f; }",
    "int twice(int x) { return x * 2; }",
  ].join("\n");
  const { general, own } = checkBoth(text);
  assertEquals([general, own], [[], [["E2001 3:38"], ["W6021 5:52"]]]);
});

Deno.test("checkFile() reports errors of a helper once, and of calls at each call", () => {
  const text = [
    "int gone(int x);",
    "int unset(void) { int a; return a; }",
    "int again(int x) { return again(x); }",
    "__global__ void f(int *X) { *X = gone(1) + unset(); }",
    "__global__ void g(int *X) { *X = unset(); }",
  ].join("\n");
  const broken = checkBoth(text);
  assertEquals([broken.general, broken.own], [["E4025 3:27"], [["E4029 4:34"], []]]);
  const whole = checkBoth(text.replace("int again(int x) { return again(x); }", ""));
  assertEquals([whole.general, whole.own], [[], [["E4029 4:34"], ["W4004 2:33"]]]);
});

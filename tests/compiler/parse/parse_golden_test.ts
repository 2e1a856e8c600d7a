import { dumpAst } from "../../../compiler/parse/dump_ast.ts";
import { printAst } from "../../support/compiler/print_ast.ts";
import { assertEquals } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";
import {
  codesOf,
  listDiagnostics,
  parseClean,
  parseCleanExpr,
  parseText,
  shapeOf,
  withoutSpans,
} from "../../support/compiler/parse.ts";

const FOLDER = new URL("../../golden/parse/", import.meta.url);
const CLEAN = new URL("clean/", FOLDER);

/** Values that builds of the published kernels use; a product without parentheses among them. */
const DEFINES = { TYPE: "half", TM: "64*2", TN: "32", MB: "128", NB: "128", KB: "32" };

function kernelsIn(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
    name.endsWith(".tc")
  ).sort();
}

for (const name of kernelsIn(FOLDER)) {
  Deno.test(`parse() reports what is wrong in ${name}`, () => {
    const text = Deno.readTextFileSync(new URL(name, FOLDER));
    golden(
      new URL(name.replace(/\.tc$/, ".err"), FOLDER),
      listDiagnostics(parseText(text, DEFINES).diagnostics),
    );
  });
}

for (const name of kernelsIn(CLEAN)) {
  // Without parentheses around its value TM would halve ranges: here tiles have plain sizes.
  const defines = { ...DEFINES, TM: "64" };
  const text = Deno.readTextFileSync(new URL(name, CLEAN));

  Deno.test(`parse() reads ${name}, and printAst() writes what it has read`, () => {
    const unit = parseClean(text, defines);
    assertEquals(withoutSpans(parseClean(printAst(unit))), withoutSpans(unit));
  });
}

for (const name of ["transpose", "wild"]) {
  Deno.test(`dumpAst() draws the tree of ${name}.tc`, () => {
    const text = Deno.readTextFileSync(new URL(`${name}.tc`, CLEAN));
    golden(new URL(`${name}.ast`, CLEAN), dumpAst(parseClean(text, { ...DEFINES, TM: "64" })));
  });
}

Deno.test("parse() accepts the early notebook's load of a load, which has a meaning to reject", () => {
  assertEquals(shapeOf(parseCleanExpr("*?(check)*px")), "(*?(check) (*px))");
});

/** language.md 11: published text that must be rejected, as far as that is the parser's part. */
const REJECTED: readonly (readonly [string, string])[] = [
  ["int rx[32] = get_program_id(0) * 32 + (0 ... 32)\nint z;", "E5003"],
  ["float y[16] 16];", "E5003"],
  ["void f() { A[m : m+MB, k : k+KB]; }", "E5003"],
  ["void f() { @mask *p = 1; }", "E5003"],
  ["tunable int n = 3;", "E2001"],
  ["void f(fp32 x) {}", "E2001"],
];

for (const [text, code] of REJECTED) {
  Deno.test(`parse() rejects \`${text}\` with ${code} alone`, () =>
    assertEquals(codesOf(text), [code]));
}

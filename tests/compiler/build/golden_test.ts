/** Tile IR of whole kernels, from source text: as built. */
import { buildFunc } from "../../../compiler/build/mod.ts";
import { check } from "../../../compiler/check/check.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assertEquals } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";
import { type Defines, listDiagnostics, parseClean } from "../../support/compiler/parse.ts";

const KERNELS: readonly (readonly [name: string, defines: Defines])[] = [
  ["transpose", { TYPE: "float", TM: "64", TN: "32" }],
  ["transpose_checked", { TYPE: "half", TM: "64", TN: "64" }],
  ["control", { TYPE: "short", TM: "16" }],
];

for (const [name, defines] of KERNELS) {
  Deno.test(`buildFunc() of ${name} gives the golden text`, () => {
    const folder = new URL("../../golden/build/", import.meta.url);
    const reporter = new Reporter();
    const { kernels } = check(
      parseClean(Deno.readTextFileSync(new URL(`${name}.tc`, folder)), defines),
      {},
      reporter,
    );
    const built = must(buildFunc(must(kernels[0], "kernel"), {}, reporter), "function");
    assertEquals(listDiagnostics(reporter.diagnostics), "");
    verifyFunc(built);
    golden(new URL(`${name}.ir`, folder), printFunc(built));
  });
}

import { dumpTyped } from "../../../compiler/check/tree/dump_typed.ts";
import { CODES } from "../../../compiler/support/codes.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { checkClean, checkText } from "../../support/compiler/check.ts";
import { golden } from "../../support/golden.ts";
import { listDiagnostics } from "../../support/compiler/parse.ts";

const FOLDER = new URL("../../golden/check/", import.meta.url);
const CLEAN = new URL("clean/", FOLDER);
const PARSED = new URL("../../golden/parse/clean/", import.meta.url);
const DEFINES = { TYPE: "half", TM: "64", TN: "32", MB: "128", NB: "128", KB: "32" };

function kernelsIn(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
    name.endsWith(".tc")
  ).sort();
}

for (const name of kernelsIn(FOLDER)) {
  Deno.test(`check() reports what is wrong in ${name}`, () => {
    const { TM, TYPE } = DEFINES;
    const { diagnostics } = checkText(Deno.readTextFileSync(new URL(name, FOLDER)), { TM, TYPE });
    golden(new URL(name.replace(/\.tc$/, ".err"), FOLDER), listDiagnostics(diagnostics));
  });
}

for (const name of kernelsIn(CLEAN)) {
  Deno.test(`dumpTyped() prints ${name}`, () => {
    const unit = checkClean(Deno.readTextFileSync(new URL(name, CLEAN)), DEFINES);
    golden(new URL(name.replace(/\.tc$/, ".types"), CLEAN), dumpTyped(unit));
  });
}

/** Kernels of the published tutorials, which the parser's tests keep. */
const TUTORIALS = [
  "transpose",
  "transpose_multipleof",
  "transpose_checked",
  "pointer_blocks",
  "dot",
  "dot_row_major",
];

for (const name of TUTORIALS) {
  Deno.test(`check() finds nothing wrong in ${name}.tc for any element type`, () => {
    const text = Deno.readTextFileSync(new URL(`${name}.tc`, PARSED));
    const types = /@/.test(text)
      ? ["half", "float", "double", "bfloat16"]
      : ["char", "half", "long"];
    for (const TYPE of types) checkClean(text, { ...DEFINES, TYPE });
  });
}

/** Codes of these sections that other stages report, or that the checker cannot reach with a whole file. */
const OF_OTHER_STAGES = new Set([
  ...["E2010", "E2012", "E2014", "E5002", "E5003", "E5101", "W5102"],
  // Limits of the builder: tests/compiler/build/limits_test.ts.
  ...["E4030", "E4031", "E4032"],
]);
/** Reported on request only. */
const ON_REQUEST = new Set(["W2015", "W6021"]);

Deno.test("check() shows each of its codes in a golden file", () => {
  const seen = new Set(
    kernelsIn(FOLDER).flatMap((name) => {
      const text = Deno.readTextFileSync(new URL(name.replace(/\.tc$/, ".err"), FOLDER));
      return [...text.matchAll(/: (?:error|warning) ([EW]\d{4}):/g)].map(([, code]) => code ?? "");
    }),
  );
  const missing = Object.keys(CODES).filter((code) =>
    /^[EW][2-6]/.test(code) && !seen.has(code) && !OF_OTHER_STAGES.has(code) &&
    !ON_REQUEST.has(code)
  );
  assertEquals(missing, []);
  assert(seen.size > 80);
});

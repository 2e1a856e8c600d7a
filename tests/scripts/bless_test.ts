import { RECORDED, recordedOf, testsOf } from "../../scripts/bless.ts";
import { assert, assertEquals } from "../support/assert.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("testsOf() finds the test of a file, of a folder and of a test", () => {
  assertEquals(testsOf("tests/passes/simplify/fold.ir"), ["tests/passes/files_test.ts"]);
  assertEquals(testsOf("tests/golden/lower"), ["tests/compiler/lower/golden_test.ts"]);
  assert(testsOf("tests/golden").length > 5);
  assertEquals(testsOf("tests/compiler/lower/golden_test.ts"), [
    "tests/compiler/lower/golden_test.ts",
  ]);
  assertEquals(testsOf("compiler/mod.ts"), []);
});

Deno.test("recordedOf() gives what a test compares", () => {
  assertEquals(recordedOf("tests/passes/cse.ir"), ["tests/passes/cse.ir"]);
  assertEquals(recordedOf("tests/compiler/lower/golden_test.ts"), ["tests/golden/lower"]);
});

Deno.test("RECORDED has every folder of tests/golden, and files that exist", () => {
  for (const { name } of Deno.readDirSync(new URL("tests/golden", ROOT))) {
    assert(testsOf(`tests/golden/${name}`).length > 0, name);
  }
  for (const [recorded, test] of RECORDED) {
    Deno.statSync(new URL(recorded, ROOT));
    Deno.statSync(new URL(test, ROOT));
  }
});

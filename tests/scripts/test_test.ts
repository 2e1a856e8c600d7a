import { suitesOf } from "../../scripts/test.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("suitesOf() starts what takes longest first", () => {
  const suites = suitesOf([
    "architecture_test.ts",
    "bench",
    "cli",
    "compiler/ir",
    "compiler/lower",
  ]);
  assertEquals(suites.map(({ name, paths }) => [name, ...paths]), [
    ["compiler/lower", "tests/compiler/lower"],
    ["cli", "tests/cli"],
    ["architecture_test.ts", "tests/architecture_test.ts"],
    ["bench", "tests/bench"],
    ["compiler/ir", "tests/compiler/ir"],
  ]);
});

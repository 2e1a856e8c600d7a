import { suitesOf } from "../../scripts/test_gpu.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("suitesOf() divides long files and starts them first", () => {
  const suites = suitesOf(["copy_test.ts", "random_test.ts", "attention_test.ts"]);
  assertEquals(suites.map(({ name }) => name), [
    "random_test.ts 0/4",
    "random_test.ts 1/4",
    "random_test.ts 2/4",
    "random_test.ts 3/4",
    "attention_test.ts",
    "copy_test.ts",
  ]);
});

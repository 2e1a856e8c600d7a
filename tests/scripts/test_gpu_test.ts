import { suitesOf } from "../../scripts/test_gpu.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("suitesOf() divides long files and starts them first, the longest before others", () => {
  const suites = suitesOf(["copy_test.ts", "calls_test.ts", "random_test.ts"]);
  assertEquals(suites.map(({ name }) => name), [
    ...["0/4", "1/4", "2/4", "3/4"].map((part) => `random_test.ts ${part}`),
    ...["0/3", "1/3", "2/3"].map((part) => `copy_test.ts ${part}`),
    "calls_test.ts",
  ]);
});

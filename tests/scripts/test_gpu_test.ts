import { jobsOf } from "../../scripts/test_gpu.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("jobsOf() takes long files apart and starts them first", () => {
  const jobs = jobsOf(["copy_test.ts", "random_test.ts", "attention_test.ts"]);
  assertEquals(jobs.map(({ file, part }) => `${file} ${part}`), [
    "random_test.ts 0/4",
    "random_test.ts 1/4",
    "random_test.ts 2/4",
    "random_test.ts 3/4",
    "attention_test.ts undefined",
    "copy_test.ts undefined",
  ]);
});

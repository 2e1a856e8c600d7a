import { needsBuild } from "../../scripts/needs_build.ts";
import { jobsOf, suitesOf } from "../../scripts/test.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("suitesOf() starts what takes longest first, and shares a process for the rest of a folder", () => {
  const suites = suitesOf([
    "architecture_test.ts",
    "bench",
    "cli",
    "compiler/ir",
    "compiler/lower",
    "compiler/mod_test.ts",
    "compiler/schedule",
  ]);
  assertEquals(suites.map(({ name, paths }) => [name, ...paths]), [
    ["cli", "tests/cli"],
    ["compiler/lower and compiler/schedule", "tests/compiler/lower", "tests/compiler/schedule"],
    ["compiler", "tests/compiler/ir", "tests/compiler/mod_test.ts"],
    ["others", "tests/architecture_test.ts", "tests/bench"],
  ]);
});

Deno.test("jobsOf() starts the build first, and its readers after it", () => {
  const jobs = jobsOf([]);
  assertEquals(jobs[0]?.name, "build-kernels");
  const waits = (name: string): boolean | undefined =>
    jobs.find((job) => job.name === name)?.after.includes("build-kernels");
  const names = ["types", "kernels", "cli", "others", "compiler/ptx", "npm"];
  assertEquals(names.map(waits), [true, true, true, true, false, false]);
});

Deno.test("needsBuild() finds imports and URLs of generated/ through imports", () => {
  assert(needsBuild("tests/kernels/rows_test.ts"));
  assert(needsBuild("tests/compiler/lower/assemble_test.ts"));
  assert(!needsBuild("tests/compiler/lower/golden_test.ts"));
});

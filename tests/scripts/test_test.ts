import { needsBuild } from "../../scripts/needs_build.ts";
import { jobsOf, startEarly, suitesOf } from "../../scripts/test.ts";
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
  const names = ["types", "kernels", "cli", "others", "compiler", "compiler/ptx", "npm"];
  assertEquals(names.map(waits), [true, true, true, true, false, false, false]);
});

Deno.test("startEarly() leaves the few files of a suite that read what is built to others", () => {
  const suites = startEarly(suitesOf(["bench", "compiler/lower", "compiler/schedule", "kernels"]));
  const lower = suites.find(({ name }) => name.startsWith("compiler/lower"))?.paths ?? [];
  const others = suites.find(({ name }) => name === "others")?.paths ?? [];
  const moved = "tests/compiler/lower/assemble_test.ts";
  assert(lower.length > 0 && !lower.some(needsBuild));
  assertEquals([lower.includes(moved), others.includes(moved)], [false, true]);
  // Most files of this one wait.
  assertEquals(suites.find(({ name }) => name === "kernels")?.paths, ["tests/kernels"]);
});

Deno.test("needsBuild() finds imports and URLs of generated/ through imports", () => {
  assert(needsBuild("tests/kernels/rows_test.ts"));
  assert(needsBuild("tests/compiler/lower/assemble_test.ts"));
  assert(!needsBuild("tests/compiler/lower/golden_test.ts"));
});

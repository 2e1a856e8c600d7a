/** The shipped benchmark modules, and the pictures of the repository. */
import { parseRecording, printRecording, workOf } from "../../../bench/mod.ts";
import { loadBenchmarks } from "../../../cli/bench/module.ts";
import { drawSvg } from "../../../cli/bench/plot.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

Deno.test("kernels/bench has modules whose benchmarks have names of their own and move or compute something", async () => {
  const names: string[] = [];
  for (const { name } of Deno.readDirSync(`${ROOT}kernels/bench`)) {
    if (name === "inputs.ts") continue;
    for (
      const { name: own, x, measure, lines } of await loadBenchmarks(`${ROOT}kernels/bench/${name}`)
    ) {
      names.push(own);
      assertEquals(lines[0], { name: "ours", label: "tri" });
      for (const value of x.values) assert(workOf(measure, value) > 0, own);
    }
  }
  assertEquals(new Set(names).size, names.length);
  for (const kernel of ["transpose_float32", "matmul_float16"]) assert(names.includes(kernel));
});

Deno.test("docs/plots has the pictures that tri bench draws of the recordings beside them", async () => {
  for (const name of ["transpose", "matmul"]) {
    const text = Deno.readTextFileSync(`${ROOT}docs/plots/${name}.json`);
    const recording = parseRecording(text, name);
    assertEquals(printRecording(recording) === text, true, `${name}.json is as written`);
    const svg = Deno.readTextFileSync(`${ROOT}docs/plots/${name}.svg`);
    assert(await drawSvg(recording) === svg, `tri bench docs/plots/${name}.json --save docs/plots`);
  }
});

import {
  type Benchmark,
  DEFAULT_TIMING,
  parseRecording,
  printRecording,
} from "../../../bench/mod.ts";
import { loadBenchmarks, measureModule } from "../../../cli/bench/module.ts";
import { Failure } from "../../../cli/failure.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";
import { TimedDevice } from "../../bench/support.ts";
import { Workspace } from "../support/tri_process.ts";

const BENCH = new URL("../../../bench/mod.ts", import.meta.url).href;

/** A module with two benchmarks of a kernel that the device has, twice as slow in the second. */
const MODULE = `
import { benchmark } from "${BENCH}";

const make = (name: string, calls: number) =>
  benchmark({
    name,
    title: name,
    x: { names: ["N"], values: [8, 16], scale: "linear" },
    measure: { unit: "TFLOP/s", flops: (n) => n * 1e9 },
    inputs: ({ device, keep }) => keep(device.loadModule(new Uint8Array(4), "image")).function("work"),
    lines: {
      ours: {
        label: "tri",
        prepare: (kernel, { device }) => {
          const { launch } = kernel.prepare({ block: [1, 1, 1], sharedBytes: 0, parameterBytes: 0 });
          return () => {
            for (let i = 0; i < calls; i++) launch(1, 1, 1, device.defaultStream.handle);
          };
        },
      },
    },
  });

export default [make("once", 1), make("twice", 2)];
`;

Deno.test("measureModule() records every benchmark of a module, from its text to the JSON", async () => {
  using workspace = new Workspace({ "b/work.bench.ts": MODULE });
  using timed = new TimedDevice();
  timed.kernel("work", () => 0.5);
  const points: string[] = [];
  const recording = await measureModule(`${workspace.path}/b/work.bench.ts`, timed.device, {
    timing: { ...DEFAULT_TIMING, rounds: 2 },
    date: "2026-11-21",
    onPoint: ({ name }: Benchmark, x) => points.push(`${name} ${x}`),
  });
  assertEquals(recording.module, "work.bench");
  assertEquals(recording.date, "2026-11-21");
  assertEquals(recording.timing, { cache: "hot", rounds: 2 });
  assertEquals(
    recording.benchmarks.map((
      { name, x, rows },
    ) => [name, x.scale, rows.map(({ times }) => times)]),
    [
      ["once", "linear", [{ ours: [0.5, 0.5] }, { ours: [0.5, 0.5] }]],
      ["twice", "linear", [{ ours: [1, 1] }, { ours: [1, 1] }]],
    ],
  );
  assertEquals(points, ["once 8", "once 16", "twice 8", "twice 16"]);
  assertEquals(parseRecording(printRecording(recording), "a.json"), recording);
});

Deno.test("loadBenchmarks() takes one benchmark or a list, and nothing that is neither", async () => {
  const whole = MODULE.replace(/export default .*/, 'export default make("once", 1);');
  const half = MODULE.replace(/export default .*/, 'export default [make("once", 1), 7];');
  using workspace = new Workspace({
    "one.ts": whole,
    "none.ts": "export default [];",
    "half.ts": half,
    "look-alike.ts": `export default ${JSON.stringify({ kind: "tri benchmark" })};`,
  });
  const at = (name: string): string => `${workspace.path}/${name}`;
  assertEquals((await loadBenchmarks(at("one.ts"))).length, 1);
  for (const name of ["none.ts", "half.ts", "look-alike.ts"]) {
    await assertRejects(() => loadBenchmarks(at(name)), Failure, "exports no benchmark");
  }
});

Deno.test("loadBenchmarks() says where a module throws, and what a folder is", async () => {
  using workspace = new Workspace({ "b/broken.ts": '\n\nthrow new Error("no data");\n' });
  const file = `${workspace.path}/b/broken.ts`;
  const { message } = await assertRejects(() => loadBenchmarks(file), Failure);
  assertEquals(
    message,
    `${file} cannot be loaded: no data (line 3, column 7)`,
  );
  const folder = `${workspace.path}/b`;
  await assertRejects(() => loadBenchmarks(folder), Failure, `${folder} is a folder`);
});

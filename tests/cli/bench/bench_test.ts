import { printRecording } from "../../../bench/mod.ts";
import { recordingOf } from "../../bench/support.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { REAL_MAIN, type TriResult, Workspace } from "../support/tri_process.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

function bench(workspace: Workspace, ...args: readonly string[]): Promise<TriResult> {
  return workspace.tri(["bench", ...args], { main: REAL_MAIN, env: { TRI_DEVICE: "emulator" } });
}

/** Samples around a centre. */
function around(centre: number): number[] {
  return Array.from({ length: 12 }, (_, i) => centre * (1 + (i - 6) / 1000));
}

const BEFORE = printRecording(recordingOf({ ours: { 64: around(1), 128: around(2) } }));
const AFTER = printRecording(recordingOf({ ours: { 64: around(1.2), 128: around(2) } }));

const MODULE = `
import { benchmark } from "${ROOT}bench/mod.ts";
export default benchmark({
  name: "nothing",
  title: "Nothing",
  x: { names: ["N"], values: [1] },
  measure: { unit: "ms" },
  inputs: () => ({}),
  lines: { ours: { label: "tri", prepare: () => () => {} } },
});
`;

Deno.test("tri bench says plainly that the emulator has no times, and exits with 3", async () => {
  using workspace = new Workspace({ "a.ts": MODULE });
  const { code, stdout, stderr } = await bench(workspace, "a.ts");
  assertEquals([code, stdout], [3, ""]);
  assertStringIncludes(stderr, "error: Cannot measure on tri emulator (sm_90)");
  assertStringIncludes(stderr, "it has no times\nbenchmarks need an NVIDIA GPU");
  const { stdout: json } = await bench(workspace, "a.ts", "--json");
  assertEquals(JSON.parse(json).ok, false);
});

Deno.test("tri bench prints the table and the chart of a recording, and saves them without a GPU", async () => {
  using workspace = new Workspace({ "a.json": BEFORE });
  const { code, stdout, stderr } = await bench(workspace, "a.json", "--save", "out");
  assertEquals([code, stderr.trim().split("\n").length], [0, 3], stderr);
  assertStringIncludes(stdout, "By hand, GB/s\nM = N           OURS\n   64    1.001 ±0.3%\n");
  assertStringIncludes(stdout, "M = N = 128\n  OURS ████████████████████ 0.5003\n");
  assertEquals([...workspace.files("out").keys()].toSorted(), [
    "out/hand.html",
    "out/hand.json",
    "out/hand.svg",
  ]);
  assertEquals(workspace.read("out/hand.json"), BEFORE);
});

Deno.test("tri bench --with adds lines, and says when another GPU made them", async () => {
  const other = recordingOf({ torch: { 64: [3] } }, {
    module: "python",
    device: { name: "Other GPU", arch: "sm_80", driver: "CUDA 12.0" },
  });
  using workspace = new Workspace({ "a.json": BEFORE, "b.json": printRecording(other) });
  const { code, stdout, stderr } = await bench(workspace, "a.json", "--with", "b.json", "--json");
  assertEquals([code, stderr], [0, "note: python was recorded on Other GPU\n"]);
  const { recordings: [recording] } = JSON.parse(stdout);
  assertEquals(recording.benchmarks[0].lines.map(({ name }: { name: string }) => name), [
    "ours",
    "torch",
  ]);
});

Deno.test("tri bench --compare names what got slower, and fails only where it is asked to", async () => {
  using workspace = new Workspace({ "a.json": BEFORE, "b.json": AFTER });
  const { code, stdout } = await bench(workspace, "--compare", "a.json", "b.json");
  assertEquals(code, 0);
  assertStringIncludes(stdout, "slower: b, ours, 64: 0.9995 ms, then 1.199 ms (+20.0%, p ");
  assertStringIncludes(stdout, "1 of 2 changed, 1 did not");
  const strict = ["--compare", "--fail-if-slower"];
  assertEquals((await bench(workspace, ...strict, "a.json", "b.json")).code, 1);
  assertEquals((await bench(workspace, ...strict, "b.json", "a.json")).code, 0, "faster is fine");
  const lenient = await bench(workspace, ...strict, "--least-change", "25", "a.json", "b.json");
  assertEquals(lenient.code, 0);
});

Deno.test("tri bench refuses what is no benchmark and no recording", async () => {
  using workspace = new Workspace({
    "empty.ts": "export {};\n",
    "broken.ts": "throw new Error('no luck');\n",
    "unbuilt.ts": 'import "./generated/x.ts";\n',
    "a.json": "{}",
  });
  const cases: readonly (readonly [code: number, message: string, ...args: string[]])[] = [
    [2, "tri bench needs a file"],
    [2, "empty.ts exports no benchmark", "empty.ts"],
    [2, "No such file: gone.ts", "gone.ts"],
    [1, "broken.ts cannot be loaded: no luck", "broken.ts"],
    [3, "which is not there\nIf it is a wrapper, build it first", "unbuilt.ts"],
    [3, 'a.json is no recording of a benchmark: the document has no "format"', "a.json"],
    [3, "No such file: gone.json", "gone.json"],
    [2, "--compare takes two recordings", "--compare", "a.json"],
    [2, "--cache warm: not one of hot, cold", "--cache", "warm", "a.json"],
    [2, "--rounds 1.5: not a whole number", "--rounds", "1.5", "a.json"],
    [2, "--rounds 0: not a number from 1 to 10000", "--rounds", "0", "a.json"],
  ];
  for (const [code, message, ...args] of cases) {
    const result = await bench(workspace, ...args);
    assertStringIncludes(result.stderr, message);
    assertEquals(result.code, code, message);
    assert(!result.stderr.includes("    at "), "no stack trace");
  }
});

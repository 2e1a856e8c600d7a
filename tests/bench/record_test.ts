import { parseRecording, printRecording, RecordingError, valueOf } from "../../bench/record.ts";
import { addLines, readRecording, recordedLine } from "../../bench/recorded_line.ts";
import { TriError } from "../../ffi/errors.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { recordingOf, TimedDevice } from "./support.ts";

const RECORDING = recordingOf({ ours: { 512: [0.1, 0.25, 1e-7], 1024: [2] }, other: { 512: [3] } });

Deno.test("valueOf() converts milliseconds to the unit", () => {
  assertEquals(valueOf("GB/s", 4e9, 2), 2000);
  assertEquals(valueOf("TFLOP/s", 3e12, 1.5), 2000);
  assertEquals(valueOf("ms", 0, 1.5), 1.5);
});

Deno.test("printRecording() and parseRecording() are inverse, with a line of text per line of samples", () => {
  const [first] = RECORDING.benchmarks;
  const rows = first?.rows.map((row) => ({ ...row, work: 2 * 8192 ** 3 })) ?? [];
  const benchmarks = first === undefined ? [] : [{ ...first, rows }];
  const dated = { ...RECORDING, date: "2026-11-21", benchmarks };
  for (const recording of [RECORDING, dated]) {
    assertEquals(parseRecording(printRecording(recording), "a.json"), recording);
  }
  const text = printRecording(RECORDING);
  assertEquals(printRecording(parseRecording(text, "a.json")), text);
  assert(text.includes('"ours": [0.1, 0.25, 1e-7]'), text);
});

Deno.test("parseRecording() says what is wrong, and where", () => {
  const text = printRecording(RECORDING);
  const cases = [
    ["{", "a.json is no recording of a benchmark: "],
    ["[1]", "the document is not an object"],
    ["{}", 'the document has no "format"'],
    [text.replace("tri bench 1", "tri bench 9"), 'its "format" is not "tri bench 1"'],
    [text.replace('"arch": "sm_90"', '"arch": 90'), "device.arch is no text"],
    [text.replace("GB/s", "GB"), "benchmarks.0.unit is none of GB/s, TFLOP/s, ms"],
    [text.replace("0.25", '"x"'), "benchmarks.0.rows.0.times.ours.1 is no number"],
    [text.replace('"hot"', '"warm"'), "timing.cache is none of hot, cold"],
  ] as const;
  for (const [broken, problem] of cases) {
    assertThrows(() => parseRecording(broken, "a.json"), RecordingError, problem);
  }
});

Deno.test("recordedLine() has the samples of its points, and none at others", () => {
  const file = Deno.makeTempFileSync({ suffix: ".json" });
  try {
    Deno.writeTextFileSync(file, printRecording(RECORDING));
    const url = new URL(`file://${file}`);
    const line = recordedLine({ file: url, benchmark: "b", line: "other", label: "Other" });
    using timed = new TimedDevice();
    const at = (x: number): unknown =>
      line.prepare(undefined, { device: timed.device, x, keep: (resource) => resource });
    assertEquals(at(512), { milliseconds: [3] });
    assertEquals(at(1024), undefined);
    const unknown = recordedLine({ file: url, benchmark: "c", line: "other", label: "" });
    assertEquals(
      unknown.prepare(undefined, { device: timed.device, x: 512, keep: (resource) => resource }),
      undefined,
    );
  } finally {
    Deno.removeSync(file);
  }
});

Deno.test("readRecording() names a file that is not there", () => {
  assertThrows(
    () => readRecording(new URL("file:///nowhere/a.json")),
    TriError,
    "Cannot read /nowhere/a.json",
  );
});

Deno.test("addLines() adds lines of new names at the points that the recording has", () => {
  const other = recordingOf(
    { ours: { 512: [9] }, third: { 512: [4], 9999: [5] } },
    { module: "python" },
  );
  const [joined] = addLines(RECORDING, other).benchmarks;
  assertEquals(joined?.lines, [
    { name: "ours", label: "OURS" },
    { name: "other", label: "OTHER" },
    { name: "third", label: "THIRD", source: "python" },
  ]);
  assertEquals(joined?.rows.map(({ x, times }) => [x, Object.keys(times)]), [
    [512, ["ours", "other", "third"]],
    [1024, ["ours"]],
  ]);
  assertEquals(joined?.rows[0]?.times["ours"], [0.1, 0.25, 1e-7], "our own samples stay");
});

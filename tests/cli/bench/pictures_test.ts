import { drawBar, drawCharts } from "../../../cli/bench/chart.ts";
import { printFigure } from "../../../cli/bench/figures.ts";
import { printPage } from "../../../cli/bench/page.ts";
import { drawSvg } from "../../../cli/bench/plot.ts";
import { printTables } from "../../../cli/bench/table.ts";
import { recordingOf } from "../../bench/support.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";

/** 1e6 bytes in a millisecond are a gigabyte per second. */
const RECORDING = recordingOf({
  ours: { 512: [0.5, 0.5, 0.5], 1024: [0.25, 0.2, 0.3] },
  other: { 1024: [1, 1, 1] },
}, { date: "2026-11-21" });

Deno.test("printFigure() keeps four digits and cuts no whole number", () => {
  const cases = [[0, "0.000"], [0.01234567, "0.01235"], [1.5, "1.500"], [999.94, "999.9"], [
    123456.7,
    "123457",
  ]] as const;
  for (const [value, text] of cases) assertEquals(printFigure(value), text);
});

Deno.test("printTables() shows median and half the distance of the quartiles, and gaps", () => {
  assertEquals(
    printTables(RECORDING),
    `By hand, GB/s
M = N           OURS         OTHER
  512    2.000 ±0.0%             –
 1024   4.000 ±10.1%   1.000 ±0.0%

Fake GPU (sm_90, CUDA 13.0), 2026-11-21, L2 cache hot, median of 5 samples
`,
  );
});

Deno.test("printTables() says which lines another process measured", () => {
  const [benchmark] = RECORDING.benchmarks;
  const lines = benchmark?.lines.map((line) => ({ ...line, source: "lines.py" })) ?? [];
  const text = printTables({
    ...RECORDING,
    benchmarks: benchmark === undefined ? [] : [{ ...benchmark, lines }],
  });
  assertStringIncludes(text, "\nmeasured in another process (lines.py): OURS, OTHER\n");
});

Deno.test("drawCharts() draws bars from zero on one scale", () => {
  assertEquals(
    drawCharts(RECORDING),
    `By hand, GB/s
M = N = 512
  OURS  ████████████████████ 2.000
M = N = 1024
  OURS  ████████████████████████████████████████ 4.000
  OTHER ██████████ 1.000
`,
  );
  assertEquals([0, 1 / 320, 9 / 320].map(drawBar), ["", "▏", "█▏"]);
});

/** What the points of the picture say for screen readers. */
function pointsOf(svg: string): string[] {
  const point = /aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="point"/g;
  return [...svg.matchAll(point)].map(([, text = ""]) => text);
}

Deno.test("drawSvg() draws every median, from zero, with the lines' names and where it was measured", async () => {
  const svg = await drawSvg(RECORDING);
  for (const text of ["By hand", "OURS", "OTHER", "GB/s", "M = N", "Fake GPU (sm_90, CUDA 13.0)"]) {
    assert(svg.includes(`>${text}`), text);
  }
  assertEquals(pointsOf(svg), [
    "M = N: 512; GB/s: 2; line: OURS",
    "M = N: 1024; GB/s: 4; line: OURS",
    "M = N: 1024; GB/s: 1; line: OTHER",
  ]);
  assert(svg.includes("'GB/s' for a linear scale with values from 0 to 5"), "from zero");
  assertEquals(await drawSvg(RECORDING), svg, "the same picture for the same samples");
});

Deno.test("printPage() is one page without scripts, and escapes what recordings say", async () => {
  const named = { ...RECORDING, module: "<script>&" };
  const page = printPage(named, await drawSvg(named));
  assertStringIncludes(page, "<title>&lt;script&gt;&amp;</title>");
  assertStringIncludes(page, "<tr><th>512</th><td>2.000 (2.000–2.000)</td><td>–</td></tr>");
  assert(!page.includes("<script"), "no script");
});

/** Recordings as bars of text, from zero, all of a benchmark on one scale. */
import type { BenchmarkRecord, Recording } from "../../bench/mod.ts";
import { axisLabel, figureOf, printFigure } from "./figures.ts";

/** Columns of the longest bar. */
const WIDTH = 40;
/** A column in eighths. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** One chart per benchmark. */
export function drawCharts({ benchmarks }: Recording): string {
  return benchmarks.map(drawChart).join("\n");
}

function drawChart(benchmark: BenchmarkRecord): string {
  const { title, unit, lines, rows } = benchmark;
  const bars = rows.map((row) => ({
    x: row.x,
    bars: lines.flatMap(({ name, label }) => {
      const figure = figureOf(benchmark, row, name);
      return figure === undefined ? [] : [{ label, value: figure.median }];
    }),
  }));
  const most = Math.max(...bars.flatMap(({ bars }) => bars.map(({ value }) => value)), 0);
  const labelWidth = Math.max(...lines.map(({ label }) => label.length));
  return [
    `${title}, ${unit}`,
    ...bars.flatMap(({ x, bars }) => [
      `${axisLabel(benchmark)} = ${x}`,
      ...bars.map(({ label, value }) =>
        `  ${label.padEnd(labelWidth)} ${drawBar(value / most)} ${printFigure(value)}`
      ),
    ]),
  ].map((line) => `${line}\n`).join("");
}

/** A bar for a share of the whole width, to an eighth of a column. */
export function drawBar(share: number): string {
  const eighths = Math.round(share * WIDTH * 8);
  return "█".repeat(eighths >> 3) + (EIGHTHS[eighths & 7] ?? "");
}

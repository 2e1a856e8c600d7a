/** Recordings as tables of text: the median of each line at each point, and half the interquartile range. */
import type { BenchmarkRecord, Recording } from "../../bench/mod.ts";
import { axisLabel, describeRun, type Figure, figureOf, printFigure } from "./figures.ts";

/** One table per benchmark, each under its title. */
export function printTables(recording: Recording): string {
  return recording.benchmarks
    .map((benchmark) => `${benchmark.title}, ${benchmark.unit}\n${printRows(benchmark)}`)
    .concat(`${describeRun(recording).join("\n")}\n`)
    .join("\n");
}

function printRows(benchmark: BenchmarkRecord): string {
  const { lines, rows } = benchmark;
  const cells = [
    [axisLabel(benchmark), ...lines.map(({ label }) => label)],
    ...rows.map((row) => [
      `${row.x}`,
      ...lines.map(({ name }) => printCell(figureOf(benchmark, row, name))),
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((line) => (line[column] ?? "").length))
  );
  return cells.map((line) =>
    `${line.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("   ").trimEnd()}\n`
  ).join("");
}

function printCell(figure: Figure | undefined): string {
  if (figure === undefined) return "–";
  const { median, low, high } = figure;
  return `${printFigure(median)} ±${(50 * (high - low) / median).toFixed(1)}%`;
}

/** A recording as one HTML page without scripts: the picture and the figures under it. */
import { escape } from "@std/html/entities";
import type { BenchmarkRecord, Recording } from "../../bench/mod.ts";
import { axisLabel, describeRun, type Figure, figureOf, printFigure } from "./figures.ts";

/** The page around a picture that `drawSvg()` drew. */
export function printPage(recording: Recording, svg: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escape(recording.module)}</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 0.2em 0.8em; text-align: right; border-bottom: 1px solid #ddd; }
caption { text-align: left; font-weight: bold; }
</style>
<p>${describeRun(recording).map(escape).join("<br>")}<br>In parentheses the quartiles.</p>
${svg}${recording.benchmarks.map(printTable).join("\n")}
</html>
`;
}

function printTable(benchmark: BenchmarkRecord): string {
  const { title, unit, lines, rows } = benchmark;
  const heads = [axisLabel(benchmark), ...lines.map(({ label }) => label)];
  const body = rows.map((row) => {
    const cells = lines.map(({ name }) => printCell(figureOf(benchmark, row, name)));
    return `<tr><th>${row.x}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return [
    `<table><caption>${escape(`${title}, ${unit}`)}</caption>`,
    `<tr>${heads.map((head) => `<th>${escape(head)}</th>`).join("")}</tr>`,
    ...body,
    "</table>",
  ].join("\n");
}

function printCell(figure: Figure | undefined): string {
  if (figure === undefined) return "–";
  const [median, low, high] = [figure.median, figure.low, figure.high].map(printFigure);
  return `${median} (${low}–${high})`;
}

/**
 * Recordings as SVG, drawn by Vega-Lite (BSD-3-Clause), which needs no browser for that. It is loaded only here.
 * Axes begin at zero; quartiles are drawn as bars around the medians.
 */
import type { BenchmarkRecord, Recording } from "../../bench/mod.ts";
import type { TopLevelSpec } from "vega-lite";
import { axisLabel, describeRun, figureOf } from "./figures.ts";

/** What a row of panels can contain. */
type Panel = Extract<TopLevelSpec, { readonly concat: unknown }>["concat"][number];

/** A picture with one panel per benchmark. */
export async function drawSvg(recording: Recording): Promise<string> {
  const [{ parse, View }, { compile }] = await Promise.all([import("vega"), import("vega-lite")]);
  const view = new View(parse(compile(specOf(recording)).spec), { renderer: "none" });
  try {
    return `${await view.toSVG()}\n`;
  } finally {
    view.finalize();
  }
}

function specOf(recording: Recording): TopLevelSpec {
  return {
    title: {
      text: describeRun(recording),
      anchor: "start",
      fontSize: 11,
      fontWeight: "normal",
      offset: 16,
    },
    background: "white",
    padding: 12,
    columns: 2,
    concat: recording.benchmarks.map(panelOf),
    config: { font: "sans-serif", view: { stroke: null }, axis: { gridColor: "#e5e5e5" } },
    resolve: { scale: { color: "independent" } },
  };
}

function panelOf(benchmark: BenchmarkRecord): Panel {
  const { title, unit, x, lines, rows } = benchmark;
  const values = rows.flatMap((row) =>
    lines.flatMap(({ name, label }) => {
      const figure = figureOf(benchmark, row, name);
      return figure === undefined ? [] : [{ x: row.x, line: label, ...figure }];
    })
  );
  const labels = lines.map(({ label }) => label);
  return {
    title: { text: title, anchor: "start" },
    width: 380,
    height: 260,
    data: { values },
    encoding: {
      x: {
        field: "x",
        type: "quantitative",
        title: axisLabel(benchmark),
        scale: x.scale === "log" ? { type: "log", base: 2, nice: false } : { zero: true },
        axis: { values: rows.map((row) => row.x), format: "d", labelOverlap: true, grid: false },
      },
      color: {
        field: "line",
        type: "nominal",
        title: null,
        scale: { domain: labels },
        legend: { orient: "bottom", direction: "horizontal" },
      },
    },
    layer: [
      {
        mark: { type: "line", point: { size: 35 } },
        encoding: {
          y: { field: "median", type: "quantitative", title: unit, scale: { zero: true } },
        },
      },
      {
        mark: { type: "rule", strokeWidth: 2 },
        encoding: {
          y: { field: "low", type: "quantitative" },
          y2: { field: "high" },
        },
      },
    ],
  };
}

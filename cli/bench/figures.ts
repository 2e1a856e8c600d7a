/** Recorded samples as the figures that tables, charts and plots show. */
import {
  type BenchmarkRecord,
  type RecordedRow,
  type Recording,
  summarize,
  valueOf,
} from "../../bench/mod.ts";

/** The value of a line at a point, in the benchmark's unit. */
export interface Figure {
  readonly median: number;
  /** The smaller quartile of the values. */
  readonly low: number;
  /** The larger quartile. */
  readonly high: number;
}

/** The figure of a line in a row; undefined where it has no samples. */
export function figureOf(
  { unit }: BenchmarkRecord,
  { work, times }: RecordedRow,
  line: string,
): Figure | undefined {
  const samples = times[line];
  if (samples === undefined || samples.length === 0) return undefined;
  const { median, low, high } = summarize(samples);
  const [a, b] = [valueOf(unit, work, low), valueOf(unit, work, high)];
  return { median: valueOf(unit, work, median), low: Math.min(a, b), high: Math.max(a, b) };
}

/** Four significant digits; digits before the decimal point are not cut. */
export function printFigure(value: number): string {
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(digits, 6));
}

/** What the axis is called: `M = N`. */
export function axisLabel({ x }: BenchmarkRecord): string {
  return x.names.join(" = ");
}

/** Where, when and how it was measured, in one line, and lines about what was not interleaved with the rest. */
export function describeRun({ device, date, timing, benchmarks }: Recording): string[] {
  const { name, arch, driver } = device;
  const run = [
    `${name} (${arch}, ${driver})`,
    ...(date === undefined ? [] : [date]),
    `L2 cache ${timing.cache}`,
    `median of ${timing.rounds} samples`,
  ].join(", ");
  const foreign = benchmarks.flatMap(({ lines }) => lines).flatMap(({ label, source }) =>
    source === undefined ? [] : [{ label, source }]
  );
  return [
    run,
    ...[...new Set(foreign.map(({ source }) => source))].map((source) => {
      const labels = foreign.filter((line) => line.source === source).map(({ label }) => label);
      return `measured in another process (${source}): ${[...new Set(labels)].join(", ")}`;
    }),
  ];
}

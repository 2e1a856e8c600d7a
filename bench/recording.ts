/** What a recording of benchmarks holds: every sample, so that it can be analysed later. */
import type { Unit } from "./define.ts";

/** The form of recordings that this version writes and reads. */
export const FORMAT = "tri bench 1" as const;

/** A run of one module. */
export interface Recording {
  /** Marks a recording among other JSON. */
  readonly format: typeof FORMAT;
  /** The module's file name without its ending. */
  readonly module: string;
  /** Where it was measured. */
  readonly device: RecordedDevice;
  /** The day, if it was given. */
  readonly date?: string;
  /** How it was timed. */
  readonly timing: { readonly cache: "hot" | "cold"; readonly rounds: number };
  /** What its benchmarks measured. */
  readonly benchmarks: readonly BenchmarkRecord[];
}

/** The GPU of a recording. */
export interface RecordedDevice {
  /** The product name. */
  readonly name: string;
  /** Such as "sm_90". */
  readonly arch: string;
  /** Such as "CUDA 13.0": the newest that the driver supports. */
  readonly driver: string;
}

/** What one benchmark measured. */
export interface BenchmarkRecord {
  /** Comparisons match by it. */
  readonly name: string;
  /** The heading of table and plot. */
  readonly title: string;
  /** The axis. */
  readonly x: { readonly names: readonly string[]; readonly scale: "log" | "linear" };
  /** Of what is shown; the samples are milliseconds. */
  readonly unit: Unit;
  /** The providers, in the order of columns. */
  readonly lines: readonly RecordedLine[];
  /** The points, in the order of the axis. */
  readonly rows: readonly RecordedRow[];
}

/** One provider. */
export interface RecordedLine {
  /** Comparisons match by it. */
  readonly name: string;
  /** What tables and plots call it. */
  readonly label: string;
  /** Which program took the times, where it was another one. */
  readonly source?: string;
}

/** One point on the axis. */
export interface RecordedRow {
  /** The point on the axis. */
  readonly x: number;
  /** Bytes or flops of a call, by the unit; 0 for ms. */
  readonly work: number;
  /** Milliseconds per call, a number per sample, by line; lines without a contender here are absent. */
  readonly times: Readonly<Record<string, readonly number[]>>;
}

/** Recordings: what a run of a benchmark module measured, as JSON with every sample, so that it can be judged later. */
import { TriError } from "../ffi/errors.ts";
import { expectThat, expectUnit } from "./arguments.ts";
import { expectRecording, FORMAT, takeRecording } from "./recording_reader.ts";
import type { Unit } from "./define.ts";

/** A run of one module. */
export interface Recording {
  /** Tells recordings from other JSON. */
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
  /** The places, in the order of the axis. */
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

export { FORMAT };

/** A text is no recording. */
export class RecordingError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "RecordingError";

  /** For `parseRecording()`. */
  constructor(file: string, problem: string) {
    super(`${file} is no recording of a benchmark: ${problem}`, {
      hint: "tri bench --save DIR writes recordings",
    });
  }
}

/** A time in the unit of a benchmark. Throws `ArgumentError` for another unit, and for what is no number. */
export function valueOf(unit: Unit, work: number, milliseconds: number): number {
  expectUnit("unit", unit);
  expectThat(typeof work === "number", "work", "a number", work);
  expectThat(typeof milliseconds === "number", "milliseconds", "a number", milliseconds);
  if (unit === "ms") return milliseconds;
  return work / milliseconds / (unit === "GB/s" ? 1e6 : 1e9);
}

/** The JSON text of a recording: the same for the same samples. Throws `ArgumentError` for what is no recording. */
export function printRecording(recording: Recording): string {
  expectRecording("recording", recording);
  const text = JSON.stringify(recording, null, 1);
  // The samples of a line stay on one line of text.
  return `${
    text.replace(/\[\s+(-?\d[^[\]{}"]*?)\s+\]/g, (_, list) => `[${list.replace(/\s+/g, " ")}]`)
  }\n`;
}

/** Six digits of a sample are more than any clock has. */
export function roundSample(milliseconds: number): number {
  expectThat(typeof milliseconds === "number", "milliseconds", "a number", milliseconds);
  return Number(milliseconds.toPrecision(6));
}

/**
 * Reads what `printRecording()` wrote, or another program in that form; `file` is for messages. Throws
 * `RecordingError`, and `ArgumentError` for what is no text.
 */
export function parseRecording(text: string, file: string): Recording {
  expectThat(typeof text === "string", "text", "the text of a recording", text);
  expectThat(typeof file === "string", "file", "a name for messages", file);
  const fail = (problem: string): never => {
    throw new RecordingError(file, problem);
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return fail(error instanceof Error ? error.message : `${error}`);
  }
  return takeRecording(json, fail);
}

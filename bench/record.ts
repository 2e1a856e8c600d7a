/** Recordings: what a run of a benchmark module measured, as JSON with every sample, so that it can be analysed later. */
import { TriError } from "../ffi/errors.ts";
import { expectThat, expectUnit } from "./arguments.ts";
import type { Recording } from "./recording.ts";
import { expectRecording, takeRecording } from "./recording_reader.ts";
import type { Unit } from "./define.ts";

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

/** Lines that other programs measured, from recordings. */
import { runtime } from "#runtime";
import { TriError } from "../ffi/errors.ts";
import { checkOptions, optionNames } from "../ffi/arguments/options.ts";
import { expectThat } from "./arguments.ts";
import type { Contender, Line, Point } from "./define.ts";
import { parseRecording } from "./record.ts";
import type { BenchmarkRecord, Recording } from "./recording.ts";
import { expectRecording } from "./recording_reader.ts";

/** Which line of which file. */
export interface RecordedSource {
  /** The file, as a rule `new URL("other.json", import.meta.url)`. */
  readonly file: URL;
  /** The benchmark in it. */
  readonly benchmark: string;
  /** The line of the benchmark. */
  readonly line: string;
  /** What tables and plots call it here. */
  readonly label: string;
}

const SOURCE_NAMES = optionNames<RecordedSource>({
  file: true,
  benchmark: true,
  line: true,
  label: true,
});

function expectFile(file: unknown): void {
  const isFile = file instanceof URL && file.protocol === "file:";
  expectThat(isFile, "file", 'the URL of a file, such as new URL("a.json", import.meta.url)', file);
}

/**
 * A line whose times come from a recording, such as one that a Python script wrote; it has gaps where the recording
 * has no such point. Throws `TriError` when the file cannot be read, `RecordingError` when it is no recording.
 */
export function recordedLine(source: RecordedSource): Line<unknown> {
  checkOptions("source of recordedLine", source, SOURCE_NAMES);
  const { file, benchmark, line, label } = source;
  expectFile(file);
  for (const [argument, text] of Object.entries({ benchmark, line, label })) {
    expectThat(typeof text === "string", argument, "a text", text);
  }
  let rows: BenchmarkRecord["rows"] | undefined;
  return {
    label,
    prepare(_inputs: unknown, { x }: Point): Contender {
      rows ??= readRecording(file).benchmarks.find(({ name }) => name === benchmark)?.rows ?? [];
      const milliseconds = rows.find((row) => row.x === x)?.times[line];
      return milliseconds === undefined ? undefined : { milliseconds };
    },
  };
}

/** Reads a recording from a file URL. Throws `TriError`, or `RecordingError` when it is none. */
export function readRecording(file: URL): Recording {
  expectFile(file);
  const read = runtime.readFile(file);
  if (read.kind !== "read") {
    throw new TriError(`Cannot read ${file.pathname}`, {
      hint: read.kind === "refused" ? read.hint : "tri bench --save DIR writes recordings",
      cause: read.cause,
    });
  }
  return parseRecording(new TextDecoder().decode(read.bytes), file.pathname);
}

/**
 * A recording with the lines of others that measured the same benchmarks, as far as they have new names. Other
 * programs' points that the recording lacks are left out. Throws `ArgumentError` for what is no recording.
 */
export function addLines(recording: Recording, other: Recording): Recording {
  expectRecording("recording", recording);
  expectRecording("other", other);
  return {
    ...recording,
    benchmarks: recording.benchmarks.map((mine) => {
      const theirs = other.benchmarks.find(({ name }) => name === mine.name);
      if (theirs === undefined) return mine;
      const known = new Set(mine.lines.map(({ name }) => name));
      const added = theirs.lines.filter(({ name }) => !known.has(name));
      return {
        ...mine,
        lines: [
          ...mine.lines,
          ...added.map((line) => ({ ...line, source: line.source ?? other.module })),
        ],
        rows: mine.rows.map((row) => {
          const times = theirs.rows.find(({ x }) => x === row.x)?.times ?? {};
          const more = added.flatMap(({ name }) => {
            const samples = times[name];
            return samples === undefined ? [] : [[name, samples] as const];
          });
          return { ...row, times: { ...row.times, ...Object.fromEntries(more) } };
        }),
      };
    }),
  };
}

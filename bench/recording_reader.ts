/** Parsed documents as recordings: every field is looked at, and what is wrong says where. */
import { ArgumentError } from "../ffi/errors.ts";
import { type BenchmarkRecord, FORMAT, type Recording } from "./recording.ts";

/** Throws `ArgumentError` for what is no recording. */
export function expectRecording(argument: string, value: unknown): void {
  takeRecording(value, (problem) => {
    throw new ArgumentError({
      argument,
      expected: "a recording, as `parseRecording()` returns it",
      actual: `one in which ${problem}`,
    });
  });
}

/** The recording that a parsed document is; `fail` throws what is wrong with it. */
export function takeRecording(value: unknown, fail: (problem: string) => never): Recording {
  const found = new Reader(value, "the document", fail);
  if (found.field("format").value !== FORMAT) fail(`its "format" is not ${JSON.stringify(FORMAT)}`);
  const device = found.field("device");
  const timing = found.field("timing");
  const date = found.optional("date");
  return {
    format: FORMAT,
    module: found.field("module").text(),
    device: {
      name: device.field("name").text(),
      arch: device.field("arch").text(),
      driver: device.field("driver").text(),
    },
    ...(date === undefined ? {} : { date: date.text() }),
    timing: {
      cache: timing.field("cache").oneOf(["hot", "cold"]),
      rounds: timing.field("rounds").number(),
    },
    benchmarks: found.field("benchmarks").list().map(readBenchmark),
  };
}

function readBenchmark(found: Reader): BenchmarkRecord {
  const x = found.field("x");
  return {
    name: found.field("name").text(),
    title: found.field("title").text(),
    x: {
      names: x.field("names").list().map((name) => name.text()),
      scale: x.field("scale").oneOf(["log", "linear"]),
    },
    unit: found.field("unit").oneOf(["GB/s", "TFLOP/s", "ms"]),
    lines: found.field("lines").list().map((line) => {
      const source = line.optional("source");
      return {
        name: line.field("name").text(),
        label: line.field("label").text(),
        ...(source === undefined ? {} : { source: source.text() }),
      };
    }),
    rows: found.field("rows").list().map((row) => ({
      x: row.field("x").number(),
      work: row.field("work").number(),
      times: Object.fromEntries(
        row.field("times").entries().map(([line, times]) => [
          line,
          times.list().map((time) => time.number()),
        ]),
      ),
    })),
  };
}

/** A value of a parsed document with its path in it, for messages. */
class Reader {
  constructor(
    readonly value: unknown,
    readonly path: string,
    readonly fail: (problem: string) => never,
  ) {}

  entries(): [string, Reader][] {
    const { value } = this;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return this.fail(`${this.path} is not an object`);
    }
    return Object.entries(value).map(([name, inner]) => [name, this.#inner(name, inner)]);
  }

  optional(name: string): Reader | undefined {
    return this.entries().find(([found]) => found === name)?.[1];
  }

  field(name: string): Reader {
    return this.optional(name) ?? this.fail(`${this.path} has no "${name}"`);
  }

  list(): Reader[] {
    const { value } = this;
    if (!Array.isArray(value)) return this.fail(`${this.path} is not a list`);
    return value.map((inner, index) => this.#inner(`${index}`, inner));
  }

  text(): string {
    return typeof this.value === "string" ? this.value : this.fail(`${this.path} is no text`);
  }

  number(): number {
    return typeof this.value === "number" ? this.value : this.fail(`${this.path} is no number`);
  }

  oneOf<const Word extends string>(words: readonly Word[]): Word {
    return words.find((word) => word === this.value) ??
      this.fail(`${this.path} is none of ${words.join(", ")}`);
  }

  #inner(name: string, value: unknown): Reader {
    return new Reader(
      value,
      this.path === "the document" ? name : `${this.path}.${name}`,
      this.fail,
    );
  }
}

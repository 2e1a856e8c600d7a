/** What a benchmark module declares: an axis, a unit, inputs for each point on the axis, and a line per provider. */
import type { Device } from "../ffi/device.ts";
import { isList } from "../ffi/arguments/numbers.ts";
import { areNumbers, expectThat, expectUnit, isOneOf, isRecord } from "./arguments.ts";

/** The horizontal axis: parameters that all take the same value, and the values. */
export interface Axis {
  /** The parameters, such as `["M", "N"]` for square matrices. */
  readonly names: readonly string[];
  /** The points that are measured, each once. */
  readonly values: readonly number[];
  /** How plots space them; "log" unless said otherwise, since sizes are usually doubled. */
  readonly scale?: "log" | "linear";
}

/** What is drawn upwards, from milliseconds per call and what a call moves (bytes) or computes (flops). */
export type Measure =
  | { readonly unit: "GB/s"; readonly bytes: (x: number) => number }
  | { readonly unit: "TFLOP/s"; readonly flops: (x: number) => number }
  | { readonly unit: "ms" };

/** The units, as recordings spell them. */
export type Unit = Measure["unit"];

/** One point on the axis, while it is measured. */
export interface Point {
  /** Where everything is allocated and runs. */
  readonly device: Device;
  /** The value of the axis. */
  readonly x: number;
  /** Disposes a tensor, a library, … after the point is measured; returns it. */
  keep<T extends Disposable>(resource: T): T;
}

/** Times measured elsewhere, in milliseconds per call, one per sample. */
export interface RecordedTimes {
  /** The samples. */
  readonly milliseconds: readonly number[];
}

/**
 * What a provider has: a function that queues one call on the device's default stream and allocates nothing (a
 * prepared kernel), times taken elsewhere, or undefined where it takes no part.
 */
export type Contender = (() => unknown) | RecordedTimes | undefined;

/** One provider. */
export interface Line<Inputs> {
  /** What tables and plots call it. */
  readonly label: string;
  /** Makes its contender for a point; the providers of a point share its inputs. */
  readonly prepare: (inputs: Inputs, point: Point) => Contender | Promise<Contender>;
}

/** What `benchmark()` takes. */
export interface BenchmarkDefinition<Inputs> {
  /** Letters, digits, `_` and `-`; comparisons identify it by that. */
  readonly name: string;
  /** The heading of table and plot. */
  readonly title: string;
  /** The horizontal axis. */
  readonly x: Axis;
  /** The vertical axis. */
  readonly measure: Measure;
  /** Makes the inputs that all lines of a point use. */
  readonly inputs: (point: Point) => Inputs;
  /** The providers by name, in the order of columns. */
  readonly lines: Readonly<Record<string, Line<Inputs>>>;
}

/** A checked benchmark. A module's default export is one, or a list of them. */
export interface Benchmark {
  /** Marks a benchmark, also one that another copy of this package made. */
  readonly kind: "tri benchmark";
  /** Its name in recordings and comparisons. */
  readonly name: string;
  /** The heading of table and plot. */
  readonly title: string;
  /** The horizontal axis. */
  readonly x: Axis;
  /** The vertical axis. */
  readonly measure: Measure;
  /** The providers, in the order of columns. */
  readonly lines: readonly { readonly name: string; readonly label: string }[];
  /** The contender of each line at a point, in the order of `lines`. */
  open(point: Point): Promise<readonly Contender[]>;
}

const NAME = /^[A-Za-z0-9_-]+$/;

/**
 * Declares a benchmark.
 *
 * ```ts
 * export default benchmark({
 *   name: "copy",
 *   title: "Copies of float32",
 *   x: { names: ["N"], values: [2 ** 20, 2 ** 24] },
 *   measure: { unit: "GB/s", bytes: (n) => 8 * n },
 *   inputs: ({ device, x: n, keep }) => ({
 *     x: keep(device.zeros("float32", [n])),
 *     out: keep(device.empty("float32", [n])),
 *   }),
 *   lines: { ours: { label: "tri", prepare: ({ x, out }) => copy.prepare(x, { out }) } },
 * });
 * ```
 *
 * Throws `ArgumentError` for a name that is no name, an axis without points or with one twice, no line, and for parts
 * that are missing or of another type.
 */
export function benchmark<Inputs>(definition: BenchmarkDefinition<Inputs>): Benchmark {
  expectThat(isRecord(definition), "definition", "what a benchmark is made of", definition);
  const { name, title, x, measure, inputs } = definition;
  expectThat(typeof title === "string", "title", "a text", title);
  expectThat(typeof inputs === "function", "inputs", "a function", inputs);
  expectThat(isRecord(definition.lines), "lines", "lines by name", definition.lines);
  const lines = Object.entries(definition.lines);
  for (const word of [name, ...lines.map(([line]) => line)]) {
    const isName = typeof word === "string" && NAME.test(word);
    expectThat(isName, "name", "letters, digits, _ and -", word);
  }
  for (const [line, provider] of lines) {
    const isLine = isRecord(provider) && typeof provider["label"] === "string" &&
      typeof provider["prepare"] === "function";
    expectThat(isLine, `lines.${line}`, "a label and a function prepare", provider);
  }
  expectThat(lines.length > 0, "lines", "at least one line", definition.lines);
  expectMeasure(measure);
  expectAxis(x);
  return {
    kind: "tri benchmark",
    name,
    title,
    x,
    measure,
    lines: lines.map(([line, { label }]) => ({ name: line, label })),
    async open(point: Point): Promise<readonly Contender[]> {
      const shared = inputs(point);
      const contenders: Contender[] = [];
      for (const [, line] of lines) contenders.push(await line.prepare(shared, point));
      return contenders;
    },
  };
}

/** Whether a value is what `benchmark()` returns. */
export function isBenchmark(value: unknown): value is Benchmark {
  return isRecord(value) && value["kind"] === "tri benchmark" && isRecord(value["x"]) &&
    areNumbers(value["x"]["values"]) && isList(value["lines"]) &&
    isRecord(value["measure"]) && typeof value["open"] === "function";
}

/** Bytes or flops of a call; 0 where only times count. Throws `ArgumentError` for what is no measure. */
export function workOf(measure: Measure, x: number): number {
  expectMeasure(measure);
  if (measure.unit === "GB/s") return measure.bytes(x);
  return measure.unit === "TFLOP/s" ? measure.flops(x) : 0;
}

/** The function of each unit that says how much a call does. */
const WORK_OF_UNIT = { "GB/s": "bytes", "TFLOP/s": "flops", ms: undefined } as const;

function expectMeasure(measure: Measure): void {
  expectThat(isRecord(measure), "measure", "a unit", measure);
  expectUnit("measure.unit", measure.unit);
  const work = WORK_OF_UNIT[measure.unit];
  if (work === undefined) return;
  const count: unknown = Reflect.get(measure, work);
  expectThat(typeof count === "function", `measure.${work}`, "a function", count);
}

function expectAxis(x: Axis): void {
  expectThat(isRecord(x), "x", "an axis", x);
  const { names, values, scale = "log" } = x;
  const areNames = isList(names) && names.every((name) => typeof name === "string");
  expectThat(areNames && names.length > 0, "x.names", "at least one name", names);
  expectThat(areNumbers(values) && values.length > 0, "x.values", "at least one value", values);
  expectThat(new Set(values).size === values.length, "x.values", "each value once", values);
  expectThat(values.every((value) => value > 0), "x.values", "positive numbers", values);
  expectThat(isOneOf(scale, ["log", "linear"]), "x.scale", '"log" or "linear"', scale);
}

/**
 * `NAME.tune.json` beside `NAME.tc`: what configurations took, by GPU, kernel, variant, specialisation and key. One
 * line per configuration and everything sorted, so that a new timing is one changed line.
 */
const FORMAT = 1;

/** The file. */
export interface TuneFile {
  readonly format: 1;
  /** By product name. */
  readonly gpus: Readonly<Record<string, GpuTimings>>;
}

/** What was measured on one kind of GPU. */
export interface GpuTimings {
  /** Such as "sm_90". */
  readonly arch: string;
  /** By kernel, variant, specialisation (`general`, `a16`, `s1`), and key (`M=4096, N=4096`). */
  readonly kernels: Tree<Tree<Tree<Tree<Timings>>>>;
}

type Tree<T> = Readonly<Record<string, T>>;

/** By configuration, as `#pragma tri config` would spell it. */
export type Timings = Readonly<Record<string, Timing>>;

/**
 * What became of a configuration. `code` identifies what ran: other code, other time; empty where that is not known.
 * `driver` is the CUDA version of the driver as it counts, 13000 for 13.0; absent where that is not known.
 */
export type Timing =
  | {
    /** Of a launch: the median of its iterations. */
    readonly microseconds: number;
    /** Iterations that it was timed in; slow configurations have fewer. */
    readonly rounds: number;
    readonly code: string;
    readonly driver?: number;
  }
  | { readonly failed: string; readonly code: string; readonly driver?: number };

/** What was timed: a call of a kernel on a GPU. */
export interface TimingCase {
  readonly gpu: string;
  readonly arch: string;
  readonly kernel: string;
  readonly variant: string;
  readonly specialization: string;
  readonly key: string;
}

/** Nothing measured. */
export const NO_TIMINGS: TuneFile = { format: FORMAT, gpus: {} };

/** Reads the file's text, or says what is wrong with it. */
export function parseTuneFile(text: string): TuneFile | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (!isRecord(value) || value["format"] !== FORMAT) return `not of format ${FORMAT}`;
  return isTuneFile(value) ? value : "not what tri tune writes";
}

function isTuneFile(
  value: Readonly<Record<string, unknown>>,
): value is Record<string, unknown> & TuneFile {
  return isTree(value["gpus"], (gpu) =>
    isRecord(gpu) && typeof gpu["arch"] === "string" &&
    isTree(
      gpu["kernels"],
      (kernel) =>
        isTree(kernel, (variant) =>
          isTree(variant, (specialization) =>
            isTree(specialization, (timings) =>
              isTree(timings, isTiming)))),
    ));
}

function isTree(value: unknown, isPart: (part: unknown) => boolean): boolean {
  return isRecord(value) && Object.values(value).every(isPart);
}

function isTiming(value: unknown): boolean {
  return isRecord(value) && typeof value["code"] === "string" &&
    (value["driver"] === undefined || typeof value["driver"] === "number") &&
    (typeof value["failed"] === "string" ||
      typeof value["microseconds"] === "number" && typeof value["rounds"] === "number");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is known of the configurations of a case. */
export function timingsAt(
  { gpus }: TuneFile,
  { gpu, kernel, variant, specialization, key }: TimingCase,
): Timings {
  return gpus[gpu]?.kernels[kernel]?.[variant]?.[specialization]?.[key] ?? {};
}

/** The file with timings added; those of the same configurations are replaced. */
export function withTimings(file: TuneFile, timed: TimingCase, timings: Timings): TuneFile {
  const { gpu, arch, kernel, variant, specialization, key } = timed;
  const known = file.gpus[gpu]?.kernels ?? {};
  const variants = known[kernel] ?? {};
  const specializations = variants[variant] ?? {};
  const keys = specializations[specialization] ?? {};
  const kernels = {
    ...known,
    [kernel]: {
      ...variants,
      [variant]: {
        ...specializations,
        [specialization]: { ...keys, [key]: { ...keys[key], ...timings } },
      },
    },
  };
  return { format: FORMAT, gpus: { ...file.gpus, [gpu]: { arch, kernels } } };
}

/** The timings with the driver that they were measured with, unless it has no version. */
export function withDriver(timings: Timings, driver: number): Timings {
  if (driver === 0) return timings;
  return Object.fromEntries(
    Object.entries(timings).map(([config, timing]) => [config, { ...timing, driver }]),
  );
}

/** All that a file has, case by case. */
export function tuneCases(
  { gpus }: TuneFile,
): readonly { readonly timed: TimingCase; readonly timings: Timings }[] {
  return Object.entries(gpus).flatMap(([gpu, { arch, kernels }]) =>
    Object.entries(kernels).flatMap(([kernel, variants]) =>
      Object.entries(variants).flatMap(([variant, specializations]) =>
        Object.entries(specializations).flatMap(([specialization, keys]) =>
          Object.entries(keys).map(([key, timings]) => {
            const timed: TimingCase = { gpu, arch, kernel, variant, specialization, key };
            return { timed, timings };
          })
        )
      )
    )
  );
}

/** The text of the file: sorted, timings on a line each. */
export function printTuneFile({ format, gpus }: TuneFile): string {
  return `${print({ format, gpus }, "")}\n`;
}

function print(value: unknown, indent: string): string {
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => compareNames(a, b));
  if (isTiming(value)) {
    const parts = entries.map(([name, part]) => `${JSON.stringify(name)}: ${JSON.stringify(part)}`);
    return `{ ${parts.join(", ")} }`;
  }
  if (entries.length === 0) return "{}";
  const inner = `${indent}  `;
  const lines = entries.map(([name, part]) =>
    `${inner}${JSON.stringify(name)}: ${print(part, inner)}`
  );
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

/** Numbers in names count as numbers: `M=512` comes before `M=4096`. */
function compareNames(a: string, b: string): number {
  const parts = (text: string): string[] => text.match(/\d+|\D+/g) ?? [];
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [l = "", r = ""] = [left[i], right[i]];
    const difference = Number(l) - Number(r);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
    if (l !== r) return l < r ? -1 : 1;
  }
  return left.length - right.length;
}

/** `M=4096, N=512`; `any` for a key of no parameters. */
export function printKey(key: readonly string[], values: ReadonlyMap<string, number>): string {
  return key.map((name) => `${name}=${values.get(name) ?? 0}`).join(", ") || "any";
}

/** Reads {@linkcode printKey}'s text. */
export function parseKey(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)=(-?\d+)/g)].map(([, name = "", value]) => [name, Number(value)]),
  );
}

/** The configurations that ran, the fastest first. */
export function fastestFirst(
  timings: Timings,
): readonly { readonly config: string; readonly microseconds: number }[] {
  return Object.entries(timings)
    .flatMap(([config, timing]) => "failed" in timing ? [] : [{ config, ...timing }])
    .sort((a, b) => a.microseconds - b.microseconds || (a.config < b.config ? -1 : 1))
    .map(({ config, microseconds }) => ({ config, microseconds }));
}

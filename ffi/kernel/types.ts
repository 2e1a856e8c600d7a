/** The types that generated wrappers are written in. */
import type { Stream } from "../stream.ts";
import type { KernelFacts } from "./facts/facts.ts";

/**
 * A launch grid: programs along one to three axes, integers from 0 to 2^31 - 1 for x and to 65535 for y and z. What is
 * absent is 1; with a 0 nothing is launched.
 */
export type GridSize = readonly [x: number, y?: number, z?: number];

/** A launch grid with all three axes. */
export type Grid = readonly [x: number, y: number, z: number];

/**
 * What every call of a kernel takes, as a plain object. Only its own properties count; a name that is no option is an
 * `ArgumentError`.
 */
export interface CallOptions<Variant extends string = string> {
  /** Where the launch is queued; the device's default stream when absent. */
  readonly stream?: Stream | undefined;
  /** The variant to launch; the first that fits the arguments' types when absent. */
  readonly variant?: Variant | undefined;
  /**
   * Overrides the grid that the kernel's contract gives: `[x]`, `[x, y]` or `[x, y, z]`. Anything else is an
   * `ArgumentError`.
   */
  readonly grid?: GridSize | undefined;
  /** Which code of the kernel is launched, for tests and comparisons; the best for the arguments when absent. */
  readonly form?: FormChoice | undefined;
}

/**
 * Code of a kernel. Some entries have faster forms, which need more of the arguments, such as aligned rows. `"plain"`:
 * the entry itself, which serves every launch. `"fast"`: a form; where no form serves the launch, a `LaunchError` says
 * what each of them needs.
 */
export type FormChoice = "plain" | "fast";

/** What every call takes of a kernel whose grid the caller gives. */
export interface GridCallOptions<Variant extends string = string> extends CallOptions<Variant> {
  /** The launch grid. */
  readonly grid: GridSize;
}

/** Requests counters beside the result of a call. Only the emulator counts; on a GPU such a call is a `LaunchError`. */
export interface Profiling {
  /** Count what the kernel does. */
  readonly profile: true;
}

/** Selects a variant where sizes alone are given. */
export interface VariantOptions<Variant extends string = string> {
  /** The variant's name; the first when absent. */
  readonly variant?: Variant | undefined;
}

/**
 * A call whose checks are done: each further call launches it again and returns the same result. Throws `DisposedError`
 * once one of its tensors was disposed. Arguments are ignored, so that it can be a callback.
 */
export type PreparedCall<Result> = () => Result;

/** The contract of a kernel: plain data, but for the functions beside the expressions' texts. */
export type KernelDescription<Name extends string = string> = Omit<KernelFacts<Name>, "images">;

/** What tuning at run time takes beside the options of a call. */
export interface TuneOptions {
  /**
   * Where to add the timings, the URL of a file: the file `NAME.tune.json` beside the kernel's source, for the next
   * `tri build`.
   */
  readonly save?: URL | undefined;
}

/** What tuning at run time found. */
export interface TuneResult {
  /** The product that it was found on. */
  readonly gpu: string;
  /** The values that decide, by parameter. */
  readonly key: Readonly<Record<string, number>>;
  /** The fastest configuration, as `#pragma tri config` would spell it; launches with this key now take it. */
  readonly best: string;
  /** Microseconds of a launch by configuration, the fastest first. */
  readonly timings: readonly { readonly config: string; readonly microseconds: number }[];
}

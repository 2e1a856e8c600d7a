/** Running benchmarks: point after point, all lines of a point interleaved. */
import { expectBranded } from "../ffi/arguments/brands.ts";
import type { Device } from "../ffi/device.ts";
import { TriError } from "../ffi/errors.ts";
import { checkOptions, optionNames } from "../ffi/arguments/options.ts";
import { expectThat } from "./arguments.ts";
import { type Benchmark, type Contender, isBenchmark, workOf } from "./define.ts";
import { checkTiming } from "./check_timing.ts";
import { measure, NoTimesError } from "./measure.ts";
import { roundSample } from "./record.ts";
import type { BenchmarkRecord, RecordedDevice, RecordedRow } from "./recording.ts";
import { Resources } from "./resources.ts";
import { DEFAULT_TIMING, type Timing } from "./timing.ts";

/** How a benchmark is run. */
export interface RunOptions {
  /** How times are taken; `DEFAULT_TIMING` when absent. */
  readonly timing?: Timing;
  /** Called before each point. */
  readonly onPoint?: (benchmark: Benchmark, x: number) => void;
}

const RUN_OPTIONS = optionNames<RunOptions>({ timing: true, onPoint: true });

/** A benchmark's own code failed. */
export class BenchmarkError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "BenchmarkError";

  /** For `runBenchmark()`. */
  constructor(where: string, cause: unknown) {
    super(`Benchmark ${where}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/**
 * Measures a benchmark at all its points. Throws `NoTimesError` on the emulator, `BenchmarkError` where the benchmark's
 * inputs or lines throw, `ArgumentError` for options that there are not.
 */
export async function runBenchmark(
  benchmark: Benchmark,
  device: Device,
  options: RunOptions = {},
): Promise<BenchmarkRecord> {
  expectThat(isBenchmark(benchmark), "benchmark", "what `benchmark()` returns", benchmark);
  expectBranded("device", device, "device of runBenchmark");
  checkOptions("options of runBenchmark", options, RUN_OPTIONS);
  const { timing = DEFAULT_TIMING, onPoint } = options;
  checkTiming(timing);
  const isTold = onPoint === undefined || typeof onPoint === "function";
  expectThat(isTold, "onPoint", "a function", onPoint);
  if (device.info.kind === "emulator") throw new NoTimesError(device);
  const { name, title, x: axis, measure: { unit }, lines } = benchmark;
  const rows: RecordedRow[] = [];
  for (const x of axis.values) {
    onPoint?.(benchmark, x);
    try {
      rows.push(await runPoint(benchmark, device, x, timing));
    } catch (error) {
      throw new BenchmarkError(`${name}, ${axis.names.join(" = ")} = ${x}`, error);
    }
  }
  return { name, title, x: { names: axis.names, scale: axis.scale ?? "log" }, unit, lines, rows };
}

async function runPoint(
  benchmark: Benchmark,
  device: Device,
  x: number,
  timing: Timing,
): Promise<RecordedRow> {
  const resources = new Resources();
  try {
    const keep = <T extends Disposable>(resource: T): T => resources.use(resource);
    const contenders = await benchmark.open({ device, x, keep });
    const measured = measure(device, contenders.filter(isCall), timing).values();
    const times = benchmark.lines.flatMap(({ name }, index) => {
      const samples = samplesOf(contenders[index], measured);
      return samples === undefined ? [] : [[name, samples.map(roundSample)] as const];
    });
    return { x, work: workOf(benchmark.measure, x), times: Object.fromEntries(times) };
  } finally {
    resources.giveBack();
  }
}

function isCall(contender: Contender): contender is () => unknown {
  return typeof contender === "function";
}

/** The samples of a contender: the next that were measured, if it was. */
function samplesOf(
  contender: Contender,
  measured: ArrayIterator<readonly number[]>,
): readonly number[] | undefined {
  return isCall(contender) ? measured.next().value : contender?.milliseconds;
}

/** What a recording says of a device. */
export function describeDevice(device: Device): RecordedDevice {
  expectBranded("device", device, "device of describeDevice");
  const { name, arch, driverVersion } = device.info;
  const [major, minor] = [Math.floor(driverVersion / 1000), Math.floor(driverVersion % 1000 / 10)];
  return { name, arch, driver: `CUDA ${major}.${minor}` };
}

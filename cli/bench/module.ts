/** Benchmark modules: loading one, and measuring what it declares. */
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Benchmark,
  type BenchmarkRecord,
  describeDevice,
  FORMAT,
  isBenchmark,
  type Recording,
  runBenchmark,
  type RunOptions,
  type Timing,
} from "../../bench/mod.ts";
import type { Device } from "../../ffi/device.ts";
import { missingImport } from "../host/errors.ts";
import { isFolder } from "../project/project.ts";
import { environmentError, EXIT, Failure, usageError } from "../failure.ts";

/** How a module is measured. */
export interface ModuleOptions extends RunOptions {
  readonly timing: Timing;
  /** Noted in the recording. */
  readonly date?: string | undefined;
}

/** Measures all benchmarks of a module. */
export async function measureModule(
  file: string,
  device: Device,
  options: ModuleOptions,
): Promise<Recording> {
  const { date, ...run } = options;
  const { cache, rounds } = run.timing;
  const benchmarks: BenchmarkRecord[] = [];
  for (const benchmark of await loadBenchmarks(file)) {
    benchmarks.push(await runBenchmark(benchmark, device, run));
  }
  return {
    format: FORMAT,
    module: path.basename(file, path.extname(file)),
    device: describeDevice(device),
    ...(date === undefined ? {} : { date }),
    timing: { cache, rounds },
    benchmarks,
  };
}

/** The default export of a module: a benchmark, or a list of them. Throws a {@linkcode Failure} if it is neither. */
export async function loadBenchmarks(file: string): Promise<readonly Benchmark[]> {
  const { default: found } = await importModule(file);
  const list: readonly unknown[] = Array.isArray(found) ? found : [found];
  const benchmarks = list.filter(isBenchmark);
  if (benchmarks.length > 0 && benchmarks.length === list.length) return benchmarks;
  throw usageError(
    `${file} exports no benchmark`,
    "Its default export has to be what benchmark() of @tri/tri/bench returns, or a list of such.",
  );
}

async function importModule(file: string): Promise<{ readonly default?: unknown }> {
  if (isFolder(file)) {
    throw usageError(
      `${file} is a folder`,
      "Name a module of it: tri bench kernels/bench/transpose.ts.",
    );
  }
  const url = pathToFileURL(path.resolve(file)).href;
  try {
    return await import(url);
  } catch (error) {
    const missing = missingImport(error);
    if (missing === url || missing === path.resolve(file)) {
      throw usageError(`No such file: ${file}`);
    }
    if (missing !== undefined) {
      throw environmentError(
        `${file} imports ${missing}, which is not there`,
        "If it is a wrapper, build it first: tri build kernels --out generated.",
      );
    }
    if (!(error instanceof Error)) throw error;
    const remedy =
      "Run it by itself to see more; a benchmark is a module of TypeScript or JavaScript.";
    throw new Failure(
      EXIT.kernels,
      `${file} cannot be loaded: ${error.message}${placeIn(error, url)}`,
      remedy,
    );
  }
}

/** Where in the module an error was thrown, unless its message says so. */
function placeIn({ message, stack = "" }: Error, url: string): string {
  const from = stack.indexOf(`${url}:`);
  const place = from < 0 ? null : /^:(\d+):(\d+)/.exec(stack.slice(from + url.length));
  if (place === null || message.includes(url)) return "";
  return ` (line ${place[1]}, column ${place[2]})`;
}

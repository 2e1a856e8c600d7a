/**
 * Speed of the emulator: thread-instructions a second, with and without checks, on one thread of the processor and on
 * all; what it takes to load a module, to compile a kernel, and to import the run time.
 *
 *     deno task bench:emulator [--json] [--quick]
 */
import { Device } from "../ffi/mod.ts";
import { must } from "../compiler/support/bug.ts";
import { type BenchCase, benchCases, compileKernel } from "./bench/emulator_cases.ts";

const QUICK = Deno.args.includes("--quick");
/** Milliseconds for which a case is repeated, and the least number of runs. */
const PATIENCE = QUICK ? 150 : 1500;
const LEAST_RUNS = QUICK ? 2 : 5;

interface Speed {
  readonly name: string;
  readonly checks: boolean;
  readonly workers: number;
  /** Of the fastest run. */
  readonly milliseconds: number;
  readonly threadInstructions: number;
  /** Millions of thread-instructions a second, and the same for each worker. */
  readonly rate: number;
  readonly ratePerWorker: number;
}

function least(runs: number, patience: number, run: () => void): number {
  const start = performance.now();
  let best = Infinity;
  for (let i = 0; i < runs || performance.now() - start < patience; i++) {
    const begin = performance.now();
    run();
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

/** Lets threads of the host start, which takes turns of the event loop. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
}

async function measure(bench: BenchCase, checks: boolean, workers: number): Promise<Speed> {
  using device = Device.open({ device: "emulator", checks, workers });
  using ready = bench.ready(device);
  const { threadInstructions } = ready.profile();
  ready.launch();
  if (workers > 1) await settle();
  const milliseconds = least(LEAST_RUNS, PATIENCE, () => ready.launch());
  const rate = threadInstructions / milliseconds / 1000;
  return {
    name: bench.name,
    checks,
    workers,
    milliseconds,
    threadInstructions,
    rate,
    ratePerWorker: rate / workers,
  };
}

interface Loading {
  readonly module: string;
  readonly entries: number;
  readonly bytes: number;
  readonly loadMilliseconds: number;
  /** The largest kernel of the module: from its first launch to the end of it, less a later launch. */
  readonly kernel: string;
  readonly kernelBytes: number;
  readonly compileMilliseconds: number;
}

/** The text of each entry. */
function entriesOf(ptx: string): { readonly name: string; readonly bytes: number }[] {
  const starts = [...ptx.matchAll(/^\.visible \.entry (\w+)/gm)];
  return starts.map(({ 1: name = "", index }, i) => ({
    name,
    bytes: (starts[i + 1]?.index ?? ptx.length) - index,
  }));
}

function measureLoading(): Loading {
  const compiled = compileKernel("transpose");
  const { ptx, entries } = must(compiled.modules[0], "module");
  const image = new TextEncoder().encode(ptx);
  const largest = entriesOf(ptx).reduce((a, b) => b.bytes > a.bytes ? b : a);
  const { threads, sharedBytes } = must(
    entries.find(({ symbol }) => symbol === largest.name),
    "largest entry",
  );
  let [load, first, later] = [Infinity, Infinity, Infinity];
  for (let i = 0; i < LEAST_RUNS; i++) {
    using device = Device.open({ device: "emulator", workers: 1 });
    const begin = performance.now();
    const module = device.loadModule(image, "transpose");
    load = Math.min(load, performance.now() - begin);
    // Sizes of zero: every access is masked off.
    const prepared = module.function(largest.name).prepare({
      block: [threads, 1, 1],
      sharedBytes,
      parameterBytes: 32,
    });
    const launch = (): number => {
      const begin = performance.now();
      prepared.launch(1, 1, 1, device.defaultStream.handle);
      return performance.now() - begin;
    };
    first = Math.min(first, launch());
    later = Math.min(later, launch(), launch());
  }
  return {
    module: "transpose",
    entries: entries.length,
    bytes: image.length,
    loadMilliseconds: load,
    kernel: largest.name,
    kernelBytes: largest.bytes,
    compileMilliseconds: first - later,
  };
}

interface Start {
  readonly importMilliseconds: number;
  readonly openMilliseconds: number;
}

/** What importing the run time adds to an empty program, and what opening the emulator adds to that. */
async function measureStart(): Promise<Start> {
  const config = new URL("../deno.json", import.meta.url).pathname;
  const time = async (text: string): Promise<number> => {
    let best = Infinity;
    for (let i = 0; i < 2 * LEAST_RUNS; i++) {
      const command = new Deno.Command(Deno.execPath(), {
        args: ["run", "-q", "-A", "--no-check", "--config", config, `data:text/javascript,${text}`],
        stdout: "null",
      });
      const begin = performance.now();
      const { success } = await command.output();
      if (!success) throw new Error(`a program of one line failed: ${text}`);
      best = Math.min(best, performance.now() - begin);
    }
    return best;
  };
  const door = new URL("../ffi/mod.ts", import.meta.url).href;
  const empty = await time("export{}");
  const imported = await time(`import%20"${door}"`);
  const opened = await time(
    `import{Device}from"${door}";using%20d=Device.open({device:"emulator"})`,
  );
  return { importMilliseconds: imported - empty, openMilliseconds: opened - imported };
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function sayTable(speeds: readonly Speed[]): void {
  say("million thread-instructions a second (of the fastest run)");
  say(
    `${"case".padEnd(28)}${"checks".padEnd(8)}${"workers".padStart(7)}${"ms".padStart(10)}` +
      `${"all".padStart(10)}${"each".padStart(10)}`,
  );
  for (const { name, checks, workers, milliseconds, rate, ratePerWorker } of speeds) {
    say(
      `${name.padEnd(28)}${(checks ? "on" : "off").padEnd(8)}${String(workers).padStart(7)}` +
        `${milliseconds.toFixed(1).padStart(10)}${rate.toFixed(0).padStart(10)}` +
        `${ratePerWorker.toFixed(0).padStart(10)}`,
    );
  }
}

function sayLoading(loading: Loading): void {
  const { module, entries, bytes, loadMilliseconds } = loading;
  const speed = (bytes: number, milliseconds: number): string =>
    `${milliseconds.toFixed(1)} ms, ${(bytes / milliseconds / 1000).toFixed(1)} MB/s`;
  say(
    `\nload ${module} (${entries} entries, ${(bytes / 1024).toFixed(0)} KiB): ` +
      speed(bytes, loadMilliseconds),
  );
  const { kernel, kernelBytes, compileMilliseconds } = loading;
  say(
    `compile ${kernel} (${(kernelBytes / 1024).toFixed(0)} KiB): ` +
      speed(kernelBytes, compileMilliseconds),
  );
}

async function main(): Promise<void> {
  const [load = 0] = Deno.loadavg();
  const speeds: Speed[] = [];
  const cores = navigator.hardwareConcurrency;
  for (const bench of benchCases()) {
    for (const checks of [true, false]) {
      for (const workers of new Set([1, cores])) {
        speeds.push(await measure(bench, checks, workers));
      }
    }
  }
  const loading = measureLoading();
  const start = await measureStart();
  if (Deno.args.includes("--json")) {
    const deno = Deno.version.deno;
    say(JSON.stringify({ deno, cores, loadAverage: load, speeds, loading, start }, null, 2));
    return;
  }
  say(`Deno ${Deno.version.deno}, ${cores} cores, load average ${load.toFixed(2)}`);
  sayTable(speeds);
  sayLoading(loading);
  const { importMilliseconds, openMilliseconds } = start;
  say(
    `import the run time: ${importMilliseconds.toFixed(1)} ms; open the emulator: ${
      openMilliseconds.toFixed(1)
    } ms`,
  );
}

await main();

/**
 * What the debugger costs launches that are not debugged: the emulator as it is, against the same one without the code that
 * asks whether someone looks on. Both are bundled and loaded into one process, where launches of the two take turns, so that
 * what else the machine does meets both. Processes place and compile code differently, by more than the bar of 1 %:
 * there are many, every other one loads the two in the other order, and medians are printed with their standard errors.
 *
 *     deno run -A scripts/bench_debugger.ts [PROCESSES]
 */
// deno-lint-ignore-file no-console -- a program for the terminal
import * as path from "node:path";
import { build, type Plugin, stop } from "esbuild";
import config from "../deno.json" with { type: "json" };
import { compileKernel, type Ready, type smallCases } from "./bench/emulator_cases.ts";

const ROOT = path.join(import.meta.dirname ?? ".", "..");
const PROCESSES = 30;
/** Pairs of launches of a case in a round, the rounds, and those before, after which everything is compiled. */
const PAIRS = 25;
const ROUNDS = 10;
const WARM_UP = 8;

/** What takes the place of modules, by their paths: the same functions, which do nothing. */
const WITHOUT: Readonly<Record<string, string>> = {
  "emulator/debug/observer.ts": `
    export const observedOf = () => undefined;
    export const observe = () => () => {};
    export const announceStep = () => false;
    export const announceSync = () => {};
    export const mayContinue = () => false;`,
  "emulator/access/announce.ts": `
    export const announceAccess = () => {};
    export const announceCopy = () => {};`,
};

/** Files of a folder: the two bundles, and the compiled kernels. */
const [OWN, OTHER, KERNELS] = ["own.js", "other.js", "kernels.json"];

/** What a bundle exports. */
interface Contender {
  ready(kernels: Kernels): ReadonlyMap<string, Ready>;
}

type Kernels = Parameters<typeof smallCases>[0];

const ENTRY = `
  import { Device } from "./ffi/mod.ts";
  import { smallCases } from "./scripts/bench/emulator_cases.ts";

  export function ready(kernels) {
    const device = Device.open({ device: "emulator", workers: 1 });
    return new Map(smallCases(kernels).map((bench) => [bench.name, bench.ready(device)]));
  }`;

/** Writes a bundle of the emulator with some modules replaced. */
async function bundle(outfile: string, replaced: typeof WITHOUT): Promise<void> {
  const modules: Plugin = {
    name: "modules",
    setup(build): void {
      build.onResolve({ filter: /^[#@]/ }, ({ path: name }) => {
        const module = Object.entries(config.imports).find(([each]) => each === name)?.[1];
        return module?.startsWith(".") ? { path: path.join(ROOT, module) } : { external: true };
      });
      build.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const contents = replaced[path.relative(ROOT, file)];
        return contents === undefined ? undefined : { contents };
      });
    },
  };
  await build({
    stdin: { contents: ENTRY, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
    outfile,
    plugins: [modules],
  });
}

/** Prints the ratio of two bundles for each case. */
async function measure(folder: string, isTurned: boolean): Promise<void> {
  const kernels: Kernels = JSON.parse(Deno.readTextFileSync(path.join(folder, KERNELS)));
  const load = async (name: string): Promise<ReadonlyMap<string, Ready>> => {
    const contender: Contender = await import(path.join(folder, name));
    return contender.ready(kernels);
  };
  const first = await load(isTurned ? OTHER : OWN);
  const second = await load(isTurned ? OWN : OTHER);
  const cases = [...first].flatMap(([name, ready]) => {
    const rival = second.get(name);
    return rival === undefined ? [] : [{ name, both: [ready, rival], times: [[], []] } as Case];
  });
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const { both, times } of cases) {
      for (let pair = 0; pair < PAIRS; pair++) {
        // Chance says who is first: nothing that recurs in the machine falls on one of them.
        for (const each of Math.random() < 0.5 ? [0, 1] as const : [1, 0] as const) {
          const time = timed(both[each]);
          if (round >= WARM_UP) times[each].push(time);
        }
      }
    }
  }
  const ratios = cases.map(({ name, times }) => {
    const ratio = quantile(times[0], 0.25) / quantile(times[1], 0.25);
    return [name, isTurned ? 1 / ratio : ratio];
  });
  console.log(JSON.stringify(Object.fromEntries(ratios)));
}

/** A case on both, and the milliseconds of their launches. */
interface Case {
  readonly name: string;
  readonly both: readonly [Ready, Ready];
  readonly times: readonly [number[], number[]];
}

function timed({ launch }: Ready): number {
  const begin = performance.now();
  launch();
  return performance.now() - begin;
}

/** The value below which a share of numbers lies. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (at - Math.floor(at)) * (high - low);
}

/** A value with its standard error. */
interface Estimate {
  readonly value: number;
  readonly error: number;
}

/** The median, which a process in which one of the two was compiled less far does not move. */
function medianOf(ratios: readonly number[]): Estimate {
  const spread = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / QUARTILES_OF_NORMAL;
  const error = MEDIAN_OF_NORMAL * spread / Math.sqrt(ratios.length);
  return { value: quantile(ratios, 0.5), error };
}

/** Of a normal distribution with a standard deviation of 1: the range of its middle half, and √n times the error of a median. */
const QUARTILES_OF_NORMAL = 1.349;
const MEDIAN_OF_NORMAL = Math.sqrt(Math.PI / 2);

const meanOf = (estimates: readonly Estimate[]): Estimate => ({
  value: estimates.reduce((sum, { value }) => sum + value, 0) / estimates.length,
  error: Math.hypot(...estimates.map(({ error }) => error)) / estimates.length,
});

const describe = (what: string, { value, error }: Estimate): string =>
  `${what}: ${(100 * (value - 1)).toFixed(2)} ± ${(100 * error).toFixed(2)} %`;

async function compare(processes: number): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "tri-bench-" });
  await bundle(path.join(folder, OWN), {});
  await bundle(path.join(folder, OTHER), WITHOUT);
  await stop();
  const kernels: Kernels = { transpose: compileKernel("transpose"), copy: compileKernel("copy") };
  Deno.writeTextFileSync(path.join(folder, KERNELS), JSON.stringify(kernels));
  const all: Readonly<Record<string, number>>[] = [];
  for (let i = 0; i < processes; i++) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "-q", "--no-check", import.meta.filename ?? ""],
        ...["--measure", folder, String(i % 2 === 1)],
      ],
      stderr: "inherit",
    }).output();
    all.push(JSON.parse(new TextDecoder().decode(stdout)));
  }
  Deno.removeSync(folder, { recursive: true });
  const medians = Object.keys(all[0] ?? {}).map((name) => {
    const median = medianOf(all.map((each) => each[name] ?? NaN));
    console.log(describe(name, median));
    return median;
  });
  console.log(`${describe("mean of the medians", meanOf(medians))} (standard error)`);
}

const [mode, folder = "", isTurned] = Deno.args;
if (mode === "--measure") await measure(folder, isTurned === "true");
else await compare(Number(mode ?? PROCESSES));

/**
 * What the debugger costs launches that are not debugged: the emulator as it is, against the same one without the code that
 * asks whether someone looks on. A process for each, in turns; the fastest launch of each case counts. The bar is 1 %.
 *
 *     deno run -A scripts/bench_debugger.ts [ROUNDS]
 */
// deno-lint-ignore-file no-console -- a program for the terminal
import config from "../deno.json" with { type: "json" };
import { Device } from "../ffi/mod.ts";
import { smallCases } from "./bench/emulator_cases.ts";

const ROOT = new URL("../", import.meta.url);
/** Milliseconds for which a process repeats a case. */
const PATIENCE = 1500;

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

type Times = Readonly<Record<string, number>>;

/** The fastest launch of each case, in milliseconds. */
function measure(): Times {
  using device = Device.open({ device: "emulator", workers: 1 });
  return Object.fromEntries(
    smallCases().map((bench) => {
      using ready = bench.ready(device);
      let best = Infinity;
      const start = performance.now();
      while (performance.now() - start < PATIENCE) {
        const begin = performance.now();
        ready.launch();
        best = Math.min(best, performance.now() - begin);
      }
      return [bench.name, best];
    }),
  );
}

/** A configuration with some modules replaced; relative imports are mapped by what they resolve to. */
async function writeConfig(folder: string, replaced: typeof WITHOUT): Promise<string> {
  const own = Object.entries(config.imports).map(([name, to]) =>
    [name, to.startsWith("./") ? new URL(to, ROOT).href : to] as const
  );
  const others = Object.entries(replaced).map(([path, text], i) => {
    const file = `${folder}/module${i}.js`;
    Deno.writeTextFileSync(file, text);
    return [new URL(path, ROOT).href, `file://${file}`] as const;
  });
  const file = `${folder}/deno.json`;
  await Deno.writeTextFile(
    file,
    JSON.stringify({ imports: Object.fromEntries([...own, ...others]) }),
  );
  return file;
}

async function inProcess(configuration: string): Promise<Times> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--no-lock",
      "--config",
      configuration,
      import.meta.filename ?? "",
      "--measure",
    ],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function compare(rounds: number): Promise<void> {
  const folders = [Deno.makeTempDirSync(), Deno.makeTempDirSync()] as const;
  const [as, without] = [await writeConfig(folders[0], {}), await writeConfig(folders[1], WITHOUT)];
  const best: { as: Times; without: Times } = { as: {}, without: {} };
  const lower = (known: Times, times: Times): Times =>
    Object.fromEntries(
      Object.entries(times).map(([name, time]) => [name, Math.min(time, known[name] ?? Infinity)]),
    );
  for (let round = 0; round < rounds; round++) {
    best.as = lower(best.as, await inProcess(as));
    best.without = lower(best.without, await inProcess(without));
  }
  for (const folder of folders) Deno.removeSync(folder, { recursive: true });
  for (const [name, time] of Object.entries(best.as)) {
    const other = best.without[name] ?? NaN;
    console.log(
      `${name}: ${time.toFixed(3)} ms, without ${other.toFixed(3)} ms: ${
        (100 * (time / other - 1)).toFixed(1)
      } %`,
    );
  }
}

if (Deno.args[0] === "--measure") console.log(JSON.stringify(measure()));
else await compare(Number(Deno.args[0] ?? 5));

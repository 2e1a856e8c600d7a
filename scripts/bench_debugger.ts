/**
 * What the debugger costs launches that are not debugged: the emulator as it is, against the same one without the code that
 * asks whether someone looks on. Two processes take turns of a few milliseconds; of a case, what one pair of them says is
 * the ratio of their medians of the fastest launches. Processes differ from each other by more than the bar of 1 %, so
 * there are many pairs, of which the median counts, and the script says how sure the mean is.
 *
 *     deno run -A scripts/bench_debugger.ts [PAIRS]
 */
// deno-lint-ignore-file no-console -- a program for the terminal
import config from "../deno.json" with { type: "json" };
import { Device } from "../ffi/mod.ts";
import { smallCases } from "./bench/emulator_cases.ts";

const ROOT = new URL("../", import.meta.url);
/** Milliseconds of a turn, and turns of each process for a case. */
const TURN = 40;
const TURNS = 15;
const PAIRS = 12;

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

/** Answers each line on stdin, the number of a case, with the milliseconds of its fastest launch in a turn. */
async function serveTurns(): Promise<void> {
  using device = Device.open({ device: "emulator", workers: 1 });
  const cases = smallCases().map((bench) => bench.ready(device));
  for await (const line of linesOf(Deno.stdin.readable)) {
    const { launch } = cases[Number(line)] ?? { launch: () => {} };
    let best = Infinity;
    const start = performance.now();
    while (performance.now() - start < TURN) {
      const begin = performance.now();
      launch();
      best = Math.min(best, performance.now() - begin);
    }
    console.log(best);
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let held = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (held + piece).split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
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

/** A process that answers. */
interface Contender {
  turn(number: number): Promise<number>;
  end(): Promise<void>;
}

function startContender(configuration: string): Contender {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", "--no-lock", "--config", configuration],
      ...[import.meta.filename ?? "", "--serve"],
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const answers = linesOf(child.stdout);
  return {
    async turn(number): Promise<number> {
      await writer.write(new TextEncoder().encode(`${number}\n`));
      return Number((await answers.next()).value);
    },
    async end(): Promise<void> {
      await writer.close();
      await child.status;
    },
  };
}

/** The ratio of two processes for each case. */
async function ratiosOfPair(own: Contender, other: Contender): Promise<readonly number[]> {
  const ratios: number[] = [];
  for (const number of smallCases().keys()) {
    const times: [number[], number[]] = [[], []];
    // What is compiled at run time is compiled before.
    for (const each of [own, other, own, other]) await each.turn(number);
    for (let turn = 0; turn < TURNS; turn++) {
      times[0].push(await own.turn(number));
      times[1].push(await other.turn(number));
    }
    ratios.push(medianOf(times[0]) / medianOf(times[1]));
  }
  return ratios;
}

/** The value below which a share of sorted numbers lies. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (at - Math.floor(at)) * (high - low);
}

const medianOf = (values: readonly number[]): number =>
  quantile(values.toSorted((a, b) => a - b), 0.5);

const percent = (ratio = NaN): string => `${(100 * (ratio - 1)).toFixed(2)} %`;

async function compare(pairs: number): Promise<void> {
  const folders = [Deno.makeTempDirSync(), Deno.makeTempDirSync()] as const;
  const configurations = [
    await writeConfig(folders[0], {}),
    await writeConfig(folders[1], WITHOUT),
  ] as const;
  const all: (readonly number[])[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    // Who is started first differs.
    const isTurned = pair % 2 === 1;
    const first = startContender(configurations[isTurned ? 1 : 0]);
    const second = startContender(configurations[isTurned ? 0 : 1]);
    all.push(await (isTurned ? ratiosOfPair(second, first) : ratiosOfPair(first, second)));
    await first.end();
    await second.end();
  }
  for (const folder of folders) Deno.removeSync(folder, { recursive: true });
  const medians = smallCases().map(({ name }, number) => {
    const ratios = all.map((each) => each[number] ?? NaN).sort((a, b) => a - b);
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share));
    console.log(`${name}: ${percent(median)} (${percent(low)} … ${percent(high)})`);
    return median ?? NaN;
  });
  const means = all.map(meanOf);
  const mean = meanOf(means);
  const variance = meanOf(means.map((each) => (each - mean) ** 2)) / Math.max(1, pairs - 1);
  console.log(
    `mean of the medians ${percent(meanOf(medians))}; of all pairs ${percent(mean)} ` +
      `± ${(100 * Math.sqrt(variance)).toFixed(2)} % (standard error)`,
  );
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

if (Deno.args[0] === "--serve") await serveTurns();
else await compare(Number(Deno.args[0] ?? PAIRS));

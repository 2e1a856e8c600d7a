/**
 * Suites of tests: each is a `deno test` process of its own, several run at a time. A suite prints a line when it ends,
 * and its output if something in it failed; the report that `deno test` writes gives the counts.
 */
import { type Job, runJobs } from "./jobs.ts";

const ROOT = new URL("../", import.meta.url);

/** A case in the report of a suite. */
export interface TestCase {
  readonly file: string;
  readonly title: string;
  readonly outcome: "passed" | "failed" | "skipped";
}

/** What one process runs. */
export interface Suite {
  readonly name: string;
  readonly paths: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its output is shown as it comes. */
  readonly isShown?: boolean;
  /** The modules of its tests are loaded and compiled once for all its files. */
  readonly isShared?: boolean;
}

/** What came of a suite; `isRight` is false also where a module did not load, which fails no case. */
export interface Finished {
  readonly cases: readonly TestCase[];
  readonly isRight: boolean;
}

/** The seed of all random inputs: that of `TRI_SEED`, or a fresh one. */
const SEED: string = Deno.env.get("TRI_SEED") ??
  `${crypto.getRandomValues(new Uint32Array(1))[0] ?? 0}`;

/** How much of what is alike is tried (CONTRIBUTING.md, "Random tests"). */
const SAMPLES: string = Deno.env.get("TRI_SAMPLES") === "all"
  ? "all cases, targets and entries"
  : "a sample of the cases, targets and entries; TRI_SAMPLES=all takes all";

/**
 * Runs jobs, several at a time. The seed is printed before the first and again if one fails.
 */
export async function runAll(jobs: readonly Job<Finished>[]): Promise<Finished[]> {
  say(`random inputs: TRI_SEED=${SEED}; ${SAMPLES}`);
  // One more than there are cores: suites wait for npm, for processes that they started, and for timers.
  const finished = await runJobs(jobs, navigator.hardwareConcurrency + 1);
  if (finished.some(({ isRight }) => !isRight)) say(`TRI_SEED=${SEED} repeats the random inputs`);
  return finished;
}

/** A suite as a job, after others if it needs what they make. */
export function jobOf(suite: Suite, after: readonly string[] = []): Job<Finished> {
  const env = { TRI_SEED: SEED, ...suite.env };
  return { name: suite.name, after, run: () => runSuite({ ...suite, env }) };
}

/**
 * Tests make much garbage that is soon dead; a young generation of this size copies less of it. Threads that help the
 * collector take time from other suites.
 */
export const V8_FLAGS: string =
  "--v8-flags=--min-semi-space-size=64,--max-semi-space-size=128,--single-threaded-gc";

async function runSuite(suite: Suite): Promise<Finished> {
  const { name, env = {}, isShown = false, isShared = false } = suite;
  const folder = await Deno.makeTempDir({ prefix: "tri-suite-" });
  const report = `${folder}/report.xml`;
  try {
    const start = performance.now();
    const paths = isShared ? [await writeIndex(folder, suite.paths)] : suite.paths;
    const config = new URL("deno.json", ROOT).pathname;
    const args = [
      ...["test", "-A", "--no-check", "--config", config, V8_FLAGS],
      ...[`--junit-path=${report}`, ...paths],
    ];
    const command = new Deno.Command(Deno.execPath(), { args, env });
    const { code, output } = isShown
      ? { code: (await command.spawn().status).code, output: "" }
      : await outputOf(command);
    const finished = { cases: readJunit(await readReport(report)), isRight: code === 0 };
    say(`${name}: ${countsOf([finished])}, ${since(start)}`);
    if (code !== 0) say(output);
    return finished;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** There is none where a module did not load. */
async function readReport(report: string): Promise<string> {
  try {
    return await Deno.readTextFile(report);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** A module that imports the tests of all paths. */
async function writeIndex(folder: string, paths: readonly string[]): Promise<string> {
  const index = `${folder}/index.ts`;
  const imports = paths.flatMap(testsIn).map((file) =>
    `import ${JSON.stringify(new URL(file, ROOT).href)};\n`
  );
  await Deno.writeTextFile(index, imports.join(""));
  return index;
}

/** The files of tests at a path of the repository, in order. */
export function testsIn(path: string): string[] {
  if (!Deno.statSync(new URL(path, ROOT)).isDirectory) return [path];
  return [...Deno.readDirSync(new URL(`${path}/`, ROOT))]
    .filter(({ name, isDirectory }) => isDirectory || name.endsWith("_test.ts"))
    .map(({ name }) => `${path}/${name}`).toSorted().flatMap(testsIn);
}

async function outputOf(command: Deno.Command): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await command.output();
  const text = new TextDecoder();
  return { code, output: text.decode(stdout) + text.decode(stderr) };
}

/** `N passed, N failed, N skipped`; a suite that failed without a case that did counts as one. */
export function countsOf(finished: readonly Finished[]): string {
  const cases = finished.flatMap((one) => one.cases);
  const count = (outcome: TestCase["outcome"]): number =>
    cases.filter((one) => one.outcome === outcome).length;
  const broken = finished.filter((one) =>
    !one.isRight && one.cases.every(({ outcome }) => outcome !== "failed")
  );
  return `${count("passed")} passed, ${count("failed") + broken.length} failed, ${
    count("skipped")
  } skipped`;
}

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([^]*?)<\/testcase>)/g;

/** The test cases of a JUnit report as `deno test` writes it. */
export function readJunit(xml: string): TestCase[] {
  return [...xml.matchAll(CASE)].map(({ 1: title = "", 2: file = "", 3: body = "" }) => ({
    file: unescapeXml(file),
    title: unescapeXml(title),
    outcome: /<(?:failure|error)\b/.test(body)
      ? "failed"
      : /<skipped\b/.test(body)
      ? "skipped"
      : "passed",
  }));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&amp;": "&",
};

function unescapeXml(text: string): string {
  return text.replace(/&(?:lt|gt|quot|apos|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** Why tests were skipped, one line per reason and file. */
export function describeSkipped(finished: readonly Finished[]): string[] {
  const skipped = finished.flatMap(({ cases }) => cases)
    .filter(({ outcome }) => outcome === "skipped");
  const groups = Map.groupBy(skipped, ({ file, title }) => `${file}: ${reasonOf(title)}`);
  return [...groups].map(([reason, { length }]) => `skipped ${length} in ${reason}`);
}

function reasonOf(title: string): string {
  return /\[skipped: (.*)\]$/.exec(title)?.[1] ?? "marked as ignored";
}

/** A line on stdout, at once. */
export function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Seconds since a moment. */
export const since = (start: number): string =>
  `${((performance.now() - start) / 1000).toFixed(1)} s`;

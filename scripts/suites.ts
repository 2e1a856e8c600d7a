/**
 * Suites of tests: each is a `deno test` process of its own, several run at a time. A suite prints a line when it ends,
 * and its output if something in it failed; the report that `deno test` writes gives the counts.
 */

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
}

/** What came of a suite; `isRight` is false also where a module did not load, which fails no case. */
export interface Finished {
  readonly cases: readonly TestCase[];
  readonly isRight: boolean;
}

/**
 * Runs suites in their order, as many at a time as there are processors. All draw their random inputs from one seed, that of
 * `TRI_SEED` or a fresh one, which is printed before the first suite and again if a suite fails.
 */
export async function runSuites(suites: readonly Suite[]): Promise<Finished[]> {
  const seed = Deno.env.get("TRI_SEED") ?? `${crypto.getRandomValues(new Uint32Array(1))[0] ?? 0}`;
  const waiting = suites.map((suite) => ({ ...suite, env: { TRI_SEED: seed, ...suite.env } }));
  say(`random inputs: TRI_SEED=${seed}`);
  const finished: Finished[] = [];
  const work = async (): Promise<void> => {
    for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift()) {
      finished.push(await runSuite(suite));
    }
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, work));
  if (finished.some(({ isRight }) => !isRight)) say(`TRI_SEED=${seed} repeats the random inputs`);
  return finished;
}

async function runSuite({ name, paths, env = {}, isShown = false }: Suite): Promise<Finished> {
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  try {
    const start = performance.now();
    const args = ["test", "-A", "--no-check", `--junit-path=${report}`, ...paths];
    const command = new Deno.Command(Deno.execPath(), { args, env });
    const { code, output } = isShown
      ? { code: (await command.spawn().status).code, output: "" }
      : await outputOf(command);
    const finished = { cases: readJunit(await Deno.readTextFile(report)), isRight: code === 0 };
    say(`${name}: ${countsOf([finished])}, ${since(start)}`);
    if (code !== 0) say(output);
    return finished;
  } finally {
    await Deno.remove(report);
  }
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

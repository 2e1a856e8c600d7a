/**
 * All tests: the kernels are built, types checked, then `deno test`, whose report gives the counts. What is skipped is listed with
 * its reason, which stands at the end of a title: "[skipped: no GPU]". The last line is
 * `N passed, N failed, N skipped`; arguments are passed on to `deno test`.
 */

interface TestCase {
  readonly file: string;
  readonly title: string;
  readonly outcome: "passed" | "failed" | "skipped";
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
export function describeSkipped(cases: readonly TestCase[]): string[] {
  const skipped = cases.filter(({ outcome }) => outcome === "skipped");
  const groups = Map.groupBy(skipped, ({ file, title }) => `${file}: ${reasonOf(title)}`);
  return [...groups].map(([reason, { length }]) => `skipped ${length} in ${reason}`);
}

function reasonOf(title: string): string {
  return /\[skipped: (.*)\]$/.exec(title)?.[1] ?? "marked as ignored";
}

async function deno(...args: string[]): Promise<number> {
  const { code } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  return code;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function main(args: readonly string[]): Promise<number> {
  // The GPU tests import the wrappers of the shipped kernels.
  const isBuilt = await deno("task", "-q", "build-kernels") === 0;
  const typesAreRight = await deno("check") === 0;
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  try {
    const code = await deno("test", "-A", "--no-check", `--junit-path=${report}`, ...args);
    const cases = readJunit(await Deno.readTextFile(report));
    const count = (outcome: TestCase["outcome"]): number =>
      cases.filter((one) => one.outcome === outcome).length;
    describeSkipped(cases).forEach(say);
    // A module that does not load fails the run without being a test case.
    const failedCases = count("failed");
    const failedModules = code !== 0 && failedCases === 0 ? 1 : 0;
    const failed = failedCases + failedModules + (typesAreRight ? 0 : 1) + (isBuilt ? 0 : 1);
    if (!isBuilt) say("failed: deno task build-kernels");
    if (!typesAreRight) say("failed: deno check");
    if (failedModules > 0) say("failed: deno test ended with an error outside a test");
    say(`${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped`);
    return failed === 0 ? 0 : 1;
  } finally {
    await Deno.remove(report);
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args.length === 0 ? ["tests"] : Deno.args));

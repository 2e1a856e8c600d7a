/**
 * All tests: the kernels are built, types checked, then the folders of tests/ run as suites side by side. What is skipped
 * is listed with its reason, which stands at the end of a title: "[skipped: no GPU]". The last line is
 * `N passed, N failed, N skipped`. Arguments are paths of tests to run instead, as one suite.
 */
import { countsOf, describeSkipped, type Finished, runSuites, say, type Suite } from "./suites.ts";

const TESTS = new URL("../tests/", import.meta.url);

/** Suites that take longest, in the order in which they start, so that none is left over at the end. */
const LONGEST: readonly string[] = [
  "compiler/lower",
  "kernels",
  "cli",
  "programs",
  "docs",
  "npm",
  "emulator",
  "compiler/ptx",
  "ffi",
];

/** Folders of tests/ that are suites by their parts. */
const IN_PARTS: readonly string[] = ["compiler"];

/** A suite for each entry of tests/ that holds tests, or of a folder that runs in parts. */
export function suitesOf(names: readonly string[]): Suite[] {
  const rank = (name: string): number => {
    const place = LONGEST.indexOf(name);
    return place < 0 ? LONGEST.length : place;
  };
  return names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((name) => ({ name, paths: [`tests/${name}`] }));
}

function entriesOf(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, TESTS))]
    .map(({ name, isDirectory }) => ({ name: folder + name, isDirectory }))
    .flatMap(({ name, isDirectory }) =>
      isDirectory && IN_PARTS.includes(name)
        ? entriesOf(`${name}/`)
        : holdsTests(name, isDirectory)
        ? [name]
        : []
    );
}

function holdsTests(name: string, isDirectory: boolean): boolean {
  if (!isDirectory) return name.endsWith("_test.ts");
  return [...Deno.readDirSync(new URL(`${name}/`, TESTS))]
    .some((entry) => holdsTests(`${name}/${entry.name}`, entry.isDirectory));
}

async function deno(...args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  return success;
}

async function main(paths: readonly string[]): Promise<number> {
  // The GPU tests import the wrappers of the shipped kernels.
  const isBuilt = await deno("task", "-q", "build-kernels");
  const typesAreRight = await deno("check", "-q");
  const suites = paths.length === 0
    ? suitesOf(entriesOf(""))
    : [{ name: paths.join(" "), paths, isShown: true }];
  const finished = await runSuites(suites);
  describeSkipped(finished).forEach(say);
  if (!isBuilt) say("failed: deno task build-kernels");
  if (!typesAreRight) say("failed: deno check");
  const steps: Finished[] = [isBuilt, typesAreRight].map((isRight) => ({ cases: [], isRight }));
  say(countsOf([...finished, ...steps]));
  return [...finished, ...steps].every(({ isRight }) => isRight) ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

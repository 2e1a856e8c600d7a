/**
 * All tests: the kernels are built as PTX, types are checked, and the folders of tests/ run as suites, all side by side; only the
 * type check and the suites that read what is built wait for the build. What is skipped is listed with its reason, at the
 * end of a title: "[skipped: no GPU]". The last line is `N passed, N failed, N skipped`. Arguments are paths of tests to run
 * instead, as one suite.
 */
import { BUILDS, builtImages, denoJob, examplesJob, kernelsJob } from "./builds.ts";
import type { Job } from "./jobs.ts";
import { needsBuild } from "./needs_build.ts";
import {
  countsOf,
  describeSkipped,
  type Finished,
  jobOf,
  runAll,
  say,
  type Suite,
  testsIn,
} from "./suites.ts";

const TESTS = new URL("../tests/", import.meta.url);

/** The suite of what takes little. */
const OTHERS = "others";

/**
 * Suites by the entries of tests/ that share a process, in the order in which they start: the longest first, so that no core is
 * left with one at the end.
 */
const SUITES: readonly (readonly string[])[] = [
  ["cli"],
  ["npm"],
  // What these load is optimised once for both.
  ["compiler/lower", "compiler/schedule"],
  ["compiler"],
  ["kernels"],
  ["emulator"],
  ["editors"],
  [OTHERS],
  ["docs"],
  ["playground"],
  ["programs"],
  ["compiler/ptx"],
  ["examples"],
];

/** Folders of tests/ that are suites by their parts. */
const IN_PARTS: readonly string[] = ["compiler"];

/** The suites that have some of the entries of tests/. */
export function suitesOf(names: readonly string[]): Suite[] {
  const rows = Map.groupBy(names.toSorted(), rowOf);
  return SUITES.flatMap((entries, row) => {
    const paths = rows.get(row)?.map((name) => `tests/${name}`);
    return paths === undefined ? [] : [{ name: entries.join(" and "), paths, isShared: true }];
  });
}

/** The suite of an entry. Those that are not named take little: to load and to optimise what they test takes longer. */
function rowOf(name: string): number {
  const row = SUITES.findIndex((entries) => entries.includes(name));
  if (row >= 0) return row;
  const [folder = ""] = name.split("/");
  return rowOf(IN_PARTS.includes(folder) ? folder : OTHERS);
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

/**
 * Tests read wrappers and PTX, and tests/compiler/lower/assemble_test.ts assembles a sample. Cubins that are built already stay
 * up to date.
 */
function kernelOptions(): string[] {
  const hasCubins = builtImages().some(({ kind }) => kind === "cubin");
  return ["--werror", ...hasCubins ? [] : ["--no-cubin"]];
}

/** The part of a suite's files up to which those that read what is built do not make it wait. */
const FEW = 1 / 8;

/** Suites of which few files read what is built leave these to `others`, which waits. */
export function startEarly(suites: readonly Suite[]): Suite[] {
  const moved: string[] = [];
  const early = suites.map((suite) => {
    const files = suite.paths.flatMap(testsIn);
    const readers = files.filter(needsBuild);
    if (suite.name === OTHERS || readers.length === 0 || readers.length > FEW * files.length) {
      return suite;
    }
    moved.push(...readers);
    return { ...suite, paths: files.filter((file) => !readers.includes(file)) };
  });
  return early.map((suite) =>
    suite.name === OTHERS ? { ...suite, paths: [...suite.paths, ...moved] } : suite
  );
}

/** The build, the type check and the suites; without arguments all suites. */
export function jobsOf(paths: readonly string[]): Job<Finished>[] {
  const suites = paths.length === 0
    ? startEarly(suitesOf(entriesOf("")))
    : [{ name: paths.join(" "), paths, isShown: true }];
  return [
    kernelsJob(kernelOptions()),
    examplesJob(["--werror"]),
    // The GPU tests import the wrappers of the shipped kernels.
    denoJob("types", ["run", "-A", "--no-check", "scripts/types/check.ts"], BUILDS),
    ...suites.map((suite) => jobOf(suite, suite.paths.some(needsBuild) ? BUILDS : [])),
  ];
}

async function main(paths: readonly string[]): Promise<number> {
  const finished = await runAll(jobsOf(paths));
  describeSkipped(finished).forEach(say);
  say(countsOf(finished));
  return finished.every(({ isRight }) => isRight) ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

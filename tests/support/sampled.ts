/**
 * Samples of what is much alike and takes long: the seed of the run chooses them, so that runs together see everything.
 * `TRI_SAMPLES=all` leaves nothing out.
 */
import { must } from "../../compiler/support/bug.ts";
import { freshRandom } from "./random.ts";
import { runSeed } from "./seed.ts";

/** Whether nothing is to be left out. */
export const TAKES_ALL: boolean = Deno.env.get("TRI_SAMPLES") === "all";

/** In an order that the seed of the run and `salt` choose, wherever in a run this is asked. */
function shuffled<T>(list: readonly T[], salt = 0): T[] {
  const random = freshRandom(Math.imul(runSeed() + 2 * salt + 1, 0x9e3779b1));
  const result = [...list];
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [result[i], result[j]] = [must(result[j], "an element"), must(result[i], "an element")];
  }
  return result;
}

/** So many of a list, or all. */
export function sampled<T>(list: readonly T[], count: number, salt = 0): readonly T[] {
  return TAKES_ALL ? list : shuffled(list, salt).slice(0, count);
}

/** What takes as long as a suite does. */
const LONG = [
  "Firefox",
  "the package for VS Code",
  "esbuild in WebAssembly",
  "the npm packages on another runtime",
  "types of the npm packages as bundlers find modules",
  "the packed command beside Deno's",
  "blocks of pages that a test does sooner",
] as const;

/** Why a run does not try one of those. */
export const NOT_TRIED = `one run in ${LONG.length} tries it`;

/** Whether this run tries it: each tries one, so that no seed makes a run much longer than others. */
export function triesLong(what: typeof LONG[number]): boolean {
  return sampled(LONG, 1).includes(what);
}

/** Half of a list, of which each has the same text or code; or all. */
export function halfOf<T>(list: readonly T[], salt = 0): readonly T[] {
  return sampled(list, Math.ceil(list.length / 2), salt);
}

/**
 * What leaves out tests of a file that take long and are alike, or watch what seldom changes: of those that it is asked about, a
 * run tries every so many, in turn down the file from where its seed says. The result is why this run does not try one.
 */
export function turnsOf(runs: number): (title: string) => string | undefined {
  let next: number | undefined;
  return (title) => {
    next ??= freshRandom(hashOf(title) ^ runSeed()).below(runs);
    const isTried = TAKES_ALL || next === 0;
    next = (next + 1) % runs;
    return isTried ? undefined : `one run in ${runs} tries it`;
  };
}

function hashOf(text: string): number {
  return [...text].reduce((hash, letter) => Math.imul(hash, 31) + letter.charCodeAt(0) | 0, 7);
}

/** Declares a test; `missing` is what it needs and this machine lacks. */
export type DeclareTest = (
  title: string,
  body: (t: Deno.TestContext) => void | Promise<void>,
  missing?: string,
) => void;

/** Declares tests of a file of which a run tries every so many (`turnsOf`). */
export function testsInTurn(runs: number): DeclareTest {
  const leftOut = turnsOf(runs);
  return (title, fn, missing) => {
    const why = missing ?? leftOut(title);
    const name = why === undefined ? title : `${title} [skipped: ${why}]`;
    Deno.test({ name, ignore: why !== undefined, fn });
  };
}

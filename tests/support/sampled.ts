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

/** Whether this is the run of so many that tries what takes long and seldom changes. */
export function isOneRunIn(runs: number, salt = 0): boolean {
  return sampled(Array.from({ length: runs }, (_, run) => run), 1, salt)[0] === 0;
}

/** What takes as long as a suite does. */
const LONG = [
  "Firefox",
  "the package for VS Code",
  "esbuild in WebAssembly",
  "the npm packages on another runtime",
  "types of the npm packages as bundlers find modules",
  "the packed command beside Deno's",
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

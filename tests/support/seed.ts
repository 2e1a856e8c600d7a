/**
 * The one source of seeds for random inputs. A run draws a fresh seed, prints it and repeats with `TRI_SEED=n`. Each test starts
 * from the same seed, so a test draws the same inputs alone, under `--filter` and among all others.
 */

/** From `TRI_SEED`, else fresh. In [0, 2^32). */
export const SEED: number = seedFrom(Deno.env.get("TRI_SEED"));

let drawn = 0;
Deno.test.beforeEach(() => {
  drawn = 0;
});

function seedFrom(text: string | undefined): number {
  if (text === undefined || text === "") {
    const [fresh = 0] = crypto.getRandomValues(new Uint32Array(1));
    return fresh;
  }
  const seed = Number(text);
  if (!Number.isSafeInteger(seed) || seed < 0 || seed >= 2 ** 32) {
    throw new Error(`TRI_SEED=${text}: the seed is an integer from 0 to ${2 ** 32 - 1}`);
  }
  return seed;
}

let isPrinted = Deno.env.has("TRI_SEED");

/** The seed of the run; it is printed when it is first used. */
export function runSeed(): number {
  // deno-lint-ignore no-console -- a failure is repeated with this number
  if (!isPrinted) console.error(`random inputs: TRI_SEED=${SEED} repeats them`);
  isPrinted = true;
  return SEED;
}

/** A seed for the next sequence of the test: seeds that follow each other give unrelated sequences (Weyl sequence, hashed). */
export function nextSeed(): number {
  let mixed = Math.imul((runSeed() + 1) | 0, 0x9e3779b1) ^ Math.imul(++drawn, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 1;
}

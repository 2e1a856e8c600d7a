/** fast-check with the seed of the run: its properties repeat with `TRI_SEED` like all other random inputs. */
import * as fc from "./fast_check.ts";
import { runSeed } from "./seed.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: runSeed() | 0 });

export default fc;

/** Powers of two from 2^min to 2^max. */
export const powersOfTwo = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min, max }).map((bits) => 2 ** bits);

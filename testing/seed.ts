/** The seed of a run. */
import { runtime } from "#runtime";
import { ArgumentError } from "../ffi/mod.ts";

/** The seed that is given, that of the variable TRI_SEED, or a fresh one. */
export function readSeed(given: number | undefined): number {
  const text = runtime.readVariable("TRI_SEED");
  if (given === undefined && text === undefined) return Math.floor(Math.random() * 2 ** 32);
  const seed = given ?? Number(text);
  if (Number.isSafeInteger(seed) && seed >= 0 && seed < 2 ** 32) return seed;
  throw new ArgumentError({
    argument: given === undefined ? "TRI_SEED" : "seed",
    expected: `an integer from 0 to ${2 ** 32 - 1}`,
    actual: `${given ?? text}`,
  });
}

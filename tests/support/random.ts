/** Random bits, fast enough for gigabytes: xorshift128, from the seed of the run unless one is given. */
import { nextSeed, SEED } from "./seed.ts";

export interface Random {
  /** Printed by failing tests, so that a run can be repeated: the argument, else the seed of the run. */
  readonly seed: number;
  fill(bytes: Uint8Array): void;
  /** An integer in [0, bound). */
  below(bound: number): number;
  /** A number in [0, 1), a multiple of 2^-53. */
  unit(): number;
}

export function freshRandom(seed?: number): Random {
  let [x, y, z, w] = [(seed ?? nextSeed()) | 1, 362436069, 521288629, 88675123];
  const next = (): number => {
    const t = x ^ (x << 11);
    [x, y, z] = [y, z, w];
    w = w ^ (w >>> 19) ^ t ^ (t >>> 8);
    return w >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  return {
    seed: seed ?? SEED,
    fill: (bytes) => {
      const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
      for (let i = 0; i < words.length; i++) words[i] = next();
      for (let i = words.length * 4; i < bytes.byteLength; i++) bytes[i] = next();
    },
    below: (bound) => next() % bound,
    unit: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) * 2 ** -53,
  };
}

/** Random bytes. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  freshRandom().fill(bytes);
  return bytes;
}

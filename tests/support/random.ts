/** Fresh random bits, fast enough for gigabytes: xorshift128, seeded from the system each time. */

export interface Random {
  /** Printed by failing tests, so that a run can be repeated. */
  readonly seed: number;
  fill(bytes: Uint8Array): void;
  /** An integer in [0, bound). */
  below(bound: number): number;
}

export function freshRandom(seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1): Random {
  let [x, y, z, w] = [seed | 1, 362436069, 521288629, 88675123];
  const next = (): number => {
    const t = x ^ (x << 11);
    [x, y, z] = [y, z, w];
    w = w ^ (w >>> 19) ^ t ^ (t >>> 8);
    return w >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  return {
    seed,
    fill: (bytes) => {
      const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
      for (let i = 0; i < words.length; i++) words[i] = next();
      for (let i = words.length * 4; i < bytes.byteLength; i++) bytes[i] = next();
    },
    below: (bound) => next() % bound,
  };
}

/** Philox4x32-10 (Salmon et al., SC 2011) with the counter (offset, 0, 0, 0) of language.md, 7.4. */

const MASK = 0xffffffffn;
const MULTIPLIERS = [0xd2511f53n, 0xcd9e8d57n] as const;
const WEYL = [0x9e3779b9n, 0xbb67ae85n] as const;

/** The four words for a 64-bit seed and a 32-bit offset. */
export function philox(seed: bigint, offset: bigint): readonly bigint[] {
  let [k0, k1] = [seed & MASK, (seed >> 32n) & MASK];
  let [c0, c1, c2, c3] = [offset & MASK, 0n, 0n, 0n];
  for (let round = 0; round < 10; round++) {
    const [p0, p1] = [MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2];
    [c0, c1, c2, c3] = [(p1 >> 32n) ^ c1 ^ k0, p1 & MASK, (p0 >> 32n) ^ c3 ^ k1, p0 & MASK];
    k0 = (k0 + WEYL[0]) & MASK;
    k1 = (k1 + WEYL[1]) & MASK;
  }
  return [c0, c1, c2, c3];
}

/** Triton's mapping of a word to [0, 1), computed in float. */
export function uniform(word: bigint): number {
  const signed = BigInt.asIntN(32, word);
  const positive = signed < 0n ? ~signed : signed;
  return Math.fround(Math.fround(Number(positive)) * Math.fround(4.6566127342e-10));
}

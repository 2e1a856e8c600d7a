/** Random numbers against the published generator, and against Triton's mapping to floats. */
import { assert, assertEquals } from "../../../support/assert.ts";
import { CompiledText, zeros } from "../../../support/compiler/value_run.ts";

/** Philox4x32-10 in plain arithmetic. */
function philox(seed: bigint, offset: number): number[] {
  let [k0, k1] = [Number(seed & 0xffffffffn), Number(seed >> 32n)];
  let c = [offset >>> 0, 0, 0, 0];
  for (let round = 0; round < 10; round++) {
    const [c0 = 0, c1 = 0, c2 = 0, c3 = 0] = c;
    const [p, q] = [BigInt(c0) * 0xd2511f53n, BigInt(c2) * 0xcd9e8d57n];
    c = [
      Number(q >> 32n) ^ c1 ^ k0,
      Number(q & 0xffffffffn),
      Number(p >> 32n) ^ c3 ^ k1,
      Number(p & 0xffffffffn),
    ].map((word) => word >>> 0);
    [k0, k1] = [(k0 + 0x9e3779b9) >>> 0, (k1 + 0xbb67ae85) >>> 0];
  }
  return c;
}

const uniform = (word: number): number => {
  const signed = word | 0;
  return Math.fround(Math.fround(signed < 0 ? ~signed : signed) * Math.fround(4.6566127342e-10));
};

Deno.test("philox() of the reference gives the published test vector", () => {
  assertEquals(philox(0n, 0), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
});

Deno.test("random numbers are Philox4x32-10 of seed and offset, on all targets", () => {
  for (
    const compiled of CompiledText.forAll(
      `#pragma tri grid(1)
__global__ void k(long seed, int start, unsigned *W, float *U, float *N) {
  int r[64] = start + 0 ... 64;
  *(W + 0 ... 64) = philox(seed, r, 0);
  *(W + 64 ... 128) = philox(seed, r, 1);
  *(W + 128 ... 192) = philox(seed, r, 2);
  *(W + 192 ... 256) = philox(seed, r, 3);
  *(U + 0 ... 64) = rand(seed, r);
  *(N + 0 ... 64) = randn(seed, r);
  *(W + 256) = randint(seed, start);
}`,
    )
  ) {
    for (const seed of [0n, 1n, 0x123456789abcdefn, 0xffffffffffffffffn]) {
      for (const start of [0, -30, 123456]) {
        const [words = [], floats = [], normals = []] = compiled.run([
          { bytes: 8, value: seed },
          { bytes: 4, value: start },
          zeros("uint32", 257),
          zeros("float32", 64),
          zeros("float32", 64),
        ]);
        for (let i = 0; i < 64; i++) {
          const expected = philox(seed, start + i);
          assertEquals([0, 1, 2, 3].map((word) => Number(words[64 * word + i])), expected);
          const [u0 = 0, u1 = 0] = expected.map(uniform);
          assertEquals(floats[i], u0);
          const normal = Math.sqrt(-2 * Math.log(Math.max(1e-7, u0))) * Math.cos(2 * Math.PI * u1);
          assert(Math.abs(Number(normals[i]) - normal) < 1e-5);
        }
        assertEquals(Number(words[256]), philox(seed, start)[0]);
      }
    }
  }
});

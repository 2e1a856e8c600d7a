/** Where parts of loaded tiles, and products of them, belong: one exchange for all parts, none for what a thread has. */
import { assertEquals } from "../../support/assert.ts";
import { int } from "../../support/emulate.ts";
import { CompiledText } from "../../support/compiler/value_run.ts";
import { freshRandom } from "../../support/random.ts";

/** Sums over four neighbouring factors, of which each thread needs all. */
const PARTS = `#pragma tri grid(1)
__global__ void parts(half *X __aligned(16), half *F __aligned(16), float *Y __aligned(16), int M) {
  int m[64] = 0 ... 64;
  int n[64] = 0 ... 64;
  int four[4] = 0 ... 4;
  half x[64, 64] = *?((m < M)[:, newaxis]) (X + (m * 64)[:, newaxis] + n[newaxis, :]);
  half f[64, 4] = *(F + (n * 4)[:, newaxis] + four[newaxis, :]);
  half pairs[64, 2, 2] = reshape(f, 64, 2, 2);
  half even[64, 2] = split0(pairs), odd[64, 2] = split1(pairs);
  float f0[64] = split0(even), f1[64] = split0(odd), f2[64] = split1(even), f3[64] = split1(odd);
  float y[64, 64] = x * f0[newaxis, :];
  y = y * f1[newaxis, :] + f2[newaxis, :];
  y += f3[newaxis, :];
  *?((m < M)[:, newaxis]) (Y + (m * 64)[:, newaxis] + n[newaxis, :]) = y;
}`;

Deno.test("parts of a loaded tile are exchanged together, and are the right ones", () => {
  const { below } = freshRandom();
  const small = (count: number): number[] => Array.from({ length: count }, () => below(9) - 4);
  for (const compiled of CompiledText.forAll(PARTS)) {
    assertEquals(compiled.ptx.match(/bar\.sync/g)?.length, 1, compiled.ptx);
    const [x, f] = [small(64 * 64), small(64 * 4)];
    const wanted = x.map((value, at) => {
      const [a, b, c, d] = [0, 1, 2, 3].map((i) => f[at % 64 * 4 + i] ?? NaN) as [
        number,
        number,
        number,
        number,
      ];
      return value * a * b + c + d;
    });
    const [, , found] = compiled.run([
      { type: "float16", values: x },
      { type: "float16", values: f },
      { type: "float32", values: new Array<number>(64 * 64).fill(NaN) },
      int(64),
    ]);
    assertEquals(found?.map((value) => Number(value) + 0), wanted.map((value) => value + 0));
  }
});

/** Sums of the products of each two of four neighbours in two tensors. */
const PRODUCTS = `#pragma tri grid(1)
__global__ void products(half *A __aligned(16), half *B __aligned(16), float *Y, int M) {
  int m[16] = 0 ... 16;
  int n[64] = 0 ... 64;
  int four[4] = 0 ... 4;
  float sum[16, 16, 4, 4] = 0;
  for (int row = 0; row < M; row += 16) {
    bool check[16, 64] = (row + m < M)[:, newaxis] && (n < 64)[newaxis, :];
    half a[16, 64] = *?(check) (A + ((row + m) * 64)[:, newaxis] + n[newaxis, :]);
    half b[16, 64] = *?(check) (B + ((row + m) * 64)[:, newaxis] + n[newaxis, :]);
    float x[16, 16, 4] = reshape(a, 16, 16, 4);
    float y[16, 16, 4] = reshape(b, 16, 16, 4);
    sum += x[:, :, :, newaxis] * y[:, :, newaxis, :];
  }
  int g[16] = 0 ... 16;
  *(Y + (g * 16)[:, newaxis, newaxis] + (four * 4)[newaxis, :, newaxis] + four[newaxis, newaxis, :]) = sum[+, :, :, :];
}`;

Deno.test("products of each two of a thread's elements stay with it, in a loop without exchanges", () => {
  const { below } = freshRandom();
  const small = (count: number): number[] => Array.from({ length: count }, () => below(9) - 4);
  for (const compiled of CompiledText.forAll(PRODUCTS)) {
    const loop = /^L\d+:$[^]*?bra\.uni L\d+;/m.exec(compiled.ptx)?.[0] ?? "";
    assertEquals(/fma/.test(loop), true, compiled.ptx);
    assertEquals(/bar\.sync|shared/.test(loop), false, loop);
    for (const rows of [16, 37]) {
      const [a, b] = [small(rows * 64), small(rows * 64)];
      const wanted = Array.from({ length: 256 }, (_, at) => {
        const [group, i, j] = [at >> 4, at >> 2 & 3, at & 3];
        const products = Array.from(
          { length: rows },
          (_, row) => (a[row * 64 + group * 4 + i] ?? NaN) * (b[row * 64 + group * 4 + j] ?? NaN),
        );
        return products.reduce((x, y) => x + y, 0);
      });
      const [, , found] = compiled.run([
        { type: "float16", values: a },
        { type: "float16", values: b },
        { type: "float32", values: new Array<number>(256).fill(NaN) },
        int(rows),
      ]);
      assertEquals(found, wanted);
    }
  }
});

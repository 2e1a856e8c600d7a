/** Loads of slices of what follows wide sums: each slice after the one before, and the right elements. */
import { assertEquals } from "../../../support/assert.ts";
import { int } from "../../../support/emulate.ts";
import { CompiledText } from "../../../support/compiler/value_run.ts";
import { freshRandom } from "../../../support/random.ts";

/** One warp has 128 sums in each thread, which are stored in four slices. */
const LAYER = `#pragma tri grid(1)
#pragma tri num_warps=1
__global__ void layer(half *A __readonly __noalias, half *B __readonly __noalias, float *Bias __readonly __noalias,
                      half *Residual __readonly __noalias, float *C __noalias, int M, int N, int K) {
  int rm[64] = 0 ... 64;
  int rn[64] = 0 ... 64;
  int rk[16] = 0 ... 16;
  float sum[64, 64] = 0;
  for (int k = 0; k < K; k += 16) {
    half a[64, 16] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (A + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half b[16, 64] = *?(k + rk[:, newaxis] < K && rn[newaxis, :] < N) (B + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    sum += a @ b;
  }
  bool inside[64, 64] = (rm[:, newaxis] < M) && (rn[newaxis, :] < N);
  float bias[64] = *?(rn < N) (Bias + rn);
  float y[64, 64] = max(sum + bias[newaxis, :], 0);
  float r[64, 64] = *?(inside) (Residual + rm[:, newaxis] * N + rn[newaxis, :]);
  *?(inside) (C + rm[:, newaxis] * N + rn[newaxis, :]) = y + r;
}`;

Deno.test("slices have the right elements, and only those inside", () => {
  const { below } = freshRandom();
  const small = (count: number): number[] => Array.from({ length: count }, () => below(9) - 4);
  for (const compiled of CompiledText.forAll(LAYER)) {
    for (const [m, n, k] of [[64, 64, 16], [63, 37, 19], [1, 49, 0]] as const) {
      const [a, b, bias, residual] = [small(m * k), small(k * n), small(n), small(m * n)];
      // Small whole numbers have exact sums.
      const wanted = residual.map((added, at) => {
        const [row, column] = [Math.floor(at / n), at % n];
        const products = Array.from(
          { length: k },
          (_, i) => (a[row * k + i] ?? 0) * (b[i * n + column] ?? 0),
        );
        const sum = products.reduce((x, y) => x + y, bias[column] ?? 0);
        return Math.max(sum, 0) + added;
      });
      const results = compiled.run([
        { type: "float16", values: a },
        { type: "float16", values: b },
        { type: "float32", values: bias },
        { type: "float16", values: residual },
        { type: "float32", values: new Array<number>(m * n).fill(NaN) },
        int(m),
        int(n),
        int(k),
      ]);
      assertEquals(results.at(-1), wanted);
    }
  }
});

Deno.test("the addresses of a slice depend on what the slice before has loaded", () => {
  const { ptx } = new CompiledText(LAYER, "sm_80");
  const lines = ptx.split("\n");
  const loop = lines.findLastIndex((line) => line.includes("mma.sync"));
  const behind = lines.slice(loop);
  const masked = behind.flatMap((line, at) => {
    const [, zero, loaded] = /and\.b32 (%r\d+), (%r\d+), %r\d+;/.exec(line) ?? [];
    const isZero = behind.slice(at + 1, at + 3).some((next) =>
      next.includes(`cvt.u64.u32 %rd`) && next.endsWith(`${zero};`)
    );
    return isZero && loaded !== undefined ? [loaded] : [];
  });
  assertEquals(masked.length, 3, ptx);
  for (const loaded of masked) {
    const isLoaded = lines.some((line) => line.includes("ld.global") && line.includes(loaded));
    assertEquals(isLoaded, true, loaded);
  }
});

/** Dots of one loop whose operands do not all fit into shared memory, on the emulator with all of its checks. */
import type { TargetName } from "../../../compiler/targets.ts";
import { Device, type Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { loadWrapper } from "../../support/load_wrapper.ts";
import { freshRandom, type Random } from "../../support/random.ts";
import { sampled } from "../../support/sampled.ts";

const [M, D] = [16, 128];
type Matrix = Tensor<"float32", 2>;

const SOURCE = `
#pragma tri config BN=16; num_warps=4, num_stages=2
#pragma tri specialize(off)
#pragma tri grid(1)
#pragma tri tensor Q : in float[${M}, ${D}]
#pragma tri tensor G : in float[${M}, ${D}]
#pragma tri tensor K : in float[N, ${D}]
#pragma tri tensor V : in float[N, ${D}]
#pragma tri tensor O : out float[${M}, ${D}]
#pragma tri noalias(all)
__global__ void three_dots(float *Q __aligned(16), float *G __aligned(16), float *K __aligned(16),
                           float *V __aligned(16), float *O __aligned(16), int N) {
  int rm[${M}] = 0 ... ${M};
  int rn[BN] = 0 ... BN;
  int rd[${D}] = 0 ... ${D};
  float q[${M}, ${D}] = *(Q + rm[:, newaxis] * ${D} + rd[newaxis, :]);
  float g[${M}, ${D}] = *(G + rm[:, newaxis] * ${D} + rd[newaxis, :]);
  float o[${M}, ${D}] = 0;
  for (int n = 0; n < N; n += BN) {
    bool check[BN, 1] = rn[:, newaxis] < N - n;
    float k[BN, ${D}] = *?(check) (K + (n + rn[:, newaxis]) * ${D} + rd[newaxis, :]);
    float v[BN, ${D}] = *?(check) (V + (n + rn[:, newaxis]) * ${D} + rd[newaxis, :]);
    float s[${M}, BN] = q @ ^k;
    float t[${M}, BN] = g @ ^v;
    o += (s * t) @ k;
  }
  *(O + rm[:, newaxis] * ${D} + rd[newaxis, :]) = o;
}
`;

interface Wrapper {
  readonly threeDots: (
    q: Matrix,
    g: Matrix,
    k: Matrix,
    v: Matrix,
    options: { readonly out: Matrix },
  ) => Matrix;
}

/** -1, 0 and 1: all sums are whole numbers below 2^24, so every order of them is exact. */
function signs(random: Random, rows: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: rows * D }, () => random.below(3) - 1);
}

function expected(
  q: Float32Array,
  g: Float32Array,
  k: Float32Array,
  v: Float32Array,
): Float32Array<ArrayBuffer> {
  const out = new Float32Array(M * D);
  const dot = (a: Float32Array, row: number, b: Float32Array, other: number): number =>
    a.subarray(row * D, row * D + D).reduce((sum, x, i) => sum + x * (b[other * D + i] ?? 0), 0);
  for (let row = 0; row < M; row++) {
    for (let n = 0; n < k.length / D; n++) {
      const weight = dot(q, row, k, n) * dot(g, row, v, n);
      for (let i = 0; i < D; i++) {
        out[row * D + i] = (out[row * D + i] ?? 0) + weight * (k[n * D + i] ?? 0);
      }
    }
  }
  return out;
}

// On sm_75 two slots of each operand fill shared memory, and the operands made before the loop find no place in it.
const TARGETS: readonly TargetName[] = ["sm_70", "sm_75", "sm_80", "sm_86"];

Deno.test("stageOperands() keeps exchanges out of the slots of loops, where not all operands fit", async () => {
  const { kernels: [kernel], diagnostics } = compileFile(
    { name: "three_dots.tc", text: SOURCE },
    { targets: TARGETS },
  );
  assertEquals(diagnostics, []);
  const { threeDots } = await loadWrapper<Wrapper>(must(kernel, "the kernel"));
  const random = freshRandom();
  for (
    const arch of [
      "sm_75",
      ...sampled(TARGETS.filter((name) => name !== "sm_75"), 1),
    ] as const
  ) {
    using device = Device.open({ device: "emulator", arch });
    for (const n of [0, ...sampled([1, 16, 33, 40], 2)]) {
      const [q, g, k, v] = [signs(random, M), signs(random, M), signs(random, n), signs(random, n)];
      const on = (values: Float32Array<ArrayBuffer>, rows: number): Matrix =>
        device.tensor(values, [rows, D]);
      const out = on(new Float32Array(M * D).fill(NaN), M);
      threeDots(on(q, M), on(g, M), on(k, n), on(v, n), { out });
      assertEquals(await out.read(), expected(q, g, k, v), `${arch}, N = ${n}`);
    }
  }
});

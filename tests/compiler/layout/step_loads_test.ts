/**
 * Convolutions by a table of differences of offsets, as kernels of 2020 had them: what addresses grow by is loaded where each
 * thread needs it, and pixels, which no copy can bring, come through registers into slots of warp groups. On the emulator,
 * compared with double precision.
 */
import { inspect } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../../support/assert.ts";
import { compileForms, meets, runEntry, serves } from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

const TEXT = `
#pragma tri config; num_warps=4
__global__ void convolution(half *X, half *F, half *Y, int *Steps, int M, int N, int K, int H, int W, int C, int P, int Q) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128, rn[128] = get_program_id(1) * 128 + 0 ... 128, rk[32] = 0 ... 32;
  int n[128] = rm / (P * Q), p[128] = rm % (P * Q) / Q, q[128] = rm % Q;
  int at[128] = n * C * H * W + p * W + q;
  half *px[128, 32] = X + at[:, newaxis] + (*(Steps + rk))[newaxis, :];
  int *step[32] = Steps + K + rk;
  half *pf[32, 128] = F + rk[:, newaxis] * N + rn[newaxis, :];
  float sum[128, 128] = 0;
  for (int k = K; k > 0; k -= 32) {
    half x[128, 32] = *?(rm[:, newaxis] < M && rk[newaxis, :] < k) px;
    half f[32, 128] = *?(rn[newaxis, :] < N && rk[:, newaxis] < k) pf;
    sum += x @ f;
    int d[32] = *?(rk < k) step;
    step += 32;
    px += d[newaxis, :];
    pf += 32 * N;
  }
  half *py[128, 128] = Y + (n * N * P * Q + p * Q + q)[:, newaxis] + rn[newaxis, :] * (P * Q);
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) py = sum;
}
`;

const random = freshRandom();

/** Pictures, channels, the side of a result, filters. */
type Size = readonly [pictures: number, channels: number, side: number, filters: number];

/** Filters of 3 x 3 over pictures of `side + 2`; gives the names of the code that served the launch. */
function check([pictures, channels, side, filters]: Size, pad: number): readonly string[] {
  const width = side + 2 + pad;
  const [k, m] = [channels * 9, pictures * side * side];
  const eighths = (count: number): number[] =>
    Array.from({ length: count }, () => (random.below(17) - 8) / 8);
  const [x, f] = [eighths(pictures * channels * width * width), eighths(k * filters)];
  const offsetOf = (i: number): number =>
    Math.floor(i / 9) * width * width + Math.floor(i % 9 / 3) * width + i % 3;
  const offsets = Array.from({ length: k }, (_, i) => offsetOf(i));
  const later = offsets.map((offset, i) => (offsets[i + 32] ?? 0) - offset);
  const first = Array.from({ length: Math.max(k, 32) }, (_, i) => offsets[i] ?? 0);
  const wanted = Array.from({ length: pictures * filters * side * side }, (_, index) => {
    const [pixel, rest] = [index % (side * side), Math.floor(index / (side * side))];
    const [filter, picture] = [rest % filters, Math.floor(rest / filters)];
    const start = picture * channels * width * width + Math.floor(pixel / side) * width +
      pixel % side;
    let sum = 0;
    for (let i = 0; i < k; i++) {
      sum += must(x[start + offsetOf(i)], "pixel") * must(f[i * filters + filter], "weight");
    }
    return sum;
  });
  const compiled = compileForms(TEXT, {});
  const served: string[] = [];
  for (const entry of compiled.entries) {
    const args = {
      ...{ X: encode("float16", x), F: encode("float16", f) },
      ...{ Y: encode("float16", wanted.map(() => NaN)) },
      Steps: encode("int32", [...first.slice(0, k), ...later].map(BigInt)),
      ...{ M: m, N: filters, K: k, H: width, W: width, C: channels, P: side, Q: side },
    };
    const grid = [Math.ceil(m / 128), Math.ceil(filters / 128), 1] as const;
    for (const code of [entry, ...entry.forms ?? []]) {
      const launch = { grid, args: { ...args, Y: encode("float16", wanted.map(() => NaN)) } };
      const isServed = meets(entry.conditions, launch) &&
        (!("maps" in code) || serves(code, launch));
      if (!isServed) continue;
      runEntry(compiled, code, launch);
      served.push(code.symbol);
      const found = decode("float16", launch.args.Y).map(Number);
      for (const [index, value] of wanted.entries()) {
        const near = Math.abs(must(found[index], "result") - value) <= 1e-3 * (1 + Math.abs(value));
        assert(near, `${code.symbol}: ${found[index]} at ${index} is not ${value}`);
      }
    }
  }
  return served;
}

Deno.test("pixels that a table of differences names are gathered an iteration ahead, for any sizes", () => {
  assert(check([2, 5, 7, 24], 0).includes("convolution"));
  assert(check([1, 8, 9, 130], 1).includes("convolution"));
});

Deno.test("the same for sizes that are multiples of 8", () => {
  assert(check([1, 8, 16, 136], 6).includes("convolution_a16"));
});

Deno.test("warp groups multiply what a table of differences names, and nothing is exchanged for it in the loop", () => {
  const shown = (stage: "plan" | "layout"): string =>
    inspect({ name: "k.tc", text: TEXT }, { targets: ["sm_90a"] }, stage);
  const plan = shown("plan");
  assert(plan.match(/of X by registers: 3 x 8192 bytes/g)?.length === 2, plan);
  for (const code of shown("layout").split("\nfunc ").slice(1)) {
    const [loop] = must(code.split(" = while ")[1], "loop").split("\n    yield ");
    assert(loop?.includes("warp_group_dot") === true && !loop.includes("convert_layout"), code);
  }
});

/** Operands that loops make of anything, for warp groups, on the emulator: compared with double precision. */
import { inspect } from "../../../../compiler/mod.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { assert } from "../../../support/assert.ts";
import { type Arguments, compileForms, meets, runEntry } from "../../../support/forms/form_run.ts";
import { freshRandom } from "../../../support/random.ts";
import { testsInTurn } from "../../../support/sampled.ts";
import { decode, encode } from "../../../support/typed_arrays.ts";

/** Eight rows of B are in an integer; steps of them have scales and zeros. */
const PACKED = `
__global__ void packed(half *A __noalias, int *B __noalias, half *S __noalias, int *Z __noalias, float *C __noalias, int M, int N, int K) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[64] = get_program_id(1) * 64 + 0 ... 64, rk[64] = 0 ... 64;
  half *pa[64, 64] = A + rm[:, newaxis] * K + rk[newaxis, :];
  int *pb[64, 64] = B + rk[:, newaxis] / 8 * N + rn[newaxis, :];
  int shift[64] = rk % 8 * 4;
  float sum[64, 64] = 0;
  for (int k = 0; k < K; k += 64) {
    half scale[64] = *?(rn < N) (S + k / 64 * N + rn);
    int zero[64] = *?(rn < N) (Z + k / 64 * N + rn);
    int words[64, 64] = *?(rn[newaxis, :] < N) pb;
    half b[64, 64] = (half[64, 64])((words >> shift[:, newaxis] & 15) - zero[newaxis, :]) * scale[newaxis, :];
    half a[64, 64] = *?(rm[:, newaxis] < M) pa;
    sum += a @ b;
    pa += 64;
    pb += 8 * N;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

/** The left operand is made of two tiles. */
const GATED = `
__global__ void gated(half *X __noalias, half *Y __noalias, half *B __noalias, float *C __noalias, int M, int N, int K) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[128] = get_program_id(1) * 128 + 0 ... 128, rk[64] = 0 ... 64;
  float sum[64, 128] = 0;
  for (int k = 0; k < K; k += 64) {
    bool inside[64, 64] = rm[:, newaxis] < M && k + rk[newaxis, :] < K;
    half x[64, 64] = *?(inside) (X + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half y[64, 64] = *?(inside) (Y + rm[:, newaxis] * K + k + rk[newaxis, :]);
    sum += (max(x, 0) * y) @ *?(k + rk[:, newaxis] < K && rn[newaxis, :] < N) (B + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

/** Right operands of bytes, which have scales. */
const BYTES = `
__global__ void bytes(half *A __noalias, TYPE *B __noalias, half *S __noalias, float *C __noalias, int M, int N, int K) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128, rn[64] = get_program_id(1) * 64 + 0 ... 64, rk[64] = 0 ... 64;
  float sum[128, 64] = 0;
  for (int k = 0; k < K; k += 64) {
    half a[128, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (A + rm[:, newaxis] * K + k + rk[newaxis, :]);
    TYPE b[64, 64] = *?(k + rk[:, newaxis] < K && rn[newaxis, :] < N) (B + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    half s[64] = *?(rn < N) (S + rn);
    sum += a @ ((half[64, 64])b * s[newaxis, :]);
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

const test = testsInTurn(2);
const random = freshRandom();
/** Multiples of 1/16 from -2 to 2: products of two are halves. */
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(65) - 32) / 16);
const integers = (count: number, below: number): number[] =>
  Array.from({ length: count }, () => random.below(below));
const at = (values: readonly number[], index: number): number => must(values[index], "number");
const halves = (values: readonly number[]): Uint8Array => encode("float16", values);

interface Case {
  readonly text: string;
  readonly sizes: readonly [m: number, n: number, k: number];
  readonly tile: readonly [m: number, n: number];
  readonly args: Arguments;
  readonly a: (row: number, k: number) => number;
  readonly b: (k: number, column: number) => number;
}

function check({ text, sizes: [m, n, k], tile, args, a, b }: Case): void {
  const compiled = compileForms(text, {});
  const aligned = must(compiled.entries.find(({ symbol }) => symbol.endsWith("_a16")), "entry");
  const plan = inspect({ name: "k.tc", text }, { targets: ["sm_90a"] }, "plan");
  assert(plan.includes("of what is computed by registers: 2 x"), plan);
  const grid = [Math.ceil(m / tile[0]), Math.ceil(n / tile[1]), 1] as const;
  for (const code of compiled.entries) {
    const C = encode("float32", new Array<number>(m * n).fill(NaN));
    const launch = { grid, args: { ...args, C, M: m, N: n, K: k } };
    if (code === aligned) assert(meets(code.conditions, launch), "it does not serve the launch");
    if (!meets(code.conditions, launch)) continue;
    runEntry(compiled, code, launch);
    const found = decode("float32", C).map(Number);
    for (const [index, value] of found.entries()) {
      const [row, column] = [Math.floor(index / n), index % n];
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a(row, i) * b(i, column);
      assert(Math.abs(value - sum) < 1e-4 * (1 + k), `${value} at ${row}, ${column}, not ${sum}`);
    }
  }
}

test("a loop makes operands of words in which eight numbers are packed", () => {
  const [m, n, k] = [72, 72, 192];
  const [a, four] = [numbers(m * k), integers(k * n, 16)];
  const [scales, zeros] = [numbers(k / 64 * n), integers(k / 64 * n, 16)];
  const words = Array.from({ length: k / 8 * n }, (_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    let word = 0;
    for (let i = 0; i < 8; i++) word |= at(four, (row * 8 + i) * n + column) << (4 * i);
    return BigInt(word);
  });
  const ofGroup = (i: number, column: number): number => Math.floor(i / 64) * n + column;
  check({
    text: PACKED,
    sizes: [m, n, k],
    tile: [64, 64],
    args: {
      A: halves(a),
      B: encode("int32", words),
      S: halves(scales),
      Z: encode("int32", zeros.map(BigInt)),
    },
    a: (row, i) => at(a, row * k + i),
    b: (i, column) =>
      (at(four, i * n + column) - at(zeros, ofGroup(i, column))) * at(scales, ofGroup(i, column)),
  });
});

test("a loop makes a left operand of two tiles", () => {
  const [m, n, k] = [72, 136, 200];
  const [x, y, b] = [numbers(m * k), numbers(m * k), numbers(k * n)];
  check({
    text: GATED,
    sizes: [m, n, k],
    tile: [64, 128],
    args: { X: halves(x), Y: halves(y), B: halves(b) },
    a: (row, i) => Math.max(at(x, row * k + i), 0) * at(y, row * k + i),
    b: (i, column) => at(b, i * n + column),
  });
});

for (const element of ["int8", "uint8", "float8e4"] as const) {
  test(`a loop computes operands of ${element} in two slots beside three of copies`, () => {
    const [m, n, k] = [136, 80, 208];
    const [a, scales] = [numbers(m * k), numbers(n)];
    const b = element === "float8e4"
      ? integers(k * n, 33).map((one) => (one - 16) / 8)
      : integers(k * n, 256).map((one) => element === "int8" ? one - 128 : one);
    const encoded = element === "float8e4" ? encode(element, b) : encode(element, b.map(BigInt));
    const stored = decode(element, encoded).map(Number);
    check({
      text: BYTES.replaceAll("TYPE", element),
      sizes: [m, n, k],
      tile: [128, 64],
      args: { A: halves(a), B: encoded, S: halves(scales) },
      a: (row, i) => at(a, row * k + i),
      b: (i, column) =>
        Number(new Float16Array([at(stored, i * n + column) * at(scales, column)])[0]),
    });
  });
}

/** Forms with other warps than their entries, on the emulator: compared with double precision. */
import { inspect } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  type Arguments,
  compileForms,
  meets,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

/** Two products that share A: relu(A @ B) * (A @ D). */
const GATED = `
#pragma tri config; num_warps=4
__global__ void gated(half *A __noalias, half *B __noalias, half *D __noalias, float *C __noalias, int M, int N, int K) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[64] = 0 ... 64;
  float gate[128, 64] = 0;
  float up[128, 64] = 0;
  for (int k = 0; k < K; k += 64) {
    bool inside[64, 64] = k + rk[:, newaxis] < K && rn[newaxis, :] < N;
    half a[128, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (A + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half b[64, 64] = *?(inside) (B + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    half d[64, 64] = *?(inside) (D + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    gate += a @ b;
    up += a @ d;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = max(gate, 0) * up;
}
`;

/** relu((A * factor) @ B) @ D: the left operand of the first product is computed before the loop. */
const CHAIN = `
#pragma tri config; num_warps=4
__global__ void chain(half *A __noalias, half *B __noalias, half *D __noalias, float *C __noalias, int M, int K) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128;
  int rd[WIDTH] = 0 ... WIDTH;
  half a[128, WIDTH] = *?(rm[:, newaxis] < M) (A + rm[:, newaxis] * WIDTH + rd[newaxis, :]);
  a = a * 0.5h;
  float sum[128, WIDTH] = 0;
  for (int k = 0; k < K; k += 64) {
    int rk[64] = k + 0 ... 64;
    half b[64, WIDTH] = *?(rk[:, newaxis] < K) (B + rk[:, newaxis] * WIDTH + rd[newaxis, :]);
    half d[64, WIDTH] = *?(rk[:, newaxis] < K) (D + rk[:, newaxis] * WIDTH + rd[newaxis, :]);
    float hidden[128, 64] = max(a @ ^b, 0);
    sum += (half[128, 64])hidden @ d;
  }
  *?(rm[:, newaxis] < M) (C + rm[:, newaxis] * WIDTH + rd[newaxis, :]) = sum;
}
`;

const test = testsInTurn(2);
const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(64) - 32) / 64);

/** What all code of a text gives; each entry has a form with two warp groups and one that copies for them. */
function run(
  text: string,
  defines: Record<string, number>,
  args: Arguments,
  columns: number,
): number[][] {
  const compiled = compileForms(text, defines);
  const grid = [1, columns, 1] as const;
  const all = compiled.entries.flatMap((entry) => {
    assert(meets(entry.conditions, { grid, args }), "an entry does not serve the launch");
    return [entry, ...must(entry.forms, "forms of an entry with four warps")];
  });
  return all.map((code) => {
    const C = new Uint8Array(args.C as Uint8Array);
    const launch = { grid, args: { ...args, C } };
    if ("maps" in code) {
      assertEquals(code.threads, 384);
      assert(serves(code, launch), "the form does not serve the launch");
    }
    runEntry(compiled, code, launch);
    return decode("float32", C).map(Number);
  });
}

const poison = (count: number): Uint8Array => encode("float32", new Array<number>(count).fill(NaN));

test("warpsOfRows() gives products that share an operand a form with the warps of their rows", () => {
  const [m, n, k] = [104, 72, 72];
  const [a, b, d] = [numbers(m * k), numbers(k * n), numbers(k * n)];
  const found = run(GATED, {}, {
    ...{ A: encode("float16", a), B: encode("float16", b), D: encode("float16", d) },
    ...{ C: poison(m * n), M: m, N: n, K: k },
  }, 2);
  const product = (right: readonly number[], row: number, column: number): number =>
    Array.from(
      { length: k },
      (_, i) => must(a[row * k + i], "a") * must(right[i * n + column], "b"),
    ).reduce((x, y) => x + y);
  found.flatMap((values) => [...values.entries()]).forEach(([at, value]) => {
    const [row, column] = [Math.floor(at / n), at % n];
    const wanted = Math.max(product(b, row, column), 0) * product(d, row, column);
    assert(Math.abs(value - wanted) < 1e-3, `${value} at ${at} is not ${wanted}`);
  });
});

for (const width of [64, 128]) {
  test(`warpsOfRows() gives chains of ${width} columns such a form, with a left operand that is computed`, () => {
    checkChain(width);
  });
}

function checkChain(width: number): void {
  const [m, k] = [104, 72];
  const [a, b, d] = [numbers(m * width), numbers(k * width), numbers(k * width)];
  const found = run(CHAIN, { WIDTH: width }, {
    ...{ A: encode("float16", a), B: encode("float16", b), D: encode("float16", d) },
    ...{ C: poison(m * width), M: m, K: k },
  }, 1);
  const hidden = Array.from({ length: m * k }, (_, at) => {
    const [row, column] = [Math.floor(at / k), at % k];
    let sum = 0;
    for (let i = 0; i < width; i++) {
      sum += 0.5 * must(a[row * width + i], "a") * must(b[column * width + i], "b");
    }
    return Math.max(sum, 0);
  });
  found.flatMap((values) => [...values.entries()]).forEach(([at, value]) => {
    const [row, column] = [Math.floor(at / width), at % width];
    let sum = 0;
    for (let i = 0; i < k; i++) {
      sum += must(hidden[row * k + i], "hidden") * must(d[i * width + column], "d");
    }
    // Hidden elements are rounded to half.
    assert(Math.abs(value - sum) < 2e-2, `${value} at ${at} is not ${sum}`);
  });
}

test("warpsOfRows() leaves chains of narrow rows with powers their warps", () => {
  const defines = [{ name: "WIDTH", value: "64" }];
  const text = CHAIN.replace("max(a @ ^b, 0)", "exp(a @ ^b)");
  const plan = inspect({ name: "k.tc", text }, { targets: ["sm_90a"], defines }, "plan");
  assert(!plan.includes("  tensor"), plan);
});

/**
 * Texts as others write them, whose addresses loops carry or numbers of the launch divide, on the emulator: their entries and
 * forms are compared with double precision.
 */
import { inspect } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../../support/assert.ts";
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

/** Heads share keys and values; a matrix is added to the scores by pointers that grow. */
const ATTENTION = `
#pragma tri config; num_warps=4
__global__ void attention(half *Q __noalias, half *K __noalias, half *V __noalias, half *B __noalias, float *O __noalias,
                          int H, int HK, int M, int N, float scale) {
  int h = get_program_id(1), hk = h / (H / HK);
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[64] = 0 ... 64, rd[64] = 0 ... 64;
  half q[64, 64] = *?(rm[:, newaxis] < M) (Q + (long)h * M * 64 + rm[:, newaxis] * 64 + rd[newaxis, :]);
  half *pk[64, 64] = K + (long)hk * N * 64 + rn[:, newaxis] * 64 + rd[newaxis, :];
  half *pv[64, 64] = V + (long)hk * N * 64 + rn[:, newaxis] * 64 + rd[newaxis, :];
  half *pb[64, 64] = B + (long)h * M * N + rm[:, newaxis] * N + rn[newaxis, :];
  float top[64] = -INFINITY, sum[64] = 0, o[64, 64] = 0;
  for (int n = 0; n < N; n += 64) {
    bool inside[64] = n + rn < N;
    float s[64, 64] = (q @ ^(*?(inside[:, newaxis]) pk)) * scale;
    s += (float[64, 64])*?(rm[:, newaxis] < M && inside[newaxis, :]) pb;
    s = inside[newaxis, :] ? s : -INFINITY;
    float newer[64] = max(top, s[:, max]);
    float p[64, 64] = exp(s - newer[:, newaxis]);
    float shrink[64] = exp(top - newer);
    sum = sum * shrink + p[:, +];
    o = o * shrink[:, newaxis] + (half[64, 64])p @ *?(inside[:, newaxis]) pv;
    top = newer;
    pk += 64 * 64;
    pv += 64 * 64;
    pb += 64;
  }
  *?(rm[:, newaxis] < M) (O + (long)h * M * 64 + rm[:, newaxis] * 64 + rd[newaxis, :]) = o / sum[:, newaxis];
}
`;

/** Each step has scales of rows and of columns, by pointers that grow. */
const SCALED = `
#pragma tri config; num_warps=4
__global__ void scaled(float8e4 *A __noalias, float8e4 *B __noalias, float *SA __noalias, float *SB __noalias, float *C __noalias,
                       int M, int N, int K) {
  int steps = cdiv(K, 64);
  int rm[64] = (get_program_id(0) * 64 + 0 ... 64) % M, rn[64] = (get_program_id(1) * 64 + 0 ... 64) % N, rk[64] = 0 ... 64;
  float8e4 *pa[64, 64] = A + rm[:, newaxis] * K + rk[newaxis, :];
  float8e4 *pb[64, 64] = B + rn[newaxis, :] * K + rk[:, newaxis];
  float *sa[64] = SA + rm * steps, *sb[64] = SB + rn * steps;
  float sum[64, 64] = 0;
  for (int k = 0; k < steps; k += 1) {
    float8e4 a[64, 64] = *?(rk[newaxis, :] < K - k * 64) pa;
    float8e4 b[64, 64] = *?(rk[:, newaxis] < K - k * 64) pb;
    sum += dot(a, b) * (*sa)[:, newaxis] * (*sb)[newaxis, :];
    pa += 64;
    pb += 64;
    sa += 1;
    sb += 1;
  }
  int cm[64] = get_program_id(0) * 64 + 0 ... 64, cn[64] = get_program_id(1) * 64 + 0 ... 64;
  *?(cm[:, newaxis] < M && cn[newaxis, :] < N) (C + cm[:, newaxis] * N + cn[newaxis, :]) = sum;
}
`;

/** A table names the row of A for each row of C, as one of several; another one the expert of a block. */
const EXPERTS = `
__global__ void experts(half *A __noalias, half *B __noalias, float *C __noalias, int *Rows __noalias, int *Experts __noalias,
                        int N, int K, int count, int several) {
  int pm = get_program_id(0);
  int row[64] = *(Rows + pm * 64 + 0 ... 64);
  bool live[64] = row < count;
  int rn[64] = (get_program_id(1) * 64 + 0 ... 64) % N, rk[64] = 0 ... 64;
  half *pa[64, 64] = A + (row / several)[:, newaxis] * K + rk[newaxis, :];
  half *pb[64, 64] = B + (long)*(Experts + pm) * N * K + rn[newaxis, :] * K + rk[:, newaxis];
  float sum[64, 64] = 0;
  for (int k = 0; k < cdiv(K, 64); k += 1) {
    half a[64, 64] = *?(live[:, newaxis] && rk[newaxis, :] < K - k * 64) pa;
    half b[64, 64] = *?(rk[:, newaxis] < K - k * 64) pb;
    sum += dot(a, b);
    pa += 64;
    pb += 64;
  }
  int cn[64] = get_program_id(1) * 64 + 0 ... 64;
  *?(live[:, newaxis] && cn[newaxis, :] < N) (C + row[:, newaxis] * N + cn[newaxis, :]) = sum;
}
`;

/** A dot behind the loop takes what the loop's lead to. */
const CHUNK = `
#pragma tri config; num_warps=4
__global__ void chunk(half *Q __noalias, half *K __noalias, half *V __noalias, half *H __noalias, float *O __noalias, int T) {
  int rt[64] = get_program_id(0) * 64 + 0 ... 64, rv[64] = 0 ... 64, rk[64] = 0 ... 64, ri[64] = 0 ... 64;
  float o[64, 64] = 0, s[64, 64] = 0;
  for (int i = 0; i < 128; i += 64) {
    half q[64, 64] = *?(rt[:, newaxis] < T) (Q + rt[:, newaxis] * 128 + i + rk[newaxis, :]);
    half k[64, 64] = *?(rt[newaxis, :] < T) (K + rt[newaxis, :] * 128 + i + rk[:, newaxis]);
    o += q @ *(H + (i + rk[:, newaxis]) * 64 + rv[newaxis, :]);
    s += q @ k;
  }
  s = ri[:, newaxis] >= ri[newaxis, :] ? s : 0;
  o += (half[64, 64])s @ *?(rt[:, newaxis] < T) (V + rt[:, newaxis] * 64 + rv[newaxis, :]);
  *?(rt[:, newaxis] < T) (O + rt[:, newaxis] * 64 + rv[newaxis, :]) = o;
}
`;

/** Rows and columns that are others where they would be too large; programs go over tiles in steps of the grid if IN_TURN. */
const INSIDE = `
__global__ void inside(half *A __noalias, half *B __noalias, float *C __noalias, int M, int N, int K) {
  int across = cdiv(N, 64), rk[64] = 0 ... 64;
#if IN_TURN
  for (int tile = get_program_id(0); tile < cdiv(M, 64) * across; tile += get_num_programs(0)) {
#else
  int tile = get_program_id(0);
#endif
    int group = tile / (8 * across), size = min(cdiv(M, 64) - group * 8, 8);
    int pm = group * 8 + tile % size, pn = tile % (8 * across) / size;
    int cm[64] = pm * 64 + 0 ... 64, cn[64] = pn * 64 + 0 ... 64;
    int rm[64] = LIMIT(cm, M), rn[64] = LIMIT(cn, N);
    float sum[64, 64] = 0;
    for (int k = 0; k < cdiv(K, 64); k += 1) {
      half a[64, 64] = *?(rk[newaxis, :] < K - k * 64) (A + rm[:, newaxis] * K + (k * 64 + rk)[newaxis, :]);
      half b[64, 64] = *?(rk[:, newaxis] < K - k * 64) (B + (k * 64 + rk)[:, newaxis] + rn[newaxis, :] * K);
      sum = dot(a, b, sum);
    }
    *?(cm[:, newaxis] < M && cn[newaxis, :] < N) (C + cm[:, newaxis] * N + cn[newaxis, :]) = sum;
#if IN_TURN
  }
#endif
}
`;

/** A loop moves the tile of indices that both masks compare; A is stored by columns. */
const STEPPED = `
__global__ void stepped(half *A __noalias, half *B __noalias, float *C __noalias, int M, int N, int K, int first) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[64] = first + 0 ... 64;
  float sum[64, 64] = 0;
  for (int k = first; k < K; k += 64) {
    half a[64, 64] = *?(rk[newaxis, :] < K && rm[:, newaxis] < M) (A + rk[newaxis, :] * M + rm[:, newaxis]);
    half b[64, 64] = *?(rk[:, newaxis] < K && rn[newaxis, :] < N) (B + rk[:, newaxis] * N + rn[newaxis, :]);
    sum += a @ b;
    rk += 64;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

const test = testsInTurn(2);
const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(65) - 32) / 32);
const at = (values: readonly number[], index: number): number => must(values[index], "number");
const halves = (values: readonly number[]): Uint8Array => encode("float16", values);
const poison = (count: number): Uint8Array => encode("float32", new Array<number>(count).fill(NaN));
const sumOf = (count: number, term: (i: number) => number): number => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += term(i);
  return sum;
};

interface Launch {
  readonly text: string;
  readonly grid: readonly [number, number, number];
  readonly args: Arguments;
  /** The name of the result. */
  readonly out: string;
  readonly wanted: readonly number[];
  readonly bound: number;
  readonly hasForms: boolean;
}

const planOf = (text: string): string =>
  inspect({ name: "k.tc", text }, { targets: ["sm_90a"] }, "plan");

/** Runs all code of a text, which all serves the launch. */
function check({ text, grid, args, out, wanted, bound, hasForms }: Launch): void {
  const compiled = compileForms(text, {});
  for (const entry of compiled.entries) {
    assert(meets(entry.conditions, { grid, args }), `${entry.symbol} does not serve the launch`);
    const forms = entry.forms ?? [];
    assert(!hasForms || forms.length > 0, `${entry.symbol} has no form`);
    for (const code of [entry, ...forms]) {
      const launch = { grid, args: { ...args, [out]: poison(wanted.length) } };
      if ("maps" in code) assert(serves(code, launch), "the form does not serve the launch");
      runEntry(compiled, code, launch);
      const found = decode("float32", launch.args[out] as Uint8Array).map(Number);
      for (const [index, value] of wanted.entries()) {
        const near = Math.abs(at(found, index) - value) <= bound * (1 + Math.abs(value));
        assert(near, `${code.symbol}: ${found[index]} at ${index} is not ${value}`);
      }
    }
  }
}

test("attention of grouped heads with an added matrix has forms", () => {
  const [h, hk, m, n, d] = [4, 2, 72, 88, 64];
  const [q, k, v] = [numbers(h * m * d), numbers(hk * n * d), numbers(hk * n * d)];
  const added = numbers(h * m * n);
  const wanted: number[] = [];
  for (let head = 0; head < h; head++) {
    const shared = Math.floor(head / (h / hk));
    for (let row = 0; row < m; row++) {
      const powers = Array.from({ length: n }, (_, column) =>
        Math.exp(
          0.125 * sumOf(d, (i) =>
                at(q, (head * m + row) * d + i) * at(k, (shared * n + column) * d + i)) +
            at(added, (head * m + row) * n + column),
        ));
      const sum = powers.reduce((a, b) => a + b);
      for (let i = 0; i < d; i++) {
        wanted.push(
          sumOf(n, (column) => at(powers, column) * at(v, (shared * n + column) * d + i) / sum),
        );
      }
    }
  }
  const scale = { bytes: 4, value: 0x3e000000 } as const;
  check({
    text: ATTENTION,
    grid: [2, h, 1],
    args: {
      ...{ Q: halves(q), K: halves(k), V: halves(v), B: halves(added) },
      ...{ H: h, HK: hk, M: m, N: n, scale },
    },
    ...{ out: "O", wanted, bound: 2e-3, hasForms: true },
  });
});

test("a product of float8 whose steps have scales has forms", () => {
  const [m, n, k] = [80, 112, 144];
  const steps = Math.ceil(k / 64);
  const eighths = (count: number): number[] =>
    Array.from({ length: count }, () => (random.below(17) - 8) / 8);
  const [a, b, sa, sb] = [eighths(m * k), eighths(n * k), numbers(m * steps), numbers(n * steps)];
  const wanted = Array.from({ length: m * n }, (_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    return sumOf(k, (i) => {
      const step = Math.floor(i / 64);
      return at(a, row * k + i) * at(b, column * k + i) * at(sa, row * steps + step) *
        at(sb, column * steps + step);
    });
  });
  check({
    text: SCALED,
    grid: [2, 2, 1],
    args: {
      ...{ A: encode("float8e4", a), B: encode("float8e4", b) },
      ...{ SA: encode("float32", sa), SB: encode("float32", sb), M: m, N: n, K: k },
    },
    ...{ out: "C", wanted, bound: 1e-4, hasForms: true },
  });
});

/** The second half of the results is counted from another matrix than the first, also backwards. */
const COUNTED_EXPERTS = EXPERTS.replace("int several)", "int several, int apart)")
  .replace("B + (long)*(Experts + pm)", "B + (long)part * apart + (long)*(Experts + part * 2 + pm)")
  .replace("(C + row", "(C + part * count * N + row")
  .replace("int pm =", "int part = get_program_id(2), pm =");

for (
  const [what, text, halvesOf] of [["matrices", EXPERTS, 1], [
    "matrices before a start",
    COUNTED_EXPERTS,
    2,
  ]] as const
) {
  test(`rows that a table names come by asynchronous copies, and ${what} as boxes`, () => {
    const [n, k, several, count] = [72, 136, 3, 100];
    const rows = Array.from({ length: 128 }, (_, i) => i * 37 % 128);
    const [a, b] = [numbers(Math.ceil(count / several) * k), numbers(2 * n * k)];
    const wanted = new Array<number>(count * n).fill(0);
    for (const [index, row] of rows.entries()) {
      if (row >= count) continue;
      const expert = 1 - Math.floor(index / 64);
      for (let column = 0; column < n; column++) {
        wanted[row * n + column] = sumOf(
          k,
          (i) => at(a, Math.floor(row / several) * k + i) * at(b, (expert * n + column) * k + i),
        );
      }
    }
    check({
      text,
      grid: [2, 2, halvesOf],
      args: {
        ...{ A: halves(a), B: halves(b), Rows: encode("int32", rows.map(BigInt)) },
        ...{ Experts: encode("int32", [1n, 0n, 0n, -1n]), N: n, K: k, count, several },
        ...(halvesOf === 1 ? {} : { apart: n * k }),
      },
      out: "C",
      wanted: halvesOf === 1 ? wanted : [...wanted, ...wanted],
      ...{ bound: 1e-4, hasForms: false },
    });
    const aligned = must(planOf(text).split("experts_a16")[1], "aligned instance");
    assert(aligned.includes("of A by asynchronous copies: 4 x"), aligned);
    assert(aligned.includes("of B by tensor copies: 4 x"), aligned);
  });
}

test("pages that a table names in each iteration are boxes", () => {
  const text = `
__global__ void pages(half *A __noalias, half *B __noalias, float *C __noalias, int *Pages __noalias, int M, int N, int count) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[64] = get_program_id(1) * 64 + 0 ... 64, rk[64] = 0 ... 64;
  float sum[64, 64] = 0;
  for (int i = 0; i < count; i += 1) {
    int page = *(Pages + i);
    half a[64, 64] = *?(rm[:, newaxis] < M) (A + rm[:, newaxis] * count * 64 + i * 64 + rk[newaxis, :]);
    half b[64, 64] = *?(rn[newaxis, :] < N) (B + (long)page * 64 * N + rk[:, newaxis] * N + rn[newaxis, :]);
    sum += dot(a, b);
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;
  const [m, n, pages] = [72, 80, [3, 0, 2, 5, 1]];
  const k = 64 * pages.length;
  const [a, b] = [numbers(m * k), numbers(6 * 64 * n)];
  const wanted = Array.from({ length: m * n }, (_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    return sumOf(
      k,
      (i) => at(a, row * k + i) * at(b, (at(pages, Math.floor(i / 64)) * 64 + i % 64) * n + column),
    );
  });
  check({
    text,
    grid: [2, 2, 1],
    args: {
      ...{ A: halves(a), B: halves(b), Pages: encode("int32", pages.map(BigInt)) },
      ...{ M: m, N: n, count: pages.length },
    },
    ...{ out: "C", wanted, bound: 1e-4, hasForms: false },
  });
  assert(planOf(text).includes("of B by tensor copies"), planOf(text));
});

test("matrices that a table names are no boxes where their index may wrap", () => {
  const narrow = planOf(EXPERTS.replace("(long)*(Experts", "*(Experts"));
  assert(!narrow.includes("of B by tensor copies"), narrow);
  const wide = planOf(EXPERTS.replace("int *Experts", "long *Experts"));
  assert(!wide.includes("of B by tensor copies"), wide);
});

test("a loop whose results a dot behind it takes has forms", () => {
  const [t, d] = [104, 128];
  const [q, k, v, h] = [numbers(t * d), numbers(t * d), numbers(t * 64), numbers(d * 64)];
  const wanted = Array.from({ length: t * 64 }, (_, index) => {
    const [row, column] = [Math.floor(index / 64), index % 64];
    const first = row - row % 64;
    const carried = sumOf(d, (i) => at(q, row * d + i) * at(h, i * 64 + column));
    return carried + sumOf(row - first + 1, (i) => {
      const score = sumOf(d, (j) => at(q, row * d + j) * at(k, (first + i) * d + j));
      return Number(new Float16Array([score])[0]) * at(v, (first + i) * 64 + column);
    });
  });
  check({
    text: CHUNK,
    grid: [2, 1, 1],
    args: { Q: halves(q), K: halves(k), V: halves(v), H: halves(h), T: t },
    ...{ out: "O", wanted, bound: 4e-3, hasForms: true },
  });
});

const LIMITS = {
  "are 0 above the last one": "#define LIMIT(r, end) (r < end ? r : 0)",
  "are no more than the last one": "#define LIMIT(r, end) min(r, end - 1)",
  "wrap around": "#define LIMIT(r, end) (r % end)",
};
for (const [how, macro] of Object.entries(LIMITS)) {
  for (const inTurn of [0, 1]) {
    test(`rows that ${how} are those of boxes${inTurn === 0 ? "" : ", also of tiles in turn"}`, () => {
      const [m, n, k] = [600, 72, 72];
      const [a, b] = [numbers(m * k), numbers(n * k)];
      const wanted = Array.from({ length: m * n }, (_, index) => {
        const [row, column] = [Math.floor(index / n), index % n];
        return sumOf(k, (i) => at(a, row * k + i) * at(b, column * k + i));
      });
      const tiles = Math.ceil(m / 64) * Math.ceil(n / 64);
      check({
        text: `#define IN_TURN ${inTurn}\n${macro}\n${INSIDE}`,
        grid: [inTurn === 0 ? tiles : 5, 1, 1],
        args: { A: halves(a), B: halves(b), M: m, N: n, K: k },
        ...{ out: "C", wanted, bound: 1e-4, hasForms: true },
      });
    });
  }
}

test("rows that are others where they would be too large, and are stored, are no boxes", () => {
  const text = `#define IN_TURN 0\n${LIMITS["are no more than the last one"]}\n${
    INSIDE.replace("*?(cm[:, newaxis] < M && cn[newaxis, :] < N)", "*?(cn[newaxis, :] < N)")
  }`;
  const plan = inspect({ name: "k.tc", text }, { targets: ["sm_90a"] }, "plan");
  assert(!plan.includes("of A by tensor copies"), plan);
});

test("a tile of indices that a loop moves gives masks to both operands", () => {
  const [m, n, k, first] = [72, 80, 168, 24];
  const [a, b] = [numbers(k * m), numbers(k * n)];
  const wanted = Array.from({ length: m * n }, (_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    return sumOf(k - first, (i) => at(a, (first + i) * m + row) * at(b, (first + i) * n + column));
  });
  check({
    text: STEPPED,
    grid: [2, 2, 1],
    args: { A: halves(a), B: halves(b), M: m, N: n, K: k, first },
    ...{ out: "C", wanted, bound: 1e-4, hasForms: false },
  });
  const plan = inspect({ name: "k.tc", text: STEPPED }, { targets: ["sm_90a"] }, "plan");
  assert(must(plan.split("stepped_a16")[1], "instance").includes("copies: 4 x"), plan);
});

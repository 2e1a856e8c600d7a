/**
 * Products as they are written without a thought of copies, on the emulator: in no loop, with grids of several axes, with a
 * step that is the grid's, with batches along the first axis. Forms with tensor copies are compared with double precision.
 */
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import {
  type Arguments,
  type Compiled,
  compileForms,
  type Launch,
  meets,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

const PARAMS = "half *A __noalias, half *B __noalias, float *C __noalias, int M, int N, int K";

/** Rows and columns. */
type Tile = readonly [number, number];

/** Programs are along three axes, or along the first one. */
const loopText = (axes: "three" | "first", [rows, columns]: Tile, warps: number): string => `
#pragma tri config; num_warps=${warps}
#define TM ${rows}
#define TN ${columns}
__global__ void k(${PARAMS}) {
${
  axes === "three"
    ? `
  int i = get_program_id(0);
  int j = get_program_id(1);
  int z = get_program_id(2);`
    : `
  int down = (M + TM - 1) / TM;
  int across = (N + TN - 1) / TN;
  int z = get_program_id(0) / (down * across);
  int i = get_program_id(0) % (down * across) / across;
  int j = get_program_id(0) % across;`
}
  int rm[TM] = i * TM + 0 ... TM;
  int rn[TN] = j * TN + 0 ... TN;
  int rk[64] = 0 ... 64;
  float sum[TM, TN] = 0;
  for (int k = 0; k < K; k += 64) {
    half a[TM, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (A + z * (M * K) + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half b[64, TN] = *?(k + rk[:, newaxis] < K && rn[newaxis, :] < N) (B + z * (K * N) + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    sum += a @ b;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + z * (M * N) + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

/** Parts of K take turns with its steps; so many parts as the grid has along the third axis. */
const PARTS = `
#pragma tri config; num_warps=4
__global__ void k(${PARAMS}) {
  int parts = get_num_programs(2);
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[32] = get_program_id(2) * 32 + 0 ... 32;
  half *pa[64, 32] = A + rm[:, newaxis] * K + rk[newaxis, :];
  half *pb[32, 64] = B + rk[:, newaxis] * N + rn[newaxis, :];
  float sum[64, 64] = 0;
  for (int k = get_program_id(2) * 32; k < K; k += 32 * parts) {
    sum += *?(rm[:, newaxis] < M && rk[newaxis, :] < K) pa @ *?(rk[:, newaxis] < K && rn[newaxis, :] < N) pb;
    pa += 32 * parts;
    pb += 32 * parts * N;
    rk += 32 * parts;
  }
  atomic_add(C + rm[:, newaxis] * N + rn[newaxis, :], sum, rm[:, newaxis] < M && rn[newaxis, :] < N);
}
`;

/** Loops whose test comes last: of what is left of K, of where the next step begins, or of an element of a table. */
const lastText = (test: "left" | "next" | "table"): string => `
#pragma tri config; num_warps=4
__global__ void k(${PARAMS}, int *Last __noalias __readonly) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[32] = 0 ... 32;
  float sum[64, 64] = 0;
  int k = ${test === "left" ? "K" : "0"};
  do {
    int at[32] = ${test === "left" ? "K - k" : "k"} + rk;
    half a[64, 32] = *?(rm[:, newaxis] < M && at[newaxis, :] < K) (A + rm[:, newaxis] * K + at[newaxis, :]);
    half b[32, 64] = *?(at[:, newaxis] < K && rn[newaxis, :] < N) (B + at[:, newaxis] * N + rn[newaxis, :]);
    sum += a @ b;
    k ${test === "left" ? "-" : "+"}= 32;
  } while (${test === "left" ? "k > 0" : test === "next" ? "k < K" : "k < *Last"});
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum + ${
  test === "left" ? "k" : "0"
};
}
`;

/** Sums that do not go on to the next iteration: those of groups of 64 along K are scaled, by a number for each column. */
const groupsText = (rows: number, warps: number): string => `
#pragma tri config; num_warps=${warps}
#define T ${rows}
__global__ void k(${PARAMS}, float *Scale __noalias) {
  int rm[T] = get_program_id(0) * T + 0 ... T;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[64] = 0 ... 64;
  float sum[T, 64] = 0;
  for (int k = 0; k < K; k += 64) {
    half a[T, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (A + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half b[64, 64] = *?(k + rk[:, newaxis] < K && rn[newaxis, :] < N) (B + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    float scale[64] = *?(rn < N) (Scale + k / 64 * N + rn);
    sum += (a @ b) * scale[newaxis, :];
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

/** The largest product of each row of A and all rows of B. */
const LARGEST = `
#pragma tri config; num_warps=4
__global__ void k(half *A __noalias, half *B __noalias, float *C __noalias, int M, int N) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128;
  int rn[64] = 0 ... 64;
  int rk[64] = 0 ... 64;
  half a[128, 64] = *?(rm[:, newaxis] < M) (A + rm[:, newaxis] * 64 + rk[newaxis, :]);
  float most[128] = -1e30;
  for (int j = 0; j < N; j += 64) {
    half b[64, 64] = *?(j + rn[:, newaxis] < N) (B + (j + rn[:, newaxis]) * 64 + rk[newaxis, :]);
    float s[128, 64] = a @ ^b;
    s = j + rn[newaxis, :] < N ? s : -1e30;
    most = max(most, s[:, max]);
  }
  *?(rm < M) (C + rm) = most;
}
`;

/** All of K at once; B by columns where \`isTurned\`. */
const onceText = (depth: number, isTurned: boolean): string => `
#pragma tri config; num_warps=4
#define D ${depth}
__global__ void k(${PARAMS}) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128;
  int rn[128] = get_program_id(1) * 128 + 0 ... 128;
  int rk[D] = 0 ... D;
  long z = get_program_id(2);
  half a[128, D] = *?(rm[:, newaxis] < M && rk[newaxis, :] < K) (A + z * M * K + rm[:, newaxis] * K + rk[newaxis, :]);
${
  isTurned
    ? "  half b[128, D] = *?(rn[:, newaxis] < N && rk[newaxis, :] < K) (B + z * N * K + rn[:, newaxis] * K + rk[newaxis, :]);"
    : "  half b[D, 128] = *?(rk[:, newaxis] < K && rn[newaxis, :] < N) (B + z * N * K + rk[:, newaxis] * N + rn[newaxis, :]);"
}
  float sum[128, 128] = 2 * (a @ ${isTurned ? "^b" : "b"}) + 1;
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + z * M * N + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

interface Size {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly z: number;
}

interface Way {
  readonly grid: (size: Size) => readonly [number, number, number];
  readonly isTurned?: boolean;
  /** What the program makes of a sum. */
  readonly result?: (sum: number) => number;
  /** What the result is before. */
  readonly before?: number;
  /** Further arguments. */
  readonly more?: Arguments;
}

const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(64) - 32) / 32);

/** Runs the entry and its form, and compares each with sums that are exact. */
function check(compiled: Compiled, size: Size, way: Way): void {
  const { m, n, k, z } = size;
  const { isTurned = false, result = (sum: number): number => sum, before = 77 } = way;
  const [a, b] = [numbers(z * m * k), numbers(z * k * n)];
  const expected = Array.from({ length: z * m * n }, (_, at) => {
    const [batch, row, column] = [Math.floor(at / (m * n)), Math.floor(at / n) % m, at % n];
    let sum = 0;
    for (let i = 0; i < k; i++) {
      const right = isTurned ? column * k + i : i * n + column;
      sum += must(a[(batch * m + row) * k + i], "a") * must(b[batch * k * n + right], "b");
    }
    return result(sum);
  });
  const [entry] = compiled.entries;
  const form = must(must(entry, "entry").forms?.[0], "form");
  for (const code of [must(entry, "entry"), form]) {
    const args: Arguments = {
      A: encode("float16", a),
      B: encode("float16", b),
      C: encode("float32", new Array<number>(expected.length).fill(before)),
      ...{ M: m, N: n, K: k },
      ...way.more,
    };
    const launch = { grid: way.grid(size), args };
    assert(meets(must(entry, "entry").conditions, launch));
    if (code === form) {
      assert(serves(form, launch), `the form does not serve ${JSON.stringify(size)}`);
    }
    runEntry(compiled, code, launch);
    assertEquals(decode("float32", args.C as Uint8Array).map(Number), expected, code.symbol);
  }
}

const tiles = (size: Size, [rows, columns]: Tile): readonly [number, number] => [
  Math.ceil(size.m / rows),
  Math.ceil(size.n / columns),
];

const LARGE: Tile = [128, 128];

const BATCHES: readonly Size[] = [
  { m: 129, n: 136, k: 72, z: 2 },
  { m: 64, n: 8, k: 8, z: 5 },
  { m: 1, n: 264, k: 40, z: 3 },
];

for (const [rows, columns, warps] of [[128, 128, 4], [64, 64, 4], [128, 256, 8]] as const) {
  Deno.test(`blocks do programs along three axes, ${rows} x ${columns} in ${warps} warps`, () => {
    const tile: Tile = [rows, columns];
    const compiled = compileForms(loopText("three", tile, warps), {});
    for (const size of BATCHES) {
      check(compiled, size, { grid: (one) => [...tiles(one, tile), one.z] });
    }
  });
}

Deno.test("blocks of two warp groups do programs of all axes in turn", () => {
  const [entry] = compileForms(loopText("three", LARGE, 4), {}).entries;
  const form = must(entry?.forms?.[0], "form");
  assertEquals([form.persistent, form.threads], ["all", 12 * 32]);
});

Deno.test("tensor-views finds batches that the first axis of the grid counts", () => {
  const compiled = compileForms(loopText("first", LARGE, 4), {});
  for (const size of BATCHES) {
    const grid = (one: Size): readonly [number, number, number] => {
      const [down, across] = tiles(one, LARGE);
      return [down * across * one.z, 1, 1];
    };
    check(compiled, size, { grid });
  }
  // Numbers of batches are as many as the grid says: 64 of them are not too far apart for an int.
  const form = must(compiled.entries[0]?.forms?.[0], "form");
  const args = { M: 512, N: 512, K: 512, ...{ A: 256, B: 256, C: 256 } };
  assert(meets(form.when, { grid: [64 * 16, 1, 1], args }));
  assert(!meets(form.when, { grid: [2 ** 14 * 16, 1, 1], args }));
});

Deno.test("tensor-views bounds coordinates that grow by as many steps as there are programs", () => {
  const compiled = compileForms(PARTS, {});
  assertStringIncludes(compiled.ptx, "cp.async.bulk.tensor");
  for (const [k, parts] of [[8, 1], [72, 3], [256, 2], [40, 5]] as const) {
    check(compiled, { m: 65, n: 72, k, z: 1 }, {
      grid: (size) => [...tiles(size, [64, 64]), parts],
      before: 0,
    });
  }
});

for (const isTurned of [false, true]) {
  Deno.test(`tensor-views gives products that are in no loop one, B by ${isTurned ? "columns" : "rows"}`, () => {
    const compiled = compileForms(onceText(64, isTurned), {});
    assertStringIncludes(compiled.ptx, "cp.async.bulk.tensor");
    for (const k of [64, 8, 40]) {
      check(compiled, { m: 129, n: 136, k, z: 2 }, {
        grid: (size) => [...tiles(size, LARGE), size.z],
        isTurned,
        result: (sum) => 2 * sum + 1,
      });
    }
    check(compileForms(onceText(128, isTurned), {}), { m: 3, n: 16, k: 120, z: 1 }, {
      grid: (size) => [...tiles(size, LARGE), size.z],
      isTurned,
      result: (sum) => 2 * sum + 1,
    });
  });
}

/** Operands whose loads cannot be moved to a dot: they are stored before it, or another dot takes one of them too. */
const KEPT = {
  "stored before": "*at = 3; sum = a @ b;",
  "that a chain shares": "sum = a @ b; sum = (half[64, 64])sum @ b;",
} as const;

for (const [name, statements] of Object.entries(KEPT)) {
  Deno.test(`tensor-views leaves operands of dots in no loop where they are loaded: ${name}`, () => {
    const compiled = compileForms(
      `
#pragma tri config; num_warps=4
__global__ void k(half *A __noalias, half *B __noalias, float *C __noalias, int lda) {
  int r[64] = 0 ... 64;
  half *at[64, 64] = A + r[:, newaxis] * lda + r[newaxis, :];
  half a[64, 64] = *at;
  half b[64, 64] = *(B + r[:, newaxis] * lda + r[newaxis, :]);
  float sum[64, 64] = 0;
  ${statements}
  *(C + r[:, newaxis] * 64 + r[newaxis, :]) = sum;
}
`,
      {},
    );
    assertEquals(compiled.entries.flatMap(({ forms = [] }) => forms), []);
  });
}

for (const test of ["left", "next"] as const) {
  Deno.test(`tensor-views lets loops test first where their tests hold before, by what is ${test}`, () => {
    const compiled = compileForms(lastText(test), {});
    const grid = (size: Size): readonly [number, number, number] => [...tiles(size, [64, 64]), 1];
    for (const k of [8, 32, 72, 128]) {
      check(compiled, { m: 65, n: 72, k, z: 1 }, {
        grid,
        result: (sum) => test === "left" ? sum + k - Math.ceil(k / 32) * 32 : sum,
        more: { Last: new Uint8Array(4) },
      });
    }
    // One iteration is done even if there is nothing to add: that is left to the plain code.
    const form = must(compiled.entries[0]?.forms?.[0], "form");
    const args = { A: 256, B: 256, C: 256, Last: 256, M: 64, N: 64 };
    assert(meets(form.when, { grid: [1, 1, 1], args: { ...args, K: 8 } }));
    for (const K of [0, -8]) assert(!meets(form.when, { grid: [1, 1, 1], args: { ...args, K } }));
  });
}

Deno.test("tensor-views leaves loops alone whose last test no launch knows", () => {
  const { entries } = compileForms(lastText("table"), {});
  assertEquals(entries.flatMap(({ forms = [] }) => forms), []);
});

/** Runs an entry and its form with a result of so many numbers, and compares it. */
function checkBoth(
  compiled: Compiled,
  args: Arguments,
  grid: Launch["grid"],
  exact: readonly number[],
): void {
  const [entry] = compiled.entries;
  const form = must(must(entry, "entry").forms?.[0], "form");
  assert(serves(form, { grid, args }));
  for (const code of [must(entry, "entry"), form]) {
    const C = encode("float32", new Array<number>(exact.length).fill(77));
    runEntry(compiled, code, { grid, args: { ...args, C } });
    assertEquals(decode("float32", C).map(Number), exact, code.symbol);
  }
}

for (const [rows, warps] of [[128, 4], [64, 4], [128, 8]] as const) {
  Deno.test(`warp groups do dots whose sums stay in an iteration, ${rows} rows, ${warps} warps`, () => {
    const compiled = compileForms(groupsText(rows, warps), {});
    for (const [m, n, k] of [[129, 72, 136], [1, 8, 8], [64, 64, 320]] as const) {
      const [a, b, scale] = [numbers(m * k), numbers(k * n), numbers(Math.ceil(k / 64) * n)];
      const exact = Array.from({ length: m * n }, (_, at) => {
        let sum = 0;
        for (let i = 0; i < k; i++) {
          sum += must(a[Math.floor(at / n) * k + i], "a") * must(b[i * n + at % n], "b") *
            must(scale[Math.floor(i / 64) * n + at % n], "scale");
        }
        return sum;
      });
      const args: Arguments = {
        ...{ A: encode("float16", a), B: encode("float16", b), C: new Uint8Array(4) },
        ...{ Scale: encode("float32", scale), M: m, N: n, K: k },
      };
      checkBoth(compiled, args, [Math.ceil(m / rows), Math.ceil(n / 64), 1], exact);
    }
  });
}

Deno.test("warp groups do dots of a tile from outside of their loop, of which the largest element is kept", () => {
  const compiled = compileForms(LARGEST, {});
  for (const [m, n] of [[129, 130], [1, 1], [128, 320]] as const) {
    const [a, b] = [numbers(m * 64), numbers(n * 64)];
    const exact = Array.from(
      { length: m },
      (_, row) =>
        Math.max(...Array.from({ length: n }, (_, other) => {
          let sum = 0;
          for (let i = 0; i < 64; i++) {
            sum += must(a[row * 64 + i], "a") * must(b[other * 64 + i], "b");
          }
          return sum;
        })),
    );
    const args: Arguments = {
      ...{ A: encode("float16", a), B: encode("float16", b), C: new Uint8Array(4), M: m, N: n },
    };
    checkBoth(compiled, args, [Math.ceil(m / 128), 1, 1], exact);
  }
});

Deno.test("full steps in one loop and the rest in another are compiled where programs are digits of an index", () => {
  const text = (mask: string): string => `
    half a[128, 64] = *?(${mask}rm[:, newaxis] < M) (A + rm[:, newaxis] * lda + (k + rk)[newaxis, :]);
    half b[64, 256] = *?(${
    mask.replace("[newaxis, :]", "[:, newaxis]")
  }rn[newaxis, :] < N) (B + rn[newaxis, :] * ldb + (k + rk)[:, newaxis]);
    sum += a @ b;`;
  const { entries } = compileForms(
    `#pragma tri num_warps=4
__global__ void k(half *A, half *B, half *C, int M, int N, int K, int down, int lda, int ldb __multipleof(8), int kind) {
  int rm[128] = get_program_id(0) % down * 128 + 0 ... 128;
  int rn[256] = get_program_id(0) / down * 256 + 0 ... 256;
  int rk[64] = 0 ... 64;
  float sum[128, 256] = 0;
  int k = 0;
  for (; k + 64 <= K; k += 64) {${text("")}}
  for (; k < K; k += 64) {${text("(k + rk)[newaxis, :] < K && ")}}
  sum += kind == 1 ? 0.5f : kind > 1 ? sum : 0;
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}`,
    {},
  );
  const forms = entries.flatMap(({ forms = [] }) => forms);
  assert(forms.some(({ persistent }) => persistent === "x"), "no form whose blocks take turns");
});

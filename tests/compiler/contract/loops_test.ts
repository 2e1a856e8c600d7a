/** Contracts of kernels that go over tensors in loops. */
import { assert, assertEquals } from "../../support/assert.ts";
import { accessOf, contractOf, type Shown, touchedBy } from "./support/contract_of.ts";

const MATRIX = "float *X, float *Y, int M, int N, int ldx, int ldy";
const ROWS = `int row[4] = get_program_id(0) * 4 + 0 ... 4;
  int col[64] = 0 ... 64;
  float *px[4, 64] = X + row[:, newaxis] * ldx + col[newaxis, :];
  float *py[4, 64] = Y + row[:, newaxis] * ldy + col[newaxis, :];`;
const WHOLE: Shown = {
  grid: ["cdiv(M, 4)"],
  tensors: ["X[M, N] strides [ldx, 1]", "Y[M, N] strides [ldy, 1]"],
};

Deno.test("a loop over tiles of rows shows grid, extents and strides, whichever way it counts", () => {
  const loops = [
    `for (int k = 0; k < N; k += 64) {
      bool check[4, 64] = row[:, newaxis] < M && col[newaxis, :] < N - k;
      *?(check) (py + k) = *?(check) (px + k);
    }`,
    `for (int left = N; left > 0; left -= 64) {
      bool check[4, 64] = row[:, newaxis] < M && col[newaxis, :] < left;
      *?(check) (py + (N - left)) = *?(check) (px + (N - left));
    }`,
    `for (int k = 0; k < N; k += 64) {
      bool check[4, 64] = row[:, newaxis] < M && k + col[newaxis, :] < N;
      *?(check) py = *?(check) px;
      px += 64;
      py += 64;
    }`,
  ];
  for (const loop of loops) assertEquals(contractOf(MATRIX, `${ROWS}\n${loop}`), WHOLE, loop);
});

Deno.test("a loop that starts at a program's tile and strides over the others shows tensors, but no grid", () => {
  const body = `int part = get_program_id(0);
  for (int first = part * 64; first < N; first += P * 64) {
    int r[64] = first + 0 ... 64;
    *?(r < N) (Y + r) = *?(r < N) (X + r);
  }`;
  assertEquals(contractOf("float *X, float *Y, int N, int P", body), {
    grid: null,
    tensors: ["X[N] strides [1]", "Y[N] strides [1]"],
  });
});

Deno.test("a loop that strides over rows by an argument shows their distance", () => {
  const body = `int r[64] = 0 ... 64;
  for (int row = get_program_id(0); row < M; row += P)
    *?(r < N && row < M) (Y + (long)row * ldy + r) = *?(r < N && row < M) (X + (long)row * ldx + r);`;
  assertEquals(contractOf(`${MATRIX}, int P`, body), { grid: null, tensors: WHOLE.tensors });
});

Deno.test("a loop that starts at the second tile continues the tensor that the first one shows", () => {
  const rest = (mask: string): string =>
    `int r[64] = 0 ... 64;
  float sum[64] = *?(r < N) (X + r);
  for (int k = 64; k < N; k += 64) sum += *?(${mask}) (X + k + r);
  *(Y + get_program_id(0) * 64 + r) = sum;`;
  const parameters = "float *X, float *Y, int N";
  assertEquals(contractOf(parameters, rest("r < N - k")).tensors, ["X[N] strides [1]"]);
  assertEquals(contractOf(parameters, rest("r < N + 1 - k")).tensors, []);
});

Deno.test("a loop whose index no mask bounds shows no tensor", () => {
  const body = `float sum[64] = 0;
  int r[64] = 0 ... 64;
  for (int k = 0; k < N; k += 64) sum += *(X + k + r);
  *(Y + get_program_id(0) * 64 + r) = sum;`;
  const { tensors } = contractOf("float *X, float *Y, int N", body);
  assertEquals(tensors.filter((tensor) => tensor.startsWith("X")), []);
});

Deno.test("what a program computes of its id is no index of the launch's", () => {
  const body = `int row = get_program_id(0) / 3;
  int r[64] = 0 ... 64;
  for (int k = 0; k < N; k += 64) *?(r < N - k) (Y + row * ldy + k + r) = *?(r < N - k) (X + row * ldx + k + r);`;
  assertEquals(contractOf(MATRIX, body), { grid: null, tensors: [] });
});

Deno.test("pointers that a loop carries are not what it stores beside them", () => {
  const [moved, stored] = ["p = p + 1;", "*(Y + row * N + k) = *p;"];
  const loops = [
    `for (int k = 0; k < N; k++) { ${stored} ${moved} }`,
    `for (int k = 0; k < N; k++) { if (k > 3) { ${stored} } ${moved} }`,
    `float *q = Y + row * N;
    for (int k = 0; k < N; k++) { *q = *p; ${moved} q += 1; }`,
    // Each carries what the other one has carried: either may be both.
    `float *q = Y + row * N;
    for (int k = 0; k < N; k++) { *q = *p; float *last = p; p = q; q = last; }`,
  ];
  const access = loops.map((loop) =>
    accessOf(
      "float *X, float *Y, int M, int N",
      `int row = get_program_id(0);
    float *p = X + row * N;
    ${loop}`,
    )
  );
  const apart = { X: "in", Y: "out" };
  assertEquals(access, [apart, apart, apart, { X: "inout", Y: "inout" }]);
});

Deno.test("masks that are joined by & say what those by && do", () => {
  for (const both of ["&&", "&"]) {
    const check = `bool check[4, 64] = (row[:, newaxis] < M) ${both} (col[newaxis, :] < N);`;
    const body = `${ROWS}\ncol += get_program_id(1) * 64;
      px += get_program_id(1) * 64;
      py += get_program_id(1) * 64;
      ${check}
      *?(check) py = *?(check) px;`;
    assertEquals(contractOf(MATRIX, body), { ...WHOLE, grid: ["cdiv(M, 4)", "cdiv(N, 64)"] }, both);
  }
});

Deno.test("rows without columns are not touched, however far apart they are", () => {
  const body = `int row = get_program_id(0);
    int col[64] = 0 ... 64;
    *?(col < N) (Y + row * ldy + col) = *?(col >= 2 && col < N) (X + row * ldx + col);`;
  const touched = (N: number): ReturnType<typeof touchedBy> =>
    touchedBy(MATRIX, body, { programs: 3, M: 3, N, ldx: 5, ldy: 1 });
  assertEquals(touched(4), { X: [2, 13], Y: [0, 5] });
  assertEquals(touched(100), { X: [2, 73], Y: [0, 65] });
  for (const [first, last] of Object.values(touched(0))) {
    assert(last < first, `${first} to ${last}`);
  }
  for (const [first, last] of Object.values(touched(-7))) {
    assert(last < first, `${first} to ${last}`);
  }
});

/** Contracts of kernels whose programs do one row or block each: what the grid says about tensors, and loads about the grid. */
import { assertEquals } from "../../support/assert.ts";
import { contractOf, requiresOf, touchedBy } from "./support/contract_of.ts";

const ROW = `long row = get_program_id(0);
  int col[64] = 0 ... 64;`;

Deno.test("a program id that no mask bounds is an index as far as the grid that is stated", () => {
  const body = `${ROW}
  float x[64] = *?(col < N) (X + row * ldx + col);
  *(Sums + row) = x[+];`;
  const parameters = "float *X, float *Sums, int M, int N, int ldx";
  const known = contractOf(parameters, body, "#pragma tri grid(M)");
  assertEquals(known.tensors, ["X[M, N] strides [ldx, 1]", "Sums[M] strides [1]"]);
  const computed = contractOf(parameters, body, "#pragma tri grid(max(M, 1))");
  assertEquals(computed.tensors[1], "Sums[max(M, 1)] strides [1]");
  assertEquals(contractOf(parameters, body).tensors, []);
});

Deno.test("an extent that is computed is one where the next index begins there, and nowhere else", () => {
  const store = (stride: string): string =>
    `${ROW}
  *?(col < cdiv(N, 128)) (Y + row * ${stride} + col) = 1;`;
  const dense = contractOf(
    "float *Y, int M, int N",
    store("cdiv(N, 128)"),
    "#pragma tri grid(M)",
  );
  assertEquals(dense.tensors, ["Y[M, cdiv(N, 128)] strides [cdiv(N, 128), 1]"]);
  const apart = contractOf("float *Y, int M, int N", store("N"), "#pragma tri grid(M)");
  assertEquals(apart.tensors, []);
});

Deno.test("masks of loads show the grid where those of stores and atomics say nothing of it", () => {
  const sum = (into: string): string =>
    `int i[64] = get_program_id(0) * 64 + 0 ... 64;
  float x[64] = *?(i < N) (X + i);
  ${into};`;
  const parameters = "float *X, float *Y, int N, int P";
  for (const into of ["*(Y + get_program_id(0)) = x[+]", "atomic_add(Y, x[+])"]) {
    assertEquals(contractOf(parameters, sum(into)).grid, ["cdiv(N, 64)"], into);
    assertEquals(contractOf(parameters, sum(into), "#pragma tri grid(P)").grid, ["P"], into);
  }
  assertEquals(contractOf(parameters, sum("*?(i < P) (Y + i) = x")).grid, ["cdiv(P, 64)"]);
  assertEquals(contractOf(parameters, sum("atomic_add(Y + i, x, i < P)")).grid, ["cdiv(P, 64)"]);
});

Deno.test("elements that nothing bounds are not touched for certain where a mask says what is not known of the launch", () => {
  const touched = (mask: string): unknown =>
    touchedBy(
      "float *X, float *Y, int *F, int *L, int N, int f",
      `int col[64] = 0 ... 64;
  *?(${mask}) (Y + col) = *?(${mask}) (X + col);`,
      { N: 40, f: 1, programs: 1 },
    );
  const flags = { F: [0, 63] };
  const length = { L: [0, 0] };
  const row = { X: [0, 39], Y: [0, 39] };
  assertEquals(touched("*(F + col) != 0"), flags);
  assertEquals(touched("col < *L"), length);
  assertEquals(touched("(col < N) & f"), {});
  assertEquals(touched("(float)col < N"), {});
  assertEquals(touched("f > 0"), {});
  assertEquals(touched("*(F + col) != 0 && col < N"), { ...row, ...flags });
  assertEquals(touched("col < *L && col < N"), { ...row, ...length });
});

Deno.test("elements before the first one are not touched for certain where half of a mask is known", () => {
  const touched = (shift: number): unknown =>
    touchedBy(
      "float *X, int *L, int N",
      `int col[64] = 0 ... 64;
  *?(col >= *L && col < N) (X + (col + (${shift}))) = 1;`,
      { N: 40, programs: 1 },
    );
  assertEquals(touched(8), { L: [0, 0], X: [8, 47] });
  assertEquals(touched(-8), { L: [0, 0] });
});

Deno.test("rows that programs step over begin with the first one that a mask lets through", () => {
  const touched = (pad: number): unknown =>
    touchedBy(
      "float *X, int N, int pad",
      `int row = get_program_id(0) * 2 - pad;
  int col[16] = 0 ... 16;
  *?(row >= 0 && col < N) (X + row * N + col) = 1;`,
      { N: 10, pad, programs: 4 },
    );
  assertEquals(touched(1), { X: [10, 59] });
  assertEquals(touched(2), { X: [0, 49] });
  assertEquals(touched(-3), { X: [30, 99] });
  const known = touchedBy(
    "float *X, int N",
    `int row = get_program_id(0) * 2 - 1;
  int col[16] = 0 ... 16;
  *?(row >= 0 && col < N) (X + row * N + col) = 1;`,
    { N: 10, programs: 4 },
  );
  assertEquals(known, { X: [10, 59] });
});

Deno.test("indices that are compared as numbers without sign may be negative: no launch is refused for it", () => {
  const body = (row: string): string =>
    `int row = ${row};
  int col[16] = 0 ... 16;
  *?(col < C && (unsigned)row < (unsigned)N) (X + row * C + col) = 1;`;
  const parameters = "float *X, int N, int C, int pad";
  for (const row of ["get_program_id(0) - 1", "get_program_id(0) * 2 - pad"]) {
    const requires = requiresOf(parameters, body(row));
    assertEquals(requires.filter((text) => /^0( |$)/.test(text)), [], row);
  }
});

/** Contracts of kernels whose programs do one row or block each: what the grid says about tensors, and loads about the grid. */
import { assertEquals } from "../../support/assert.ts";
import { contractOf } from "./support/contract_of.ts";

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

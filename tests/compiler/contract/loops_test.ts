/** Contracts of kernels that go over tensors in loops. */
import { must } from "../../../compiler/support/bug.ts";
import { printExpr } from "../../../compiler/contract/expr.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";

interface Shown {
  readonly grid: readonly string[] | null;
  readonly tensors: readonly string[];
}

function contractOf(parameters: string, body: string): Shown {
  const text = `__global__ void k(${parameters}) {\n${body}\n}`;
  const { kernels: [kernel], diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_80"],
  });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  const { grid, tensors } = must(kernel?.instances[0], "an instance").contract;
  const list = (exprs: readonly Parameters<typeof printExpr>[0][]): string =>
    exprs.map((expr) => printExpr(expr)).join(", ");
  return {
    grid: grid && grid.map((expr) => printExpr(expr)),
    tensors: tensors.map(({ param, extents, strides }) =>
      `${param}[${list(extents)}] strides [${list(strides)}]`
    ),
  };
}

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

Deno.test("a loop that starts at a program's tile and strides over the others shows no tensor", () => {
  const body = `int part = get_program_id(0);
  for (int first = part * 64; first < N; first += P * 64) {
    int r[64] = first + 0 ... 64;
    *?(r < N) (Y + r) = *?(r < N) (X + r);
  }`;
  assertEquals(contractOf("float *X, float *Y, int N, int P", body), { grid: null, tensors: [] });
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

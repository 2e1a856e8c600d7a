/** Integers that automatic specialisations demand multiples of: no others than decide whether wide accesses are possible. */
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { stridedText } from "../../support/compiler/strided_texts.ts";

/** The integers of the aligned instance of a kernel of floats. */
function demandsOf(text: string): readonly string[] {
  const { kernels: [kernel], diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_80"],
    checkOnly: true,
  });
  assertEquals(diagnostics, []);
  const aligned = must(kernel?.instances.find(({ symbol }) => symbol.endsWith("_a16")), "instance");
  return aligned.specialization.flatMap(({ text }) => /^(\w+) % 4 == 0$/.exec(text)?.[1] ?? []);
}

const ROWS = `int m[16] = get_program_id(0) * 16 + 0 ... 16, n[64] = 0 ... 64;`;

Deno.test("of a part of an address its factors are demanded, not what the others depend on", () => {
  // Heads of a batch: where rows begin is decided by the strides.
  assertEquals(
    demandsOf(`
__global__ void k(float *X, float *Y, int heads, int rows, int sz, int sh, int sm) {
  ${ROWS}
  int z = get_program_id(1) / heads, h = get_program_id(1) % heads;
  long at = (long)z * sz + h * sh;
  *?(m[:, newaxis] < rows) (Y + at + m[:, newaxis] * sm + n[newaxis, :]) =
    *?(m[:, newaxis] < rows) (X + at + m[:, newaxis] * sm + n[newaxis, :]);
}`),
    ["sz", "sh", "sm"],
  );
  // Here it is a part by itself.
  assertEquals(
    demandsOf(`
__global__ void k(float *X, float *Y, int heads, int sm) {
  ${ROWS}
  int at = get_program_id(1) / heads;
  *(Y + at + m[:, newaxis] * sm + n[newaxis, :]) = *(X + at + m[:, newaxis] * sm + n[newaxis, :]);
}`),
    ["heads", "sm"],
  );
});

Deno.test("of rows that a table names the stride is demanded, not what they are divided by", () => {
  assertEquals(
    demandsOf(`
__global__ void k(float *X, float *Y, int *Rows, int several, int ldx) {
  ${ROWS}
  int row[16] = *(Rows + m);
  float *p[16, 64] = X + (row / several)[:, newaxis] * ldx + n[newaxis, :];
  float sum[16, 64] = 0;
  for (int i = 0; i < 4; i += 1) {
    sum += *p;
    p += 64;
  }
  *(Y + m[:, newaxis] * 64 + n[newaxis, :]) = sum;
}`),
    ["ldx"],
  );
});

Deno.test("how often a loop runs decides no address that it moves by a stride", () => {
  assertEquals(
    demandsOf(`
__global__ void k(float *X, float *Y, int rows, int columns, int ldx) {
  ${ROWS}
  float *p[16, 64] = X + m[:, newaxis] * ldx + n[newaxis, :];
  float sum[16, 64] = 0;
  for (int i = 0; i < rows; i += 16) {
    sum += *?(m[:, newaxis] < rows - i && n[newaxis, :] < columns) p;
    p += 16 * ldx;
  }
  *?(n[newaxis, :] < columns) (Y + m[:, newaxis] * ldx + n[newaxis, :]) = sum;
}`),
    ["columns", "ldx"],
  );
});

Deno.test("programs that find their tile themselves demand extents along contiguous axes alone", () => {
  const { text } = stridedText("grouped");
  assertEquals(demandsOf(text.replaceAll("half", "float").replaceAll(/ % [MN],/g, ",")), [
    ...["N", "K", "sam", "sbk", "scm"],
  ]);
});

Deno.test("the number of rows that a list names is not demanded", () => {
  assertEquals(
    demandsOf(`
__global__ void k(float *X, int *List, float *Y, int rows, int columns, int ldx, int ldy) {
  ${ROWS}
  int at[16] = *?(m < rows) (List + m);
  bool inside[16, 64] = m[:, newaxis] < rows && n[newaxis, :] < columns;
  *?(inside) (Y + m[:, newaxis] * ldy + n[newaxis, :]) = *?(inside) (X + at[:, newaxis] * ldx + n[newaxis, :]);
}`),
    ["columns", "ldx", "ldy"],
  );
});

Deno.test("masks along contiguous axes are demanded, also where they compare what a list names", () => {
  assertEquals(
    demandsOf(`
__global__ void k(float *X, int *List, float *Y, int rows, int columns, int ldx) {
  ${ROWS}
  int at[64] = *(List + n);
  bool inside[16, 64] = m[:, newaxis] < rows && at[newaxis, :] < columns;
  *?(inside) (Y + m[:, newaxis] * ldx + n[newaxis, :]) = *?(inside) (X + m[:, newaxis] * ldx + n[newaxis, :]);
}`),
    ["rows", "columns", "ldx"],
  );
});

Deno.test("of several factors one is enough, where it is demanded anyway", () => {
  // Channels last: rows, columns and filters lie at multiples of the channels.
  assertEquals(
    demandsOf(`
__global__ void k(float *X, float *F, float *Y, int H, int W, int C, int K, int P, int Q, int R, int S, int stride, int pad) {
  int m[64] = get_program_id(0) * 64 + 0 ... 64, n[32] = get_program_id(1) * 32 + 0 ... 32;
  int i[64] = m / (P * Q), p[64] = m % (P * Q) / Q, q[64] = m % (P * Q) % Q;
  float sum[64, 32] = 0;
  for (int r = 0; r < R; r += 1)
    for (int s = 0; s < S; s += 1)
      for (int c0 = 0; c0 < C; c0 += 16) {
        int c[16] = c0 + 0 ... 16;
        int h[64] = p * stride + r - pad, w[64] = q * stride + s - pad;
        bool isInside[64] = h >= 0 && h < H && w >= 0 && w < W;
        float x[64, 16] = *?(isInside[:, newaxis] && (c < C)[newaxis, :])
          (X + ((i * H + h) * W + w)[:, newaxis] * C + c[newaxis, :]);
        sum += x @ *?((c < C)[:, newaxis] && (n < K)[newaxis, :])
          (F + ((r * S + s) * C + c)[:, newaxis] * K + n[newaxis, :]);
      }
  *?((n < K)[newaxis, :]) (Y + m[:, newaxis] * K + n[newaxis, :]) = sum;
}`),
    ["C", "K"],
  );
  // Halves of a head: heads lie at multiples of them.
  assertEquals(
    demandsOf(`
__global__ void k(float *X, float *Y, int heads, int dim) {
  ${ROWS}
  *?((n < dim)[newaxis, :]) (Y + m[:, newaxis] * dim + n[newaxis, :]) =
    *?((n < dim)[newaxis, :])
      (X + m[:, newaxis] * (heads * 2 * dim) + get_program_id(1) * 2 * dim + dim + n[newaxis, :]);
}`),
    ["dim"],
  );
});

/** Copies for later iterations are as wide as the loads of the loop. */
import { compileFile } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";

/** Rows of A repeat after C elements: indices that are divided are equal along runs only if they are not negative. */
const TEXT = `
#pragma tri config; num_warps=4
__global__ void k(half *A __noalias __aligned(16), half *B __noalias __aligned(16), float *Y __noalias,
                  int C __multipleof(8), int K __multipleof(8), int N __multipleof(8)) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[32] = 0 ... 32;
  float sum[64, 64] = 0;
  for (int k = 0; k < K; k += 32) {
    int at[32] = k + rk;
    half a[64, 32] = *?(at[newaxis, :] < K) (A + (rm[:, newaxis] + (at / C)[newaxis, :]) * C + (at % C)[newaxis, :]);
    half b[32, 64] = *?(at[:, newaxis] < K && rn[newaxis, :] < N) (B + at[:, newaxis] * N + rn[newaxis, :]);
    sum += a @ b;
  }
  *?(rn[newaxis, :] < N) (Y + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

for (const target of ["sm_80", "sm_90a"] as const) {
  Deno.test(`copies of divided indices ahead of a loop are vectors, for ${target}`, () => {
    const { kernels } = compileFile({ name: "k.tc", text: TEXT }, {
      targets: [target],
      verify: true,
    });
    const { ptx } = must(kernels[0]?.modules[0], "module");
    const sizes = [...ptx.matchAll(/cp\.async\.c[ag]\.shared\.global \S+, \S+, (\d+)/g)]
      .map(([, size]) => Number(size));
    assertEquals([...new Set(sizes)], [16]);
  });
}

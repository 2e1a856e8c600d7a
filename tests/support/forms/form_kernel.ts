/**
 * A kernel with a form that takes tensor maps: a product of up to 64 rows, by one program. The entry is compiled from
 * source; the form is the hand-written product of the corpus, with the entry's parameters before its maps.
 */
import { compileFile } from "../compile.ts";
import type { CompiledKernel, EntryForm } from "../../../compiler/options.ts";
import type { ContractExpr } from "../../../compiler/contract/types.ts";
import type { ParameterInfo } from "../../../ffi/driver.ts";
import { must } from "../../../compiler/support/bug.ts";
import { HOPPER_PRODUCT } from "../../corpus/hopper_product.ts";

const SOURCE = `
#pragma tri grid(1)
#pragma tri tensor A : in half[M, K] strides [lda, 1]
#pragma tri tensor B : in half[K, N] strides [ldb, 1]
#pragma tri tensor C : out half[M, N] strides [ldc, 1]
#pragma tri require(M <= 64)

#define TILE 64

// Multiplies up to 64 rows with a matrix.
__global__ void rows_product(half *A, half *B, half *C, int M, int N, int K, int lda, int ldb, int ldc) {
  int rm[TILE] = 0 ... TILE;
  for (int n = 0; n < N; n += TILE) {
    int rn[TILE] = n + 0 ... TILE;
    float sum[TILE, TILE] = 0;
    for (int k = 0; k < K; k += TILE) {
      int rk[TILE] = k + 0 ... TILE;
      half a[TILE, TILE] = *?(rm[:, newaxis] < M && rk[newaxis, :] < K) (A + rm[:, newaxis] * lda + rk[newaxis, :]);
      half b[TILE, TILE] = *?(rk[:, newaxis] < K && rn[newaxis, :] < N) (B + rk[:, newaxis] * ldb + rn[newaxis, :]);
      sum += a @ b;
    }
    *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * ldc + rn[newaxis, :]) = sum;
  }
}
`;

const ENTRY = "rows_product";
const FORM = "rows_product_maps";

const param = (name: string): ContractExpr => ({ op: "param", name });
const constant = (value: number): ContractExpr => ({ op: "const", value });

/** Rows of a matrix, in boxes of 64 x 64. */
function mapOf(
  name: string,
  rows: string,
  columns: string,
  stride: string,
): EntryForm["maps"][number] {
  return {
    param: name,
    element: "float16",
    axes: [
      { extent: param(columns), stride: constant(1) },
      { extent: param(rows), stride: param(stride) },
    ],
    box: [64, 64],
    swizzle: 128,
  };
}

/** The form. Without rounds, its last release would be of no slot. */
export const ROWS_FORM: EntryForm = {
  symbol: FORM,
  threads: HOPPER_PRODUCT.block[0],
  sharedBytes: must(HOPPER_PRODUCT.sharedBytes, "size of shared memory"),
  when: [{ condition: { op: ">=", args: [param("K"), constant(1)] }, text: "K >= 1" }],
  maps: [mapOf("A", "M", "K", "lda"), mapOf("B", "K", "N", "ldb"), mapOf("C", "M", "N", "ldc")],
  startsLate: true,
};

/** Where a driver has the form's parameters: three addresses, six numbers, three maps. */
export const ROWS_PARAMETERS: readonly ParameterInfo[] = [
  ...[0, 8, 16].map((offset) => ({ offset, bytes: 8 })),
  ...[24, 28, 32, 36, 40, 44].map((offset) => ({ offset, bytes: 4 })),
  ...[48, 176, 304].map((offset) => ({ offset, bytes: 128 })),
];

const PARAMETERS = `(
  .param .u64 A, .param .u64 B, .param .u64 C,
  .param .u32 M, .param .u32 N, .param .u32 K, .param .u32 lda, .param .u32 ldb, .param .u32 ldc,
  .param .align 64 .b8 map_a[128], .param .align 64 .b8 map_b[128], .param .align 64 .b8 map_c[128]
)`;

/** The hand-written product with other parameters: it counts tiles, which come from sizes here. */
function formText(): string {
  const whole = must(HOPPER_PRODUCT.text, "text of the product");
  const counted = (register: string, size: string): string =>
    `ld.param.u32 ${register}, [${size}];\n  add.u32 ${register}, ${register}, 63;\n  shr.u32 ${register}, ${register}, 6;`;
  return whole.slice(whole.indexOf(".extern"))
    .replace(/hopper_product\([^)]*\)/, `${FORM}${PARAMETERS}`)
    .replace("ld.param.u32 %r4, [steps];", counted("%r4", "K"))
    .replace("ld.param.u32 %r5, [tiles];", counted("%r5", "N"));
}

/** The kernel for sm_90a with its form, and for sm_80 without. */
export function rowsProduct(form: EntryForm = ROWS_FORM): CompiledKernel {
  const { kernels, diagnostics } = compileFile({ name: `${ENTRY}.tc`, text: SOURCE }, {
    targets: ["sm_80", "sm_90a"],
  });
  const kernel = must(kernels[0], diagnostics.map(({ message }) => message).join(", "));
  return {
    ...kernel,
    modules: kernel.modules.map((module) => {
      if (module.target === "sm_80") return module;
      const entries = module.entries.map((entry) => ({ ...entry, forms: [form] }));
      return { ...module, ptx: `${module.ptx}\n${formText()}`, entries };
    }),
  };
}

/** Halves to multiply, and the product that must come out. */
import type {
  CallOptions,
  Device,
  KernelDescription,
  LaunchProfile,
  PreparedCall,
  Profiled,
  Tensor,
} from "../../../ffi/mod.ts";

export type Half = Tensor<"float16">;

/** All parameters by name. */
export interface RowsProductArguments {
  readonly A: Half;
  readonly B: Half;
  readonly C: Half;
  readonly M: number;
  readonly N: number;
  readonly K: number;
  readonly lda: number;
  readonly ldb: number;
  readonly ldc: number;
}

/** RowsProductOptions of a call. */
export interface RowsProductOptions extends CallOptions {
  readonly out?: Half;
}

/** The wrapper of the kernel in `form_kernel.ts`. */
export interface RowsProductWrapper {
  readonly rowsProduct: {
    (a: Half, b: Half, options: RowsProductOptions & { readonly profile: true }): Profiled<Half>;
    (a: Half, b: Half, options?: RowsProductOptions): Half;
    prepare(a: Half, b: Half, options?: RowsProductOptions): PreparedCall<Half>;
    launch(
      args: RowsProductArguments,
      options: RowsProductOptions & { readonly profile: true },
    ): LaunchProfile;
    launch(args: RowsProductArguments, options?: RowsProductOptions): void;
    readonly contract: KernelDescription;
  };
}

/** Small whole numbers: their products have exact sums. */
export function elements(count: number): Float16Array<ArrayBuffer> {
  return Float16Array.from({ length: count }, (_, i) => (i * 37 + 11) % 9 - 4);
}

/** A matrix of halves that begins `from` elements into its memory, with rows `stride` elements apart. */
export function halfMatrix(
  device: Device,
  rows: number,
  columns: number,
  outRows: { readonly stride?: number; readonly from?: number } = {},
): Half {
  const { stride = columns, from = 0 } = outRows;
  const whole = device.tensor(elements(from + rows * stride), [from + rows * stride]);
  return whole.narrow(0, from, rows * stride).reshape([rows, stride]).narrow(1, 0, columns);
}

/** Whether C is A·B, computed in double precision and rounded once. */
export async function isProduct(a: Half, b: Half, c: Half): Promise<boolean> {
  const [m = 0, k = 0] = a.shape;
  const n = b.shape[1] ?? 0;
  const [A, B, C] = [await a.read(), await b.read(), await c.read()];
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let l = 0; l < k; l++) sum += (A[i * k + l] ?? NaN) * (B[l * n + j] ?? NaN);
      if (C[i * n + j] !== Math.f16round(sum)) return false;
    }
  }
  return true;
}

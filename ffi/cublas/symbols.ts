/** The functions of cuBLAS that are called, and its numbers. Those of cublas_api.h and library_types.h, CUDA 11 to 13. */
import type { BoundFunctions, ForeignFunctions, ForeignLibrary } from "../foreign.ts";

/** In the form that `dlopen` takes; each returns a cublasStatus_t. */
export const CUBLAS_FUNCTIONS = {
  cublasCreate_v2: { parameters: ["buffer"], result: "i32" },
  cublasDestroy_v2: { parameters: ["u64"], result: "i32" },
  cublasGetVersion_v2: { parameters: ["u64", "buffer"], result: "i32" },
  cublasSetStream_v2: { parameters: ["u64", "u64"], result: "i32" },
  /** Since CUDA 11.2. */
  cublasSetWorkspace_v2: { parameters: ["u64", "u64", "u64"], result: "i32" },
  cublasGemmEx: {
    // One list: the declarations of the package would have `any` for spread ones.
    parameters: [
      "u64", // handle
      "i32", // operation on A
      "i32", // operation on B
      "i32", // m
      "i32", // n
      "i32", // k
      "buffer", // alpha
      "u64", // A
      "i32", // type of A
      "i32", // lda
      "u64", // B
      "i32", // type of B
      "i32", // ldb
      "buffer", // beta
      "u64", // C
      "i32", // type of C
      "i32", // ldc
      "i32", // compute type
      "i32", // algorithm
    ],
    result: "i32",
  },
} as const satisfies ForeignFunctions;

/** The functions of an open cuBLAS. */
export type CublasFunctions = BoundFunctions<typeof CUBLAS_FUNCTIONS>;

/** An open cuBLAS. */
export type CublasLibrary = ForeignLibrary<typeof CUBLAS_FUNCTIONS>;

/** cublasStatus_t. */
export const STATUS_NAMES: Readonly<Record<number, string>> = {
  1: "CUBLAS_STATUS_NOT_INITIALIZED",
  3: "CUBLAS_STATUS_ALLOC_FAILED",
  7: "CUBLAS_STATUS_INVALID_VALUE",
  8: "CUBLAS_STATUS_ARCH_MISMATCH",
  11: "CUBLAS_STATUS_MAPPING_ERROR",
  13: "CUBLAS_STATUS_EXECUTION_FAILED",
  14: "CUBLAS_STATUS_INTERNAL_ERROR",
  15: "CUBLAS_STATUS_NOT_SUPPORTED",
  16: "CUBLAS_STATUS_LICENSE_ERROR",
};

/** cublasOperation_t. */
export const OPERATION = { none: 0, transposed: 1 } as const;

/** CUBLAS_GEMM_DEFAULT: cuBLAS chooses. */
export const DEFAULT_ALGORITHM = -1;

/** Element types that `Cublas` multiplies. */
export type ProductDType = "float16" | "bfloat16" | "float32" | "float64";

/**
 * cudaDataType_t, cublasComputeType_t and the array that holds the scale. Products of half and bfloat16 are summed in
 * float; float is multiplied in float, not in TF32.
 */
export const PRECISIONS = {
  float16: { data: 2, compute: 68, scale: Float32Array },
  bfloat16: { data: 14, compute: 68, scale: Float32Array },
  float32: { data: 0, compute: 68, scale: Float32Array },
  float64: { data: 1, compute: 70, scale: Float64Array },
} as const satisfies Record<ProductDType, unknown>;

/**
 * Matrix products by NVIDIA's cuBLAS, where it is installed: something to compare kernels with.
 *
 * ```ts
 * import { Device } from "@tri/tri/ffi";
 * import { Cublas } from "@tri/tri/ffi/cublas";
 *
 * using device = Device.open();
 * using cublas = Cublas.open(device);
 * const a = device.tensor(new Float32Array(6), [2, 3]);
 * const b = device.tensor(new Float32Array(12), [3, 4]);
 * using c = device.empty("float32", [2, 4]);
 * cublas.matmul(a, b, c); // c = a @ b
 * ```
 *
 * @module
 */
export { Cublas } from "./cublas.ts";
export { CublasError, CublasNotFoundError } from "./errors.ts";
export type { ProductDType } from "./symbols.ts";

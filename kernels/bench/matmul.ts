/** Products of square matrices, beside cuBLAS where it is installed. float32 is multiplied as such, not as TF32. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import type { Device } from "@tri/tri/ffi";
import { Cublas, CublasNotFoundError } from "@tri/tri/ffi/cublas";
import { matmul } from "../../generated/matmul.ts";
import { type FloatDType, normal } from "./inputs.ts";

function product(dtype: FloatDType): Benchmark {
  return benchmark({
    name: `matmul_${dtype}`,
    title: `Matrix product, ${dtype}`,
    x: { names: ["M", "N", "K"], values: [512, 1024, 2048, 4096, 8192] },
    measure: { unit: "TFLOP/s", flops: (n) => 2 * n ** 3 },
    inputs: ({ device, x: n, keep }) => ({
      a: keep(normal(device, dtype, [n, n])),
      b: keep(normal(device, dtype, [n, n])),
      out: keep(device.empty(dtype, [n, n])),
    }),
    lines: {
      ours: { label: "tri", prepare: ({ a, b, out }) => matmul.prepare(a, b, { out }) },
      cublas: {
        label: "cuBLAS",
        prepare: ({ a, b, out }, { device, keep }) => {
          const cublas = openCublas(device);
          return cublas === undefined ? undefined : keep(cublas).prepare(a, b, out);
        },
      },
    },
  });
}

/** cuBLAS, if this machine has it; the line has gaps otherwise. */
function openCublas(device: Device): Cublas | undefined {
  try {
    return Cublas.open(device);
  } catch (error) {
    if (error instanceof CublasNotFoundError) return undefined;
    throw error;
  }
}

export default [product("float16"), product("float32")];

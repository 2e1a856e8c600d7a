/** Benchmarks and cuBLAS on a GPU: times that can be, products that are right. */
import { benchmark, DEFAULT_TIMING, describeDevice, runBenchmark } from "../../bench/mod.ts";
import { Cublas, CublasNotFoundError } from "../../ffi/cublas/mod.ts";
import { Device } from "../../ffi/device.ts";
import { copy } from "../../generated/copy.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { gpuTest, hasGpu } from "../support/gpu.ts";
import { assertProductOf, operandOf } from "../support/kernels/products.ts";

/** Why cuBLAS is not tested; undefined if it is. */
function whyNoCublas(): string | undefined {
  if (!hasGpu) return undefined;
  using device = Device.open();
  try {
    Cublas.open(device)[Symbol.dispose]();
    return undefined;
  } catch (error) {
    if (!(error instanceof CublasNotFoundError)) throw error;
    return error.message.split("\n")[0];
  }
}

gpuTest("Cublas.matmul() multiplies matrices of every type, size and storage", () => {
  using device = Device.open();
  using cublas = Cublas.open(device);
  for (const dtype of ["float16", "bfloat16", "float32", "float64"] as const) {
    for (const left of ["rows", "columns"] as const) {
      for (const right of ["rows", "columns"] as const) {
        for (
          const [m, n, k, gap] of [[131, 191, 77, 1], [144, 272, 208, 0], [1, 5, 3, 0]] as const
        ) {
          using a = operandOf(device, dtype, [m, k], { storage: left, gap });
          using b = operandOf(device, dtype, [k, n], { storage: right, gap });
          using c = device.empty(dtype, [m, n]);
          cublas.matmul(a.tensor, b.tensor, c);
          assertProductOf(c, a, b);
        }
      }
    }
  }
}, whyNoCublas());

gpuTest("Cublas.prepare() can be recorded in a graph", () => {
  using device = Device.open();
  using cublas = Cublas.open(device);
  using a = operandOf(device, "float16", [256, 128]);
  using b = operandOf(device, "float16", [128, 64]);
  using c = device.zeros("float16", [256, 64]);
  const call = cublas.prepare(a.tensor, b.tensor, c);
  call();
  using graph = device.defaultStream.capture(call);
  c.buffer.fill(0xff);
  graph.launch();
  assertProductOf(c, a, b);
}, whyNoCublas());

gpuTest("runBenchmark() measures copies no faster than the GPU's memory, hot or cold", async () => {
  using device = Device.open();
  const copies = benchmark({
    name: "copy",
    title: "Copy",
    x: { names: ["M", "N"], values: [8192] },
    measure: { unit: "GB/s", bytes: (n) => 2 * 4 * n * n },
    inputs: ({ x: n, keep }) => ({
      x: keep(device.zeros("float32", [n, n])),
      out: keep(device.empty("float32", [n, n])),
    }),
    lines: { ours: { label: "tri", prepare: ({ x, out }) => copy.prepare(x, { out }) } },
  });
  for (const cache of ["hot", "cold"] as const) {
    const timing = { ...DEFAULT_TIMING, rounds: 5, cache };
    const { rows: [row] } = await runBenchmark(copies, device, { timing });
    const times = row?.times["ours"] ?? [];
    assertEquals(times.length, 5);
    // 536 MB in less than 0.02 ms would be 27 TB/s, more than any GPU has; more than 100 ms is no GPU.
    for (const time of times) assert(time > 0.02 && time < 100, `${time} ms`);
  }
  assert(describeDevice(device).driver.startsWith("CUDA "));
});

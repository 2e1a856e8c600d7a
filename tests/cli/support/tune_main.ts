/**
 * `tri` with two GPUs that are emulators, on which a launch takes as many milliseconds as the configuration's numbers
 * multiply to, for tests of `tri tune` as a process. TRI_TEST_FAULT names a configuration whose timing fails,
 * TRI_TEST_END says after how many timings the process ends.
 */
import { realToolchain } from "../../../cli/real_toolchain.ts";
import { runTri } from "../../../cli/run.ts";
import type { BenchGpu } from "../../../cli/tune_bench.ts";
import { CudaError, Device } from "../../../ffi/mod.ts";

let left = Number(Deno.env.get("TRI_TEST_END") ?? Infinity);

const gpus = [0, 1].map((ordinal): BenchGpu => ({
  info: { ordinal, name: "Test GPU", arch: "sm_90", sm: 90 },
  open: () => Device.open({ device: "emulator", arch: "sm_90" }),
  time: (_graph, _stream, label) => {
    if (left-- <= 0) Deno.exit(9);
    if (Deno.env.get("TRI_TEST_FAULT") === label) {
      const name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      throw new CudaError({ name, code: 700, description: "for a test", call: "cuEventQuery" });
    }
    const product = (label.match(/\d+/g) ?? []).reduce((all, one) => all * Number(one), 1);
    return Promise.resolve(product);
  },
}));

Deno.exit(
  await runTri(Deno.args, {
    ...realToolchain,
    bench: () => Promise.resolve({ kind: "gpus", gpus }),
  }),
);

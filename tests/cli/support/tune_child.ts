/**
 * A process that times for `tri tune` on an emulator, where a launch takes as many milliseconds as the configuration's
 * numbers multiply to. TRI_TEST_FAULT, TRI_TEST_CRASH and TRI_TEST_HANG name configurations whose timing fails, ends the
 * process, and never ends; TRI_TEST_HANG_AFTER says after how many timings none ends any more.
 */
import { serveTimings } from "../../../cli/tune/serve.ts";
import { CudaError, Device } from "../../../ffi/mod.ts";

const named = (name: string, label: string): boolean => Deno.env.get(name) === label;
let left = Number(Deno.env.get("TRI_TEST_HANG_AFTER") ?? Infinity);

await serveTimings({
  open: () => Device.open({ device: "emulator", arch: "sm_90" }),
  time: (_graph, _stream, label) => {
    if (left-- <= 0 || named("TRI_TEST_HANG", label)) return new Promise(() => {});
    if (named("TRI_TEST_CRASH", label)) Deno.exit(7);
    if (named("TRI_TEST_FAULT", label)) {
      const name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      throw new CudaError({ name, code: 700, description: "for a test", call: "cuEventQuery" });
    }
    // Kernels that print do it on the stream that reports take.
    Deno.stdout.writeSync(new TextEncoder().encode("printed"));
    return Promise.resolve(
      (label.match(/\d+/g) ?? []).reduce((all, one) => all * Number(one), 1),
    );
  },
});

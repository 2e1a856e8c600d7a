/** The shipped product with what follows it on a GPU: the shapes of the emulator's test and larger ones. */
import { Device } from "@tri/tri/ffi";
import { matmulFused } from "../../generated/matmul_fused.ts";
import { gpuTest } from "../support/gpu.ts";
import { checkFused } from "../support/kernels/fused.ts";

const ALL = ["rowScale", "columnScale", "bias", "residual"] as const;
const PARTS = [["bias"], ["residual"], ALL, []] as const;

for (const variant of matmulFused.variants) {
  gpuTest(`matmulFused() multiplies, scales, adds and activates ${variant}`, () => {
    using device = Device.open();
    for (const storage of ["rows", "columns"] as const) {
      for (const activation of [0, 1, 2, 3] as const) {
        for (const [nth, parts] of PARTS.entries()) {
          const test = { variant, storage, activation, parts, factor: 0.5 } as const;
          checkFused(device, { ...test, m: 35, n: 67, k: 37, gap: 1 });
          checkFused(device, { ...test, m: 66, n: 80, k: 72, gap: 16 });
          // Most of the time is that of the reference: each activation and each set of parts once.
          if (nth === activation) checkFused(device, { ...test, m: 300, n: 528, k: 264, gap: 0 });
        }
        // Without branches, what is added to all sums too.
        for (const parts of activation > 1 ? [["bias", "residual"]] as const : []) {
          const test = { variant, storage, activation, parts, factor: 0.5 } as const;
          checkFused(device, { ...test, m: 300, n: 528, k: 264, gap: 0 });
        }
      }
    }
  });
}

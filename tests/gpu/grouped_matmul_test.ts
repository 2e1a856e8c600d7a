/** The shipped products of rows in groups on a GPU, against double precision: tiles of all sizes, tensor copies. */
import { Device } from "@tri/tri/ffi";
import { groupedMatmul } from "../../generated/grouped_matmul.ts";
import { gpuTest } from "../support/gpu.ts";
import { checkGroups } from "../support/kernels/groups.ts";

for (const variant of groupedMatmul.variants) {
  gpuTest(`groupedMatmul() multiplies each group with its matrix, ${variant}`, () => {
    using device = Device.open();
    checkGroups(device, { variant, groups: [130, 0, 1, 257, 64], k: 328, n: 200, gap: 0 });
    checkGroups(device, { variant, groups: [65, 0, 0, 31], k: 133, n: 150, gap: 3 });
  });
}

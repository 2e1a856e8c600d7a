/** The shipped block-sparse products on a GPU: random patterns, empty and full, aligned and not. */
import { Device } from "@tri/tri/ffi";
import { BLOCK_SIZES, BLOCK_TYPES, checkBlockProducts } from "../support/block_sparse.ts";
import { gpuTest } from "../support/gpu.ts";

for (const dtype of BLOCK_TYPES) {
  gpuTest(`dsd(), dds(), sdd() multiply ${dtype} matrices of any pattern`, () => {
    using device = Device.open();
    for (const size of BLOCK_SIZES) {
      const extents = { batch: 2, blockRows: 5, blockColumns: 3 };
      for (const density of [0, 0.3, 0.7, 1]) {
        for (const [free, gap] of [[1, 0], [37, 1], [136, 0], [200, 8]] as const) {
          checkBlockProducts(device, { dtype, size, ...extents, free, gap, density });
        }
      }
    }
  });
}

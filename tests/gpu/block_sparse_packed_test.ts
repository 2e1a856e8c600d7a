/** The shipped products of groups of blocks on a GPU: random patterns, empty and full. */
import { Device } from "@tri/tri/ffi";
import { BLOCK_SIZES } from "../support/kernels/block_sparse.ts";
import { checkPackedProducts, PACKED_TYPES } from "../support/kernels/block_sparse_packed.ts";
import { gpuTest } from "../support/gpu.ts";

/** How many blocks there are, and the other extent with the gap after its rows. */
const CASES: readonly (readonly [density: number, free: number, gap: number])[] = [
  [0.3, 136, 0],
  [0.5, 264, 8],
  [0, 40, 8],
  [1, 8, 8],
];

for (const dtype of PACKED_TYPES) {
  gpuTest(`dsdPacked(), ddsPacked(), sddPacked() multiply ${dtype} matrices of any pattern`, () => {
    using device = Device.open();
    for (const size of BLOCK_SIZES) {
      const extents = { batch: 2, blockRows: 7, blockColumns: 5 };
      for (const [density, free, gap] of CASES) {
        checkPackedProducts(device, { dtype, size, ...extents, free, gap, density });
      }
    }
  });
}

/**
 * The shipped block-sparse products on a GPU: random patterns, empty and full, aligned and not. `TRI_QUICK=1` leaves out
 * most cases (for runs under a sanitizer).
 */
import { Device } from "@tri/tri/ffi";
import { BLOCK_SIZES, BLOCK_TYPES, checkBlockProducts } from "../support/kernels/block_sparse.ts";
import { gpuTest } from "../support/gpu.ts";

const QUICK = Deno.env.get("TRI_QUICK") === "1";

/** How many blocks there are, and the other extent with the gap after its rows. */
const ALL_CASES: readonly (readonly [density: number, free: number, gap: number])[] = [
  [0.3, 37, 1],
  [0.3, 136, 0],
  [0.3, 1, 0],
  [0.3, 200, 8],
  [0, 37, 1],
  [0.7, 136, 0],
  [1, 200, 8],
];
const CASES = QUICK ? ALL_CASES.slice(0, 2) : ALL_CASES;

for (const dtype of BLOCK_TYPES) {
  gpuTest(`dsd(), dds(), sdd() multiply ${dtype} matrices of any pattern`, () => {
    using device = Device.open();
    for (const size of BLOCK_SIZES) {
      const extents = { batch: 2, blockRows: 5, blockColumns: 3 };
      for (const [density, free, gap] of CASES) {
        checkBlockProducts(device, { dtype, size, ...extents, free, gap, density });
      }
    }
  });
}

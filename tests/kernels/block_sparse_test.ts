/** The shipped block-sparse products on the emulator: every image, every variant, both instances, any pattern. */
import { sdd } from "../../generated/block_sparse.ts";
import { ArgumentError, blockTables, Device } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { BLOCK_SIZES, BLOCK_TYPES, checkBlockProducts } from "../support/kernels/block_sparse.ts";
import { everyVariant } from "./devices.ts";

/** Extents in blocks: odd numbers of them, and few of the large ones. */
const SPARSE = {
  16: { batch: 2, blockRows: 5, blockColumns: 3 },
  32: { batch: 1, blockRows: 3, blockColumns: 3 },
  64: { batch: 1, blockRows: 2, blockColumns: 3 },
} as const;
const FULL = {
  16: { batch: 1, blockRows: 3, blockColumns: 5 },
  32: { batch: 1, blockRows: 3, blockColumns: 2 },
  64: { batch: 1, blockRows: 1, blockColumns: 2 },
} as const;

everyVariant(
  "dsd(), dds(), sdd() multiply odd matrices of any pattern, on {}",
  "block_sparse",
  BLOCK_TYPES,
  (device, dtype) => {
    for (const size of BLOCK_SIZES) {
      const extents = { ...SPARSE[size], free: 37, gap: 1 };
      checkBlockProducts(device, { dtype, size, ...extents, density: 0.6 });
    }
  },
);

everyVariant(
  "dsd(), dds(), sdd() multiply all blocks of aligned matrices, on {}",
  "block_sparse",
  BLOCK_TYPES,
  (device, dtype) => {
    for (const size of BLOCK_SIZES) {
      const extents = { ...FULL[size], free: 40, gap: 0 };
      checkBlockProducts(device, { dtype, size, ...extents, density: 1 });
    }
  },
);

Deno.test("dsd(), dds(), sdd() give zeros where there are no blocks at all", () => {
  using device = Device.open({ device: "emulator" });
  const extents = { batch: 2, blockRows: 2, blockColumns: 3, free: 5, gap: 0 };
  checkBlockProducts(device, { dtype: "float16", size: 16, ...extents, density: 0 });
});

Deno.test("sdd() takes the block size from its result, and wants one", () => {
  using device = Device.open({ device: "emulator" });
  const { rows, columns } = blockTables([1], 1, 1);
  using a = device.zeros("float32", [1, 32, 4]);
  using b = device.zeros("float32", [1, 4, 32]);
  using r = device.tensor(rows, [1]);
  using c = device.tensor(columns, [1]);
  // @ts-expect-error: no result
  const missing = assertThrows(() => sdd(a, b, r, c), ArgumentError);
  assertEquals(missing.expected, "a tensor, because the inputs do not say its shape");
  using odd = device.zeros("float32", [1, 1, 8, 8]);
  const wrong = assertThrows(() => sdd(a, b, r, c, { out: odd }), ArgumentError);
  assertEquals(wrong.argument, "out of sdd");
  using out = device.zeros("float32", [1, 1, 32, 32]);
  const { profile } = sdd(a, b, r, c, { out, profile: true });
  assertEquals(profile.kernel, "sdd_float32_BLOCK32_a16");
});

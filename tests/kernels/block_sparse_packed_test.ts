/** The shipped products of groups of blocks on the emulator: every image and variant, groups that reach beyond the matrix. */
import { dsdPacked } from "../../generated/block_sparse_packed.ts";
import { ArgumentError, Device, packedBlockTables } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { BLOCK_SIZES } from "../support/kernels/block_sparse.ts";
import { checkPackedProducts, PACKED_TYPES } from "../support/kernels/block_sparse_packed.ts";
import { everyVariant } from "./devices.ts";

/** Extents in blocks: several groups, none of which is whole at the edges. */
const EXTENTS = {
  16: { batch: 1, blockRows: 9, blockColumns: 5 },
  32: { batch: 1, blockRows: 5, blockColumns: 3 },
  64: { batch: 2, blockRows: 3, blockColumns: 1 },
} as const;

everyVariant(
  "dsdPacked(), ddsPacked(), sddPacked() multiply groups of any pattern, on {}",
  "block_sparse_packed",
  PACKED_TYPES,
  (device, dtype) => {
    for (const size of BLOCK_SIZES) {
      const extents = { ...EXTENTS[size], free: 24, gap: 8 };
      checkPackedProducts(device, { dtype, size, ...extents, density: 0.5 });
    }
  },
);

Deno.test("dsdPacked() gives zeros where there are no blocks at all", () => {
  using device = Device.open({ device: "emulator" });
  const extents = { batch: 1, blockRows: 2, blockColumns: 3, free: 8, gap: 0 };
  checkPackedProducts(device, { dtype: "float16", size: 16, ...extents, density: 0 });
});

Deno.test("dsdPacked() wants rows of multiples of 16 bytes, and tables for the rows of its result", () => {
  using device = Device.open({ device: "emulator" });
  const { rowOffsets, columns, blocks } = packedBlockTables([1], 1, 1, 8, 4);
  using a = device.zeros("float16", [1, 1, 16, 16]);
  using b = device.zeros("float16", [1, 16, 12]);
  using offsets = device.tensor(rowOffsets, [2]);
  using at = device.tensor(columns, [1]);
  using numbers = device.tensor(blocks, [1, 8, 4]);
  using out = device.zeros("float16", [1, 16, 12]);
  const narrow = assertThrows(() => dsdPacked(a, offsets, at, numbers, b, { out }), ArgumentError);
  assertEquals(narrow.argument, "N of dsd_packed");
  using wide = device.zeros("float16", [1, 16, 16]);
  using tall = device.zeros("float16", [1, 144, 16]);
  assertThrows(() => dsdPacked(a, offsets, at, numbers, wide, { out: tall }), ArgumentError);
});

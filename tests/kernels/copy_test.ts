/** The shipped copies on the emulator: every image, every variant, both instances, through the wrappers. */
import { copy, stridedCopy } from "../../generated/copy.ts";
import { DTYPES } from "../../ffi/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { halfOf } from "../support/sampled.ts";
import { everyTarget } from "./devices.ts";
import {
  assertMoved,
  columnMajor,
  type Placement,
  randomMatrix,
  rowMajor,
} from "../support/kernels/matrices.ts";

everyTarget(
  "copy() copies matrices of odd sizes in padded rows bit for bit, on {}",
  ["copy"],
  (device) => {
    for (const dtype of halfOf(copy.variants, 1)) {
      for (const [rows, columns] of [[7, 517], [5, 1]] as const) {
        using x = randomMatrix(device, dtype, [rows, columns], rowMajor(columns, 5, 3));
        using y = randomMatrix(device, dtype, [rows, columns], rowMajor(columns, 2, 1));
        copy(x.tensor, { out: y.tensor });
        assertMoved(x, y, false);
      }
    }
  },
);

everyTarget("copy() copies aligned matrices without wasted sectors, on {}", ["copy"], (device) => {
  for (const dtype of halfOf(copy.variants, 2)) {
    const [rows, columns] = [16, 512];
    using x = randomMatrix(device, dtype, [rows, columns], rowMajor(columns));
    using y = randomMatrix(device, dtype, [rows, columns], rowMajor(columns));
    const { profile } = copy(x.tensor, { out: y.tensor, profile: true });
    assertMoved(x, y, false);
    const { kernel, global, shared } = profile;
    assertEquals(kernel, `copy_${dtype}_a16`);
    assertEquals(global.bytes, 2 * rows * columns * DTYPES[dtype].bytes);
    assertEquals([global.sectors, shared.requests], [global.idealSectors, 0], kernel);
  }
});

everyTarget("stridedCopy() copies between any two strides, on {}", ["copy"], (device) => {
  const [rows, columns] = [37, 45];
  const sides: readonly (readonly [Placement, Placement])[] = [
    [columnMajor(rows), rowMajor(columns)],
    [rowMajor(columns), rowMajor(columns, 3)],
    [
      { offset: 1, rowStride: 2, columnStride: 2 * rows + 1 },
      { offset: 2, rowStride: 3 * columns, columnStride: 3 },
    ],
  ];
  for (const dtype of halfOf(stridedCopy.variants, 3)) {
    for (const [from, to] of sides) {
      using x = randomMatrix(device, dtype, [rows, columns], from);
      using y = randomMatrix(device, dtype, [rows, columns], to);
      stridedCopy(x.tensor, { out: y.tensor });
      assertMoved(x, y, false);
    }
  }
});

/** The shipped transposition on the emulator: every image, every variant, both instances, through the wrapper. */
import { transpose } from "../../generated/transpose.ts";
import { type Device, DTYPES } from "../../ffi/mod.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import { assertEquals } from "../support/assert.ts";
import { everyVariant } from "./devices.ts";
import { assertMoved, randomMatrix, rowMajor } from "../support/kernels/matrices.ts";

type Variant = typeof transpose.variants[number];

everyVariant(
  "transpose() turns matrices of odd sizes in padded rows bit for bit, on {}",
  "transpose",
  transpose.variants,
  (device, dtype) => {
    const [rows, columns] = [131, 67];
    using x = randomMatrix(device, dtype, [rows, columns], rowMajor(columns, 3, 1));
    using y = randomMatrix(device, dtype, [columns, rows], rowMajor(rows, 2, 3));
    transpose(x.tensor, { out: y.tensor });
    assertMoved(x, y, true);
  },
);

everyVariant(
  "transpose() turns aligned matrices without bank conflicts or wasted sectors, on {}",
  "transpose",
  transpose.variants,
  checkAligned,
);

/** A size of full tiles: every request is whole. */
function checkAligned(device: Device, dtype: Variant): void {
  const size = DTYPES[dtype].bytes === 1 ? 256 : 128;
  using x = randomMatrix(device, dtype, [size, size], rowMajor(size));
  using y = randomMatrix(device, dtype, [size, size], rowMajor(size));
  const { profile } = transpose(x.tensor, { out: y.tensor, profile: true });
  assertMoved(x, y, true);
  const { kernel, global: { bytes, sectors, idealSectors }, shared } = profile;
  assertInstance(kernel, `transpose_${dtype}_a16`);
  assertEquals(bytes, 2 * size * size * DTYPES[dtype].bytes);
  assertEquals([sectors, shared.bankConflicts], [idealSectors, 0], kernel);
  assertEquals(profile.divergentBranches, 0);
}

everyVariant(
  "transpose() turns aligned matrices with ragged tiles, on {}",
  "transpose",
  transpose.variants,
  (device, dtype) => {
    const unit = 16 / DTYPES[dtype].bytes;
    const [rows, columns] = [5 * unit, 9 * unit];
    using x = randomMatrix(device, dtype, [rows, columns], rowMajor(columns, unit, unit));
    using y = randomMatrix(device, dtype, [columns, rows], rowMajor(rows, 0, unit));
    const { profile } = transpose(x.tensor, { out: y.tensor, profile: true });
    assertInstance(profile.kernel, `transpose_${dtype}_a16`);
    assertEquals(profile.shared.bankConflicts, 0);
    assertMoved(x, y, true);
  },
);

/** The shipped copies and the vector addition on a GPU, against plain loops on the host. */
import { Device } from "@tri/tri/ffi";
import { copy, stridedCopy } from "../../generated/copy.ts";
import { vectorAdd } from "../../generated/vector_add.ts";
import { assertEquals } from "../support/assert.ts";
import { freshRandom } from "../support/random.ts";
import { gpuTest } from "../support/gpu.ts";
import { assertSum, randomAddition } from "../support/kernels/vectors.ts";
import { assertBytes, dense, elementBytes, expectMatrix, randomMatrix } from "./matrices.ts";

const SIZES = [[1, 1], [3, 5], [33, 129], [256, 256], [1023, 771]] as const;

for (const dtype of copy.variants) {
  gpuTest(`copy() copies ${dtype} matrices bit for bit between padded rows`, async () => {
    using device = Device.open();
    for (const [rows, columns] of SIZES) {
      for (
        const [from, to] of [[dense(columns), dense(columns)], [
          { offset: 3, stride: columns + 5 },
          { offset: 1, stride: columns + 2 },
        ]] as const
      ) {
        const random = freshRandom();
        const x = randomMatrix(device, random, dtype, rows, columns, from);
        const y = randomMatrix(device, random, dtype, rows, columns, to);
        copy(x.tensor, { out: y.tensor });
        const expected = expectMatrix(
          y.bytes,
          rows,
          columns,
          to,
          elementBytes(dtype),
          x.bytes,
          (row, column) => from.offset + row * from.stride + column,
        );
        assertBytes(
          await y.buffer.read(),
          expected,
          `${dtype} ${rows} x ${columns}, seed ${random.seed}`,
        );
        x.buffer[Symbol.dispose]();
        y.buffer[Symbol.dispose]();
      }
    }
  });

  gpuTest(`stridedCopy() copies a transposed view of ${dtype} elements`, async () => {
    using device = Device.open();
    for (const [rows, columns] of SIZES) {
      const random = freshRandom();
      const from = dense(rows);
      const x = randomMatrix(device, random, dtype, columns, rows, from);
      const y = randomMatrix(device, random, dtype, rows, columns, dense(columns));
      stridedCopy(x.tensor.transpose(), { out: y.tensor });
      const expected = expectMatrix(
        y.bytes,
        rows,
        columns,
        dense(columns),
        elementBytes(dtype),
        x.bytes,
        (row, column) => column * from.stride + row,
      );
      assertBytes(
        await y.buffer.read(),
        expected,
        `${dtype} ${rows} x ${columns}, seed ${random.seed}`,
      );
      x.buffer[Symbol.dispose]();
      y.buffer[Symbol.dispose]();
    }
  });
}

for (const dtype of vectorAdd.variants) {
  gpuTest(`vectorAdd() adds ${dtype} vectors of any length`, async () => {
    using device = Device.open();
    for (const length of [1, 31, 1024, 1025, 100_003]) {
      const { a, b, sum } = randomAddition(dtype, length);
      using x = device.tensor(a, [length], { dtype });
      using y = device.tensor(b, [length], { dtype });
      using z = vectorAdd(x, y);
      assertEquals(z.shape[0], length);
      assertSum(await z.read(), sum, dtype);
    }
  });
}

/** The shipped copies and the vector addition on a GPU, against plain loops on the host. */
import { Device, type DType } from "@tri/tri/ffi";
import { hostArray } from "../../ffi/dtype.ts";
import { copy, stridedCopy } from "../../generated/copy.ts";
import { vectorAdd } from "../../generated/vector_add.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { freshRandom } from "../support/random.ts";
import { gpuTest } from "../support/gpu.ts";
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

/** x + y in the element type: exact in double (or big integers), then rounded once. */
function sum(dtype: DType, a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "bigint" && typeof b === "bigint") {
    return dtype === "uint64" ? BigInt.asUintN(64, a + b) : BigInt.asIntN(64, a + b);
  }
  return Number(a) + Number(b);
}

/** The float whose upper half is these bits. */
function bfloat16Value(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

/** Nearest bfloat16, ties to even. */
function bfloat16Bits(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

for (const dtype of vectorAdd.variants) {
  gpuTest(`vectorAdd() adds ${dtype} vectors of any length`, async () => {
    using device = Device.open();
    for (const length of [1, 31, 1024, 1025, 100_003]) {
      const random = freshRandom();
      const [a, b, expected] = [
        hostArray(dtype, length),
        hostArray(dtype, length),
        hostArray(dtype, length),
      ];
      for (let i = 0; i < length; i++) {
        // Small multiples of 1/8: sums are exact in every type but the 8-bit mantissa of bfloat16, which rounds.
        const [u, v] = [random.below(1000), random.below(1000)];
        if (a instanceof BigInt64Array || a instanceof BigUint64Array) {
          a[i] = BigInt(u) << 52n;
          Reflect.set(b, i, BigInt(v) << 52n);
        } else if (dtype === "bfloat16") {
          a[i] = bfloat16Bits(u / 8);
          Reflect.set(b, i, bfloat16Bits(v / 8));
        } else {
          const scale = dtype.startsWith("float") ? 1 / 8 : 1;
          a[i] = u * scale;
          Reflect.set(b, i, v * scale);
        }
        const total = dtype === "bfloat16"
          ? bfloat16Bits(bfloat16Value(Number(a[i])) + bfloat16Value(Number(b[i])))
          : sum(dtype, a[i] ?? 0, b[i] ?? 0);
        Reflect.set(expected, i, total);
      }
      using x = device.tensor(a, [length], { dtype });
      using y = device.tensor(b, [length], { dtype });
      using z = vectorAdd(x, y);
      assertEquals(z.shape[0], length);
      const actual = await z.read();
      const wrong = actual.findIndex((value: number | bigint, i: number) => value !== expected[i]);
      assert(
        wrong < 0,
        `${dtype}[${length}]: element ${wrong} is ${actual[wrong]}, expected ${expected[wrong]}`,
      );
    }
  });
}

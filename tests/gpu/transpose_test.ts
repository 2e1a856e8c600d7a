/**
 * The shipped transposition on a GPU: bit-exact for every element type, with the bytes around the result watched.
 * `TRI_QUICK=1` leaves out the large sizes (for runs under a sanitizer).
 */
import { Device } from "@tri/tri/ffi";
import { transpose } from "../../generated/transpose.ts";
import { freshRandom } from "../support/random.ts";
import { gpuTest } from "../support/gpu.ts";
import { sampled } from "../support/sampled.ts";
import {
  assertBytes,
  dense,
  elementBytes,
  expectMatrix,
  type Placement,
  randomMatrix,
} from "./matrices.ts";

const QUICK = Deno.env.get("TRI_QUICK") === "1";
const SMALL = [[1, 1], [1, 7], [33, 65], [64, 64], [127, 129], [128, 256], [1000, 777]] as const;
const LARGE = [[4096, 4096], [8193, 8191]] as const;
/** Bytes that wrappers move by words, by kernels/transpose.tune.json. */
const BY_WORDS = [[9001, 16411]] as const;

/** Layouts of the two sides: packed; padded rows; odd offsets; rows padded to 16-byte pieces. */
const PLACEMENTS: readonly ((columns: number) => Placement)[] = [
  dense,
  (columns) => ({ offset: 0, stride: columns + 3 }),
  (columns) => ({ offset: 1, stride: columns + 1 }),
  (columns) => ({ offset: 16, stride: (columns + 31) & ~15 }),
];

type Variant = typeof transpose.variants[number];

/** A run transposes large matrices of one type of each size, which are moved alike. */
const OF_LARGE: ReadonlySet<Variant> = new Set(
  [...Map.groupBy(transpose.variants, elementBytes)].flatMap(([bytes, types]) =>
    sampled(types, 1, bytes)
  ),
);

async function check(
  device: Device,
  dtype: Variant,
  [rows, columns]: readonly [number, number],
  from: Placement,
  to: Placement,
): Promise<void> {
  const random = freshRandom();
  const x = randomMatrix(device, random, dtype, rows, columns, from);
  const y = randomMatrix(device, random, dtype, columns, rows, to); // random bits: the poison
  transpose(x.tensor, { out: y.tensor });
  const expected = expectMatrix(
    y.bytes,
    columns,
    rows,
    to,
    elementBytes(dtype),
    x.bytes,
    (row, column) => from.offset + column * from.stride + row,
  );
  const what =
    `${dtype} ${rows} x ${columns}, strides ${from.stride} and ${to.stride}, offsets ${from.offset} and ` +
    `${to.offset}, seed ${random.seed}`;
  assertBytes(await y.buffer.read(), expected, what);
  x.buffer[Symbol.dispose]();
  y.buffer[Symbol.dispose]();
}

for (const dtype of transpose.variants) {
  gpuTest(`transpose() transposes ${dtype} matrices bit for bit`, async () => {
    using device = Device.open();
    for (const size of SMALL) {
      for (const from of PLACEMENTS) {
        for (const to of PLACEMENTS) await check(device, dtype, size, from(size[1]), to(size[0]));
      }
    }
  });
  if (QUICK || !OF_LARGE.has(dtype)) continue;
  gpuTest(`transpose() transposes large ${dtype} matrices bit for bit`, async () => {
    using device = Device.open();
    for (const size of [...LARGE, ...dtype === "int8" ? BY_WORDS : []]) {
      await check(device, dtype, size, dense(size[1]), dense(size[0]));
    }
  });
}

gpuTest("transpose() allocates its result and accepts matrices of no elements", async () => {
  using device = Device.open();
  using x = device.tensor(Float32Array.from([1, 2, 3, 4, 5, 6]), [2, 3]);
  using y = transpose(x);
  assertBytes(
    await y.read(),
    new Uint8Array(Float32Array.from([1, 4, 2, 5, 3, 6]).buffer),
    "2 x 3",
  );
  using empty = transpose(device.empty("float32", [0, 5]));
  assertBytes(await empty.read(), new Uint8Array(0), "0 x 5");
});

/** Rows and blocks as 8-bit numbers with scales, and back. */
import { dequantizeRows, quantizeRows } from "../../../generated/quantize.ts";
import { dequantizeBlocks, quantizeBlocks } from "../../../generated/quantize_blocks.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { assert, assertEquals } from "../assert.ts";
import { assertRounded } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers } from "../numbers.ts";
import { assertWithin, at, type Expected, type ModelFloat } from "./compare.ts";

/** Element types of quantised numbers. */
export type Small = "int8" | "float8e4";

const LARGEST: Readonly<Record<Small, number>> = { int8: 127, float8e4: 448 };
const BLOCK = 128;

/** The most that a number is away from what it is rounded to. */
const ROUNDINGS: Readonly<Record<Small, (magnitude: number) => number>> = {
  int8: () => 0.5,
  // Three bits after the first; the smallest number is 2^-9.
  float8e4: (magnitude) => Math.max(magnitude * 2 ** -4, 2 ** -10),
};

/** Both ways, of rows of numbers, one of which is zeros. */
export function checkQuantize(
  device: Device,
  dtype: ModelFloat,
  small: Small,
  [rows, columns]: readonly [number, number],
): void {
  const values = randomNumbers(dtype, rows * columns, 30)
    .map((value, i) => Math.floor(i / columns) === 1 ? 0 : value);
  using x = matrixOf(device, dtype, values, [rows, columns], 16);
  const variant = `${dtype}_${small}` as const;
  for (
    const { quantize, dequantize, length } of [
      {
        quantize: () => quantizeRows(x, { variant }),
        dequantize: (y: Tensor<Small, 2>, scale: Tensor) =>
          dequantizeRows(y, scale as Tensor<"float32", 1>, { variant }),
        length: columns,
      },
      {
        quantize: () => quantizeBlocks(x, { variant }),
        dequantize: (y: Tensor<Small, 2>, scale: Tensor) =>
          dequantizeBlocks(y, scale as Tensor<"float32", 2>, { variant }),
        length: BLOCK,
      },
    ]
  ) {
    const perRow = Math.ceil(columns / length);
    const blockOf = (i: number): number =>
      Math.floor(i / columns) * perRow + Math.floor((i % columns) / length);
    const tops = Array.from<number>({ length: rows * perRow }).fill(0);
    values.forEach((value, i) =>
      tops[blockOf(i)] = Math.max(at(tops, blockOf(i)), Math.abs(value))
    );
    const { y, scale } = quantize();
    const scales = numbersOf(scale);
    scales.forEach((found, i) => {
      const exact = at(tops, i) / LARGEST[small];
      assertRounded("float32", found, exact, exact * 2 ** -22, () => `scale ${i} of ${x}`);
    });
    const found = numbersOf(y);
    values.forEach((value, i) => {
      const top = at(tops, blockOf(i));
      const exact = top === 0 ? 0 : value / top * LARGEST[small];
      const error = ROUNDINGS[small](Math.abs(exact)) + LARGEST[small] * 2 ** -20;
      assert(Math.abs(at(found, i) - exact) <= error, `${at(found, i)}, not ${exact}: ${y}[${i}]`);
    });
    assertEquals(found.some((value) => Math.abs(value) === LARGEST[small]), true);
    using back = dequantize(y, scale);
    const expected = found.map((value, i): Expected => {
      const exact = value * at(scales, blockOf(i));
      return [exact, Math.abs(exact)];
    });
    assertWithin(back, expected, `${y} as ${dtype}`);
    for (const tensor of [y, scale]) tensor[Symbol.dispose]();
  }
}

/** A step of AdamW; embeddings and the gradient of their table. */
import { adamw } from "../../../generated/adamw.ts";
import { embedding, embeddingBackward } from "../../../generated/embedding.ts";
import type { Device } from "../../../ffi/mod.ts";
import { assertEquals } from "../assert.ts";
import { assertRounded } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers, vectorOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";
import { assertWithin, at, type ModelFloat } from "./compare.ts";

/** One step of adamw() from random moments. */
export function checkAdamw(device: Device, dtype: ModelFloat, length: number): void {
  const options = {
    rate: 2 ** -6,
    beta1: 0.875,
    beta2: 0.96875,
    eps: 2 ** -20,
    decay: 0.125,
    correction1: 1 - 0.875 ** 3,
    correction2: 1 - 0.96875 ** 3,
  };
  const { rate, beta1, beta2, eps, decay, correction1, correction2 } = options;
  const [weights, first] = [
    randomNumbers("float32", length, 2),
    randomNumbers("float32", length, 1),
  ];
  const second = randomNumbers("float32", length, 1).map((value) => Math.abs(value) / 2 + 0.25);
  const gradients = randomNumbers(dtype, length, 2);
  using w = vectorOf(device, "float32", weights);
  using g = vectorOf(device, dtype, gradients);
  using m1 = vectorOf(device, "float32", first);
  using m2 = vectorOf(device, "float32", second);
  adamw(w, g, m1, m2, options);
  const firsts = gradients.map((slope, i): [number, number] => {
    const [kept, added] = [beta1 * at(first, i), (1 - beta1) * slope];
    return [kept + added, Math.abs(kept) + Math.abs(added)];
  });
  const seconds = gradients.map((slope, i): [number, number] => {
    const sum = beta2 * at(second, i) + (1 - beta2) * slope * slope;
    return [sum, sum];
  });
  assertWithin(m1, firsts, `first moments of ${g}`);
  assertWithin(m2, seconds, `second moments of ${g}`);
  assertWithin(
    w,
    weights.map((weight, i) => {
      const scale = rate / correction1 / (Math.sqrt(at(seconds, i)[0] / correction2) + eps);
      const [exact, magnitude] = at(firsts, i);
      return [
        weight - rate * decay * weight - exact * scale,
        Math.abs(weight) * (1 + rate * decay) + magnitude * scale,
      ];
    }),
    `weights of ${g}`,
  );
}

/** Tokens in the order of their indices, and where those of each index start. */
function orderOf(index: readonly number[], rows: number): { order: number[]; start: number[] } {
  const groups = Array.from(
    { length: rows },
    (_, v) => index.flatMap((value, t) => value === v ? [t] : []),
  );
  const start = [0];
  for (const group of groups) start.push(at(start, start.length - 1) + group.length);
  // Tokens without a row are at the end, where no row looks.
  const outside = index.flatMap((value, t) => value < 0 || value >= rows ? [t] : []);
  return { order: [...groups.flat(), ...outside], start };
}

/** embedding() with indices outside of the table, and the gradient of the table. */
export function checkEmbedding(
  device: Device,
  dtype: ModelFloat,
  [rows, columns, tokens]: readonly [rows: number, columns: number, tokens: number],
): void {
  const random = freshRandom();
  const index = Array.from({ length: tokens }, () => random.below(rows + 2) - 1);
  const values = randomNumbers(dtype, rows * columns, 5);
  using table = matrixOf(device, dtype, values, [rows, columns], 5);
  using where = vectorOf(device, "int32", index);
  using y = embedding(table, where);
  const isRow = (v: number): boolean => v >= 0 && v < rows;
  const expected = index.flatMap((v) =>
    isRow(v)
      ? values.slice(v * columns, (v + 1) * columns)
      : Array.from<number>({ length: columns }).fill(0)
  );
  assertEquals(numbersOf(y), expected, `embedding of ${table}`);

  // Small whole numbers: sums in float are exact, and rounded once.
  const slopes = randomNumbers(dtype, tokens * columns, 8).map(Math.trunc);
  const { order, start } = orderOf(index, rows);
  using dy = matrixOf(device, dtype, slopes, [tokens, columns], 2);
  using inOrder = vectorOf(device, "int32", order);
  using starts = vectorOf(device, "int32", start);
  using out = matrixOf(device, dtype, values, [rows, columns], 5);
  const dTable = embeddingBackward(dy, inOrder, starts, { out });
  const sums = values.map(() => 0);
  slopes.forEach((slope, i) => {
    const v = at(index, Math.floor(i / columns));
    if (isRow(v)) sums[v * columns + i % columns] = at(sums, v * columns + i % columns) + slope;
  });
  numbersOf(dTable).forEach((found, i) =>
    assertRounded(dtype, found, at(sums, i), 0, () => `gradient of ${table} [${i}]`)
  );
}

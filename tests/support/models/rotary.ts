/** Rotary position embedding and its derivative. */
import { rotary, rotaryBackward } from "../../../generated/rotary.ts";
import type { Device } from "../../../ffi/mod.ts";
import { randomNumbers, stridedOf, vectorOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";
import { assertWithin, at, type Expected, type ModelFloat } from "./compare.ts";

/** rotary() of tokens at random positions, and its derivative, which turns back. */
export function checkRotary(
  device: Device,
  dtype: ModelFloat,
  [tokens, heads, half]: readonly [tokens: number, heads: number, half: number],
): void {
  const known = 37;
  const random = freshRandom();
  const positions = Array.from({ length: tokens }, () => random.below(known));
  const values = randomNumbers(dtype, tokens * heads * 2 * half, 3);
  const [cosines, sines] = [
    randomNumbers("float32", known * half, 1),
    randomNumbers("float32", known * half, 1),
  ];
  using x = stridedOf(device, dtype, values, [tokens, heads, 2 * half]);
  using cos = stridedOf(device, "float32", cosines, [known, half]);
  using sin = stridedOf(device, "float32", sines, [known, half]);
  using where = vectorOf(device, "int32", positions);
  for (const [turn, sense] of [[rotary, 1], [rotaryBackward, -1]] as const) {
    using y = turn(x, cos, sin, where);
    const expected = values.map((value, i): Expected => {
      const [inHead, head] = [i % (2 * half), Math.floor(i / (2 * half))];
      const pair = inHead % half;
      const other = at(values, i + (inHead < half ? half : -half));
      const angle = at(positions, Math.floor(head / heads)) * half + pair;
      const [c, s] = [at(cosines, angle), at(sines, angle) * sense * (inHead < half ? -1 : 1)];
      return [value * c + other * s, Math.abs(value * c) + Math.abs(other * s)];
    });
    assertWithin(y, expected, `${sense < 0 ? "derivative of " : ""}rotary of ${x}`);
  }
}

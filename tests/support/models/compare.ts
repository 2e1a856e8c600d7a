/** Every element within its own bound, which its magnitudes give. */
import type { Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../assert.ts";
import { assertRounded, type FloatType } from "../bounds.ts";
import { numbersOf } from "../numbers.ts";

/** Element types of the kernels: what they compute in is float. */
export type ModelFloat = "float32" | "float16" | "bfloat16";

/** An exact result, and the sum of magnitudes of what it was added up from. */
export type Expected = readonly [exact: number, magnitude: number];

/** Some operations in float, with functions that are right to a few units: 2^-19 of the magnitudes. */
const STEPS = 2 ** -19;

/** The element of a list that is there. */
export const at = <T>(list: readonly T[], i: number): T => must(list[i], "element");

/** Fails at the first element that is not the rounding of a number within the bound. */
export function assertWithin(tensor: Tensor, expected: readonly Expected[], what: string): void {
  const found = numbersOf(tensor);
  assertEquals(found.length, expected.length, what);
  const type: FloatType = must(
    (["float16", "bfloat16", "float32", "float64"] as const).find((one) => one === tensor.dtype),
    "a float type",
  );
  expected.forEach(([exact, magnitude], i) =>
    assertRounded(
      type,
      at(found, i),
      exact,
      magnitude * STEPS + 2 ** -140,
      () => `${what}[${i}]`,
    )
  );
}

import { decode, encode } from "./typed_arrays.ts";
import { assert, assertEquals, assertThrows } from "./assert.ts";
import { assertRounded, type FloatType, isRoundingOf, roundingError } from "./bounds.ts";
import fc from "./property.ts";
import { freshRandom } from "./random.ts";
import { nextSeed, SEED } from "./seed.ts";

const TYPES: readonly FloatType[] = ["float16", "bfloat16", "float32", "float64"];
const LEAST: Readonly<Record<FloatType, number>> = {
  float16: 2 ** -24,
  bfloat16: 2 ** -133,
  float32: 2 ** -149,
  float64: 2 ** -1074,
};

const rounded = (type: FloatType, value: number): number =>
  Number(decode(type, encode(type, [value]))[0]);

const anyDouble = fc.double({ noNaN: true });

Deno.test("isRoundingOf() takes the rounding of every double and of its neighbourhood", () => {
  for (const type of TYPES) {
    fc.assert(fc.property(anyDouble, fc.double({ noNaN: true, min: 0, max: 1e-3 }), (x, part) => {
      assert(isRoundingOf(type, rounded(type, x), x, 0), `${type} ${x}`);
      if (!Number.isFinite(x)) return;
      const error = Math.abs(x) * part;
      assert(isRoundingOf(type, rounded(type, x + error), x, error), `${type} ${x} + ${error}`);
    }));
  }
});

Deno.test("isRoundingOf() refuses the next number of the type, subnormal numbers and infinities too", () => {
  for (const type of TYPES) {
    const least = LEAST[type];
    assert(!isRoundingOf(type, 2 * least, 0.7 * least, 0), type);
    assert(isRoundingOf(type, least, 0.7 * least, 0), type);
    assert(!isRoundingOf(type, Infinity, 1, 1e-3), type);
    assert(!isRoundingOf(type, NaN, 1, 1), type);
    assert(isRoundingOf(type, NaN, NaN, 1), type);
  }
  assert(isRoundingOf("float16", Infinity, 65520, 0), "65520 rounds to an infinity");
  assert(!isRoundingOf("float16", Infinity, 65519, 0), "65519 rounds to 65504");
  assert(isRoundingOf("float16", Infinity, 65519, 2), "65519 ± 2 may");
});

Deno.test("roundingError() bounds one rounding of any double", () => {
  for (const type of TYPES) {
    fc.assert(fc.property(fc.double({ noNaN: true, min: -6e4, max: 6e4 }), (x) => {
      assert(Math.abs(rounded(type, x) - x) <= roundingError(type, Math.abs(x)), `${type} ${x}`);
    }));
  }
});

Deno.test("assertRounded() names what differs, and wants integers exact", () => {
  assertRounded("integer", 5, 5, 0, () => "sum");
  const error = assertThrows(() => assertRounded("integer", 5, 6, 3, () => "sum [1]"));
  assert(error.message.includes("sum [1]: 5 instead of 6"), error.message);
});

const drawn: number[][] = [];
for (const nth of [1, 2]) {
  Deno.test(`nextSeed() gives each test the same seeds, ${nth} of 2`, () => {
    drawn.push([nextSeed(), nextSeed(), freshRandom().below(2 ** 31)]);
    assertEquals(drawn.at(-1), drawn[0]);
    assert(drawn[0]?.[0] !== drawn[0]?.[1], `seed ${SEED}`);
  });
}

import { ArgumentError } from "../../../ffi/errors.ts";
import { cdiv, exact, nextPow2, quotient, remainder } from "../../../ffi/kernel/arithmetic.ts";
import fc from "../../support/property.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";

const integer = fc.maxSafeInteger();
const divisor = fc.oneof(integer, fc.integer({ min: -1000, max: 1000 })).filter((value) =>
  value !== 0
);

Deno.test("quotient() and remainder() agree with exact integers", () => {
  fc.assert(fc.property(integer, divisor, (a, b) => {
    assertEquals(quotient(a, b) + 0, Number(BigInt(a) / BigInt(b)));
    assertEquals(remainder(a, b) + 0, Number(BigInt(a) % BigInt(b)));
  }));
});

Deno.test("cdiv() rounds up, exactly", () => {
  fc.assert(fc.property(integer, divisor, (a, b) => {
    const [x, y] = [BigInt(a), BigInt(b)];
    const up = x % y !== 0n && (x < 0n) === (y < 0n) ? x / y + 1n : x / y;
    assertEquals(cdiv(a, b) + 0, Number(up));
  }));
});

Deno.test("nextPow2() gives the least power that is enough", () => {
  assertEquals([-3, 0, 1, 2, 3, 4, 1000, 2 ** 40 + 1].map(nextPow2), [
    1,
    1,
    1,
    2,
    4,
    4,
    1024,
    2 ** 41,
  ]);
});

Deno.test("exact() stops at 2^52 and at what is no number", () => {
  assertEquals(exact(2 ** 52), 2 ** 52);
  for (const value of [2 ** 52 + 1, -(2 ** 53), Infinity, NaN]) {
    assertThrows(() => exact(value), ArgumentError, "2^52");
  }
});

Deno.test("remainder() refuses zero as a divisor, and so do those built on it", () => {
  for (const divide of [remainder, quotient, cdiv]) {
    assertThrows(() => divide(7, 0), ArgumentError, "7 divided by 0");
  }
});

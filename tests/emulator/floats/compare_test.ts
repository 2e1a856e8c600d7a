import { floatComparison } from "../../../emulator/floats/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { compare, decodeReal } from "../../support/emulator/exact_float.ts";
import { LAYOUTS } from "../../support/emulator/float_operands.ts";

const ORDERED: Readonly<Record<string, (order: number) => boolean>> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

/** Zeros, a subnormal number, 1 and its successor, infinity, NaN; each with both signs. */
const VALUES = {
  f16: [0n, 1n, 0x3c00n, 0x3c01n, 0x7c00n, 0x7e00n],
  bf16: [0n, 1n, 0x3f80n, 0x3f81n, 0x7f80n, 0x7fc0n],
  f32: [0n, 1n, 0x3f800000n, 0x3f800001n, 0x7f800000n, 0x7fc00000n],
  f64: [0n, 1n, 0x3ff0000000000000n, 0x3ff0000000000001n, 0x7ff0000000000000n, 0x7ff8000000000000n],
} as const;

for (const [type, magnitudes] of Object.entries(VALUES)) {
  if (type !== "f16" && type !== "bf16" && type !== "f32" && type !== "f64") continue;
  Deno.test(`floatComparison() compares ${type} as the ISA's tables say`, () => {
    const layout = LAYOUTS[type] ?? { exponentBits: 0, mantissaBits: 0 };
    const sign = 1n << BigInt(layout.exponentBits + layout.mantissaBits);
    const values = magnitudes.flatMap((bits) => [bits, bits | sign]);
    const bitsOf = (bits: bigint): number | bigint => type === "f64" ? bits : Number(bits);
    for (const a of values) {
      for (const b of values) {
        const [x, y] = [decodeReal(layout, a), decodeReal(layout, b)];
        const numbers = x.kind !== "nan" && y.kind !== "nan";
        const holds = (name: string): boolean =>
          floatComparison(type, name, false)(bitsOf(a), bitsOf(b));
        const text = `${a.toString(16)} ${b.toString(16)}`;
        for (const [name, relation] of Object.entries(ORDERED)) {
          const expected = numbers && relation(compare(x, y));
          assertEquals(holds(name), expected, `${name} ${text}`);
          assertEquals(holds(`${name}u`), !numbers || expected, `${name}u ${text}`);
        }
        assertEquals(holds("num"), numbers);
        assertEquals(holds("nan"), !numbers);
      }
    }
  });
}

Deno.test("floatComparison() takes subnormal numbers for zeros with .ftz", () => {
  assertEquals(floatComparison("f32", "eq", false)(1, 0x80000000), false);
  assertEquals(floatComparison("f32", "eq", true)(0x7fffff, 0x80000001), true);
  assertEquals(floatComparison("f32", "eq", true)(0x800000, 0), false);
  assertEquals(floatComparison("f16", "gt", true)(1, 0), false);
  assertEquals(floatComparison("f16", "gt", false)(1, 0), true);
});

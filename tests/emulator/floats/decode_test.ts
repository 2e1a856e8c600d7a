import {
  BF16_TO_F32,
  decode,
  E4M3_TO_F32,
  E5M2_TO_F32,
  F16_TO_F32,
  FORMATS,
} from "../../../emulator/floats/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { decodeReal } from "../../support/emulator/exact_float.ts";
import { LAYOUTS } from "../../support/emulator/float_operands.ts";

/** The value of bits, by exact arithmetic; the value must be a double. */
function reference(layout: (typeof LAYOUTS)[string] | undefined, bits: number): number {
  const real = decodeReal(layout ?? { exponentBits: 1, mantissaBits: 1 }, BigInt(bits));
  if (real.kind === "nan") return NaN;
  const sign = real.negative ? -1 : 1;
  if (real.kind === "infinite") return sign * Infinity;
  return sign * Number(real.numerator) / Number(real.denominator);
}

Deno.test("F16_TO_F32, BF16_TO_F32 and E5M2_TO_F32 hold the value of every bit pattern", () => {
  const tables = { f16: F16_TO_F32, bf16: BF16_TO_F32, e5m2: E5M2_TO_F32 };
  for (const [name, table] of Object.entries(tables)) {
    assertEquals(table.length, name === "e5m2" ? 256 : 65536);
    for (const [bits, value] of table.entries()) {
      assert(Object.is(value, reference(LAYOUTS[name], bits)), `${name} ${bits}: ${value}`);
    }
  }
});

Deno.test("E4M3_TO_F32 has no infinities and one NaN of each sign", () => {
  assertEquals(E4M3_TO_F32[0x7e], 448);
  assertEquals(E4M3_TO_F32[0x78], 256);
  assertEquals(E4M3_TO_F32[0x08], 2 ** -6);
  assertEquals(E4M3_TO_F32[0x01], 2 ** -9);
  assertEquals(E4M3_TO_F32[0xb8], -1);
  const nans = [...E4M3_TO_F32.entries()].filter(([, value]) => Number.isNaN(value));
  assertEquals(nans.map(([bits]) => bits), [0x7f, 0xff]);
  assert(E4M3_TO_F32.every((value) => Math.abs(value) !== Infinity));
});

Deno.test("decode() decodes the formats of 4 and 6 bits, and scales", () => {
  const all = (format: "e2m1" | "e2m3" | "e3m2"): number[] =>
    Array.from(
      { length: Number(FORMATS[format].max) + 1 },
      (_, bits) => decode(FORMATS[format], bits),
    );
  assertEquals(all("e2m1"), [0, 0.5, 1, 1.5, 2, 3, 4, 6]);
  assertEquals(all("e2m3").slice(0, 10), [
    0,
    0.125,
    0.25,
    0.375,
    0.5,
    0.625,
    0.75,
    0.875,
    1,
    1.125,
  ]);
  assertEquals(all("e2m3").at(-1), 7.5);
  assertEquals(all("e3m2").at(-1), 28);
  assertEquals(all("e3m2")[1], 0.0625);
  assertEquals(decode(FORMATS.e2m1, 0xf), -6);
  assertEquals([0, 127, 254].map((bits) => decode(FORMATS.ue8m0, bits)), [2 ** -127, 1, 2 ** 127]);
  assert(Number.isNaN(decode(FORMATS.ue8m0, 255)));
});

Deno.test("decode() reads singles, doubles and tf32", () => {
  assertEquals(decode(FORMATS.f32, 0x40490fdb), Math.fround(Math.PI));
  assertEquals(decode(FORMATS.f32, 0xff800000), -Infinity);
  assertEquals(decode(FORMATS.f64, 0x400921fb54442d18n), Math.PI);
  assertEquals(decode(FORMATS.tf32, 0x3fc00000), 1.5);
  assert(Object.is(decode(FORMATS.f32, 0x80000000), -0));
});

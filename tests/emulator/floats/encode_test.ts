import fc from "../../support/property.ts";
import {
  decode,
  encode,
  encoder,
  type FormatName,
  FORMATS,
  type Rounding,
  roundToBf16,
  roundToF16,
  roundToTf32,
} from "../../../emulator/floats/mod.ts";
import { exactOf } from "../../../emulator/floats/exact.ts";
import { assertEquals } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

const ROUNDINGS: readonly Rounding[] = ["rn", "rz", "rm", "rp", "rna"];
const NARROW: readonly FormatName[] = ["f16", "bf16", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1"];

/** Magnitudes of all finite numbers of a format, in order. */
function magnitudes(name: FormatName): number[] {
  const { max } = FORMATS[name];
  return Array.from({ length: Number(max) + 1 }, (_, bits) => decode(FORMATS[name], bits));
}

Deno.test("encoder() gives back the bits of every number of every narrow format", () => {
  for (const name of NARROW) {
    const values = magnitudes(name);
    const sign = 2 ** (FORMATS[name].bits - 1);
    for (const rounding of ROUNDINGS) {
      const encodeNumber = encoder(FORMATS[name], rounding);
      assertEquals(values.every((value, bits) => encodeNumber(value) === bits), true);
      assertEquals(values.every((value, bits) => encodeNumber(-value) === bits + sign), true);
    }
  }
});

test("encoder() takes the neighbour that the rounding says, between all numbers", () => {
  const up: Readonly<
    Record<Rounding, (bits: number) => [low: number, half: number, high: number]>
  > = {
    rn: (bits) => [0, bits & 1, 1],
    rna: () => [0, 1, 1],
    rz: () => [0, 0, 0],
    rm: () => [0, 0, 0],
    rp: () => [1, 1, 1],
  };
  for (const name of NARROW) {
    const values = magnitudes(name);
    for (const rounding of ROUNDINGS) {
      const encodeNumber = encoder(FORMATS[name], rounding);
      for (const [bits, value] of values.entries()) {
        const next = values[bits + 1];
        if (next === undefined) continue;
        const half = (value + next) / 2;
        const tiny = (next - value) * 2 ** -30;
        const found = [half - tiny, half, half + tiny].map((each) => encodeNumber(each) - bits);
        assertEquals(found, up[rounding](bits), `${name} ${rounding} ${bits}`);
      }
    }
  }
});

Deno.test("encoder() overflows as the rounding says, or saturates", () => {
  const infinity = 0x7c00;
  const expected: Readonly<Record<Rounding, readonly [above: number, below: number]>> = {
    rn: [infinity, 0xfc00],
    rna: [infinity, 0xfc00],
    rz: [0x7bff, 0xfbff],
    rm: [0x7bff, 0xfc00],
    rp: [infinity, 0xfbff],
  };
  for (const rounding of ROUNDINGS) {
    const plain = encoder(FORMATS.f16, rounding);
    for (const size of [65520, 70000, 1e300]) {
      assertEquals([plain(size), plain(-size)], [...expected[rounding]]);
    }
    assertEquals([plain(Infinity), plain(-Infinity)], [infinity, 0xfc00]);
    const saturating = encoder(FORMATS.f16, rounding, true);
    for (const size of [65520, 1e300, Infinity]) {
      assertEquals([saturating(size), saturating(-size)], [0x7bff, 0xfbff]);
    }
  }
  assertEquals(encoder(FORMATS.e4m3, "rn", true)(460), 0x7e);
  assertEquals(encoder(FORMATS.e2m1, "rn", true)(-100), 0xf);
});

Deno.test("encoder() makes the NaN of the format, or its largest number if it has none", () => {
  const nans = { f16: 0x7fff, bf16: 0x7fff, tf32: 0x7fffe000, f32: 0x7fffffff, e5m2: 0x7f }; // deno-fmt-ignore
  for (const [name, nan] of Object.entries({ ...nans, e4m3: 0x7f, ue8m0: 0xff, e2m1: 7 })) {
    const format = Object.values(FORMATS).find((each) => each.name === name) ?? FORMATS.f64;
    assertEquals(encoder(format, "rn", true)(NaN), nan, name);
  }
});

Deno.test("encoder() of ue8m0 keeps exponents of magnitudes", () => {
  const down = encoder(FORMATS.ue8m0, "rz", true);
  const up = encoder(FORMATS.ue8m0, "rp", true);
  assertEquals([down(0), down(2 ** -149), down(-1.5), down(1.5)], [0, 0, 127, 127]);
  assertEquals([up(0), up(2 ** -127), up(2 ** -127 * 1.25), up(-1.5), up(2)], [0, 0, 1, 128, 128]);
  assertEquals([down(Infinity), up(2 ** 127 * 1.5)], [0xfe, 0xfe]);
  assertEquals(encoder(FORMATS.ue8m0, "rp", false)(2 ** 127 * 1.5), 0xff);
  for (let bits = 0; bits < 255; bits++) assertEquals(down(decode(FORMATS.ue8m0, bits)), bits);
});

Deno.test("encode() of an exact number agrees with encode() of the same double", () => {
  const names: readonly FormatName[] = [...NARROW, "f32", "tf32"];
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value !== 0),
      fc.double({ min: -1000, max: 1000, noNaN: true }).filter((value) => value !== 0),
      fc.constantFrom(...names),
      fc.constantFrom(...ROUNDINGS),
      fc.boolean(),
      (wild, tame, name, rounding, saturate) => {
        for (const value of [wild, tame]) {
          const [format, exact] = [FORMATS[name], exactOf(value)];
          // The one rounding that the encoder of singles does not have, nor saturation.
          if (name === "f32" && (rounding === "rna" || saturate)) continue;
          assertEquals(
            encode(format, exact, rounding, saturate),
            encode(format, value, rounding, saturate),
            `${name} ${rounding} ${value}`,
          );
        }
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("roundToF16(), roundToBf16() and roundToTf32() round doubles once", () => {
  // Just above half-way between two numbers, by less than single precision can say.
  assertEquals(roundToF16(1 + 2 ** -11 + 2 ** -40), 0x3c01);
  assertEquals(roundToF16(1 + 2 ** -11), 0x3c00);
  assertEquals(roundToBf16(1 + 2 ** -8 + 2 ** -40), 0x3f81);
  assertEquals(roundToBf16(-1 - 2 ** -8), 0xbf80);
  assertEquals(roundToTf32(1 + 2 ** -11 + 2 ** -40), 0x3f802000);
  assertEquals(roundToF16(2 ** -25), 0);
  assertEquals(roundToF16(2 ** -25 * 1.0001), 1);
});

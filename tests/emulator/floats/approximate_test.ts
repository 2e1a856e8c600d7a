import fc from "../../support/property.ts";
import { FORMATS } from "../../../emulator/floats/formats.ts";
import { decode } from "../../../emulator/floats/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  cosine,
  exp2,
  hyperbolicTangent,
  log2,
  sine,
  toFixed,
  toNumber,
} from "../../support/emulator/fixed.ts";
import { instruction } from "../../support/emulator/float_run.ts";

const view = new DataView(new ArrayBuffer(8));
function bitsOf(value: number): bigint {
  view.setFloat32(0, value);
  return BigInt(view.getUint32(0));
}
function bitsOfDouble(value: number): bigint {
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}
const single = (bits: bigint): number => decode(FORMATS.f32, Number(bits));

const NAN = 0x7fffffffn;
const INF = 0x7f800000n;
const MINUS_INF = 0xff800000n;
const ZERO = 0n;
const MINUS_ZERO = 0x80000000n;
const ONE = 0x3f800000n;
const MINUS_ONE = 0xbf800000n;
const TINY = 1n;
const MINUS_TINY = 0x80000001n;

/** The tables of special values in the ISA; for subnormal inputs with `.ftz`. */
const SPECIAL: Readonly<Record<string, readonly (readonly [input: bigint, result: bigint])[]>> = {
  rcp: [[MINUS_INF, MINUS_ZERO], [MINUS_ZERO, MINUS_INF], [ZERO, INF], [INF, ZERO], [NAN, NAN]],
  sqrt: [
    [MINUS_INF, NAN],
    [MINUS_ONE, NAN],
    [MINUS_ZERO, MINUS_ZERO],
    [ZERO, ZERO],
    [INF, INF],
    [NAN, NAN],
  ],
  rsqrt: [
    [MINUS_INF, NAN],
    [MINUS_ONE, NAN],
    [MINUS_ZERO, MINUS_INF],
    [ZERO, INF],
    [INF, ZERO],
    [NAN, NAN],
  ],
  sin: [[MINUS_INF, NAN], [MINUS_ZERO, MINUS_ZERO], [ZERO, ZERO], [INF, NAN], [NAN, NAN]],
  cos: [[MINUS_INF, NAN], [MINUS_ZERO, ONE], [ZERO, ONE], [INF, NAN], [NAN, NAN]],
  lg2: [
    [MINUS_INF, NAN],
    [MINUS_ONE, NAN],
    [MINUS_ZERO, MINUS_INF],
    [ZERO, MINUS_INF],
    [INF, INF],
    [NAN, NAN],
  ],
  ex2: [[MINUS_INF, ZERO], [MINUS_ZERO, ONE], [ZERO, ONE], [INF, INF], [NAN, NAN]],
};

for (const [opcode, table] of Object.entries(SPECIAL)) {
  Deno.test(`${opcode}.approx gives the special values of the ISA's table`, () => {
    const plain = instruction(`${opcode}.approx.f32`);
    const flushing = instruction(`${opcode}.approx.ftz.f32`);
    for (const [input, result] of table) {
      assertEquals(plain(input), result);
      assertEquals(flushing(input), result);
    }
    // Subnormal numbers are zeros of their sign, if they are flushed.
    assertEquals(flushing(TINY), flushing(ZERO));
    assertEquals(flushing(MINUS_TINY), flushing(MINUS_ZERO));
  });
}

Deno.test("ex2.approx keeps subnormal results unless they are flushed", () => {
  assertEquals(instruction("ex2.approx.f32")(bitsOf(-140)), 512n);
  assertEquals(instruction("ex2.approx.ftz.f32")(bitsOf(-140)), 0n);
  assertEquals(instruction("lg2.approx.f32")(TINY), bitsOf(-149));
});

Deno.test("tanh.approx saturates, and passes on zeros", () => {
  const tanh = instruction("tanh.approx.f32");
  const table = [[MINUS_INF, MINUS_ONE], [INF, ONE], [MINUS_ZERO, MINUS_ZERO], [NAN, NAN]] as const;
  for (const [input, result] of table) assertEquals(tanh(input), result);
  assertEquals(tanh(TINY), TINY);
});

/** A single between bounds, to any precision. */
function between(least: number, most: number): fc.Arbitrary<number> {
  return fc.double({ min: least, max: most, noNaN: true }).map(Math.fround)
    .filter((value) => Math.abs(value) > 2 ** -40 || value === 0);
}

function checkError(
  name: string,
  inputs: fc.Arbitrary<number>,
  reference: (x: bigint) => bigint,
  bound: number,
  kind: "absolute" | "relative",
): void {
  const run = instruction(name);
  fc.assert(
    fc.property(inputs, (x) => {
      const exact = reference(toFixed(x));
      const got = single(run(bitsOf(x)));
      const error = Math.abs(toNumber(toFixed(got) - exact));
      const scale = kind === "relative" ? Math.abs(toNumber(exact)) : 1;
      assert(error <= bound * scale, `${name} ${x}: ${got} is off by ${error}`);
    }),
    { numRuns: 300 },
  );
}

Deno.test("sin.approx and cos.approx are as precise as the ISA says", () => {
  const turn = 2 * Math.PI;
  for (const [name, reference] of [["sin", sine], ["cos", cosine]] as const) {
    checkError(`${name}.approx.f32`, between(-turn, turn), reference, 2 ** -20.5, "absolute");
    checkError(
      `${name}.approx.f32`,
      between(-50 * turn, 50 * turn),
      reference,
      2 ** -14.7,
      "absolute",
    );
  }
});

Deno.test("ex2.approx and lg2.approx are as precise as the ISA says", () => {
  // 2 units in the last place of a number whose last place is the largest in relation.
  checkError("ex2.approx.f32", between(-60, 60), exp2, 2 * 2 ** -24, "relative");
  checkError("lg2.approx.f32", between(0.5, 2).filter((x) => x > 0), log2, 2 ** -22, "absolute");
  checkError("lg2.approx.f32", between(2, 1e9), log2, 2 ** -22, "relative");
});

Deno.test("tanh.approx is as precise as the ISA says", () => {
  const inputs = between(-12, 12).filter((x) => x !== 0);
  checkError("tanh.approx.f32", inputs, hyperbolicTangent, 2 ** -11, "relative");
});

/** All numbers of a narrow format with their bits. */
function all(format: "f16" | "bf16"): (readonly [bits: bigint, value: number])[] {
  return Array.from(
    { length: 65536 },
    (_, bits) => [BigInt(bits), decode(FORMATS[format], bits)] as const,
  );
}

Deno.test("ex2.approx and tanh.approx are as precise in narrow formats as the ISA says", () => {
  const bounds = [
    { format: "f16", ex2: "ex2.approx.f16", relative: 2 ** -9.9, absolute: 2 ** -10.987 },
    { format: "bf16", ex2: "ex2.approx.ftz.bf16", relative: 2 ** -7, absolute: 2 ** -8 },
  ] as const;
  for (const { format, ex2, relative, absolute } of bounds) {
    const power = instruction(ex2);
    const tanh = instruction(`tanh.approx.${format}`);
    const value = (bits: bigint): number => decode(FORMATS[format], bits);
    const least = 2 ** (1 - FORMATS[format].bias);
    for (const [bits, x] of all(format)) {
      const exact = 2 ** x;
      if (exact >= least && exact < 60000) {
        assert(Math.abs(value(power(bits)) - exact) <= relative * exact, `${ex2} ${x}`);
      }
      if (x === x) assert(Math.abs(value(tanh(bits)) - Math.tanh(x)) <= absolute, `tanh ${x}`);
    }
  }
});

Deno.test("rcp.approx, sqrt.approx and rsqrt.approx round to the nearest single", () => {
  const any = fc.double({ min: 2 ** -125, max: 2 ** 125, noNaN: true }).map(Math.fround);
  const cases = [
    ["rcp.approx.f32", (x: number): number => 1 / x],
    ["sqrt.approx.f32", (x: number): number => Math.sqrt(x)],
    ["rsqrt.approx.f32", (x: number): number => 1 / Math.sqrt(x)],
  ] as const;
  for (const [name, reference] of cases) {
    const run = instruction(name);
    fc.assert(
      fc.property(any, (x) => assertEquals(single(run(bitsOf(x))), Math.fround(reference(x)))),
    );
  }
});

Deno.test("div.approx gives zeros for large divisors, NaN for infinity by them", () => {
  const divide = instruction("div.approx.f32");
  const full = instruction("div.full.f32");
  const large = bitsOf(-(2 ** 126) * 1.5);
  assertEquals(divide(ONE, large), MINUS_ZERO);
  assertEquals(divide(MINUS_ONE, large), ZERO);
  assertEquals(divide(INF, large), NAN);
  assertEquals(full(INF, large), MINUS_INF);
  assertEquals(single(full(bitsOf(2 ** 100), large)), Math.fround(2 ** 100 / single(large)));
  assertEquals(single(divide(ONE, bitsOf(2 ** 126))), 2 ** -126);
  assertEquals(single(divide(bitsOf(6), bitsOf(-4))), -1.5);
});

Deno.test("rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 are of high words", () => {
  const rcp = instruction("rcp.approx.ftz.f64");
  const rsqrt = instruction("rsqrt.approx.ftz.f64");
  const special = [
    [0xfff0000000000000n, 0x8000000000000000n],
    [0x8000000000000001n, 0xfff0000000000000n],
    [0x0000000000000001n, 0x7ff0000000000000n],
    [0x7ff0000000000000n, 0n],
    [0x7ff8000000000000n, 0x7fffffff00000000n],
  ] as const;
  for (const [input, result] of special) assertEquals(rcp(input), result);
  assertEquals(rcp(bitsOfDouble(2 ** 1023)), 0n);
  assertEquals(rsqrt(bitsOfDouble(-1)), 0x7fffffff00000000n);
  assertEquals(rsqrt(0x800fffffffffffffn), 0xfff0000000000000n);
  fc.assert(
    fc.property(fc.double({ min: 2 ** -500, max: 2 ** 500, noNaN: true }), (x) => {
      const bits = bitsOfDouble(x);
      for (const [run, exponent] of [[rcp, -1], [rsqrt, -0.5]] as const) {
        const result = run(bits);
        assertEquals(result & 0xffffffffn, 0n);
        const exact = decode(FORMATS.f64, bits & 0xffffffff00000000n) ** exponent;
        assert(Math.abs(decode(FORMATS.f64, result) / exact - 1) <= 2 ** -20);
      }
    }),
  );
});

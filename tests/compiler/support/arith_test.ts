import fc from "../../support/property.ts";
import {
  bitcastScalar,
  convertScalar,
  evalBinary,
  evalUnary,
  intRange,
  isLossless,
  leastCommonMultiple,
  roundFloat,
  type ScalarValue,
  wrapInt,
} from "../../../compiler/support/arith.ts";
import { floatBits, floatFromBits } from "../../../compiler/support/float.ts";
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** Typed arrays wrap, sign and round as the hardware does. */
const STORES: Partial<Record<ScalarName, (value: bigint) => bigint>> = {
  int8: (value) => BigInt(must(new Int8Array([Number(BigInt.asIntN(32, value))])[0])),
  uint8: (value) => BigInt(must(new Uint8Array([Number(BigInt.asIntN(32, value))])[0])),
  int16: (value) => BigInt(must(new Int16Array([Number(BigInt.asIntN(32, value))])[0])),
  uint16: (value) => BigInt(must(new Uint16Array([Number(BigInt.asIntN(32, value))])[0])),
  int32: (value) => BigInt(must(new Int32Array([Number(BigInt.asIntN(32, value))])[0])),
  uint32: (value) => BigInt(must(new Uint32Array([Number(BigInt.asIntN(32, value))])[0])),
  int64: (value) => must(new BigInt64Array([value])[0]),
  uint64: (value) => must(new BigUint64Array([value])[0]),
};
const INTS = Object.keys(STORES).filter(isScalar);
const FLOATS: readonly ScalarName[] = [
  "float8e4",
  "float8e5",
  "float16",
  "bfloat16",
  "float32",
  "float64",
];

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("missing");
  return value;
}
function isScalar(name: string): name is ScalarName {
  return name in SCALARS;
}
const same = (a: unknown, b: unknown): boolean => Object.is(a, b);

/** Any pattern of 64 bits as a double: all magnitudes, both zeros, infinities, NaN. */
const anyDouble = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((bits) =>
  must(new Float64Array(new BigUint64Array([bits]).buffer)[0])
);
const smallDouble = fc.tuple(
  fc.integer({ min: -(2 ** 26), max: 2 ** 26 }),
  fc.integer({ min: -40, max: 20 }),
).map(([m, e]) => m * 2 ** e);
const double = fc.oneof(anyDouble, smallDouble);
const intsOf = (type: ScalarName): fc.Arbitrary<bigint> => {
  const [min, max] = intRange(type);
  return fc.oneof(
    fc.bigInt({ min, max }),
    fc.constantFrom(min, max, 0n, 1n),
    fc.bigInt({ min: 0n, max: 70n }),
  );
};
const intCase = fc.constantFrom(...INTS).chain((type) =>
  fc.tuple(fc.constant(type), intsOf(type), intsOf(type))
);

Deno.test("wrapInt() keeps the low bits as typed arrays do", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...INTS),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      (type, value) => {
        assertEquals(wrapInt(value, type), must(STORES[type])(value));
      },
    ),
  );
});

Deno.test("evalBinary() wraps sums, differences and products", () => {
  fc.assert(fc.property(intCase, ([type, a, b]) => {
    const store = must(STORES[type]);
    assertEquals(evalBinary("add", type, a, b), store(a + b));
    assertEquals(evalBinary("sub", type, a, b), store(a - b));
    assertEquals(evalBinary("mul", type, a, b), store(a * b));
  }));
});

Deno.test("evalBinary() divides towards zero, and the rest has the sign of the dividend", () => {
  fc.assert(fc.property(intCase, ([type, a, b]) => {
    const [quotient, rest] = [evalBinary("div", type, a, b), evalBinary("rem", type, a, b)];
    if (b === 0n) return assert(quotient === undefined && rest === undefined);
    if (typeof quotient !== "bigint" || typeof rest !== "bigint") throw new Error("no integer");
    assertEquals(wrapInt(quotient * b + rest, type), a);
    assert(rest === 0n || (rest < 0n) === (a < 0n));
    const [r, d] = [rest < 0n ? -rest : rest, b < 0n ? -b : b];
    assert(r < d);
  }));
  assertEquals(evalBinary("div", "int32", -(2n ** 31n), -1n), -(2n ** 31n));
  assertEquals(evalBinary("rem", "int32", -(2n ** 31n), -1n), 0n);
});

Deno.test("evalBinary() shifts bit by bit, with counts beyond the width", () => {
  fc.assert(fc.property(intCase, fc.integer({ min: 0, max: 130 }), ([type, a], count) => {
    let [left, right] = [a, a];
    for (let i = 0; i < count; i++) {
      left = wrapInt(left * 2n, type);
      right = (right - (((right % 2n) + 2n) % 2n)) / 2n;
    }
    assertEquals(evalBinary("shl", type, a, BigInt(count)), left);
    assertEquals(evalBinary("shr", type, a, BigInt(count)), right);
  }));
});

Deno.test("evalBinary() reads a negative shift count as a large one", () => {
  assertEquals(evalBinary("shl", "int32", 5n, -1n), 0n);
  assertEquals(evalBinary("shr", "int32", -5n, -1n), -1n);
  assertEquals(evalBinary("shr", "uint32", 5n, -1n), 0n);
});

Deno.test("evalBinary() of float rounds to single precision as Math.fround of the exact result does", () => {
  fc.assert(fc.property(double, double, (x, y) => {
    const [a, b] = [Math.fround(x), Math.fround(y)];
    const rules = { add: a + b, sub: a - b, mul: a * b, div: a / b } as const;
    assert(same(evalBinary("add", "float32", a, b), Math.fround(rules.add)));
    assert(same(evalBinary("sub", "float32", a, b), Math.fround(rules.sub)));
    assert(same(evalBinary("mul", "float32", a, b), Math.fround(rules.mul)));
    assert(same(evalBinary("div", "float32", a, b), Math.fround(rules.div)));
  }));
});

Deno.test("evalBinary() lets numbers win over NaN and orders -0 below 0", () => {
  assertEquals(evalBinary("min", "float32", NaN, 1), 1);
  assertEquals(evalBinary("max", "float32", 1, NaN), 1);
  assert(same(evalBinary("min", "float32", 0, -0), -0));
  assert(same(evalBinary("max", "float32", -0, 0), 0));
});

Deno.test("evalBinary() compares NaN unequal to everything", () => {
  for (const operator of ["lt", "le", "gt", "ge", "eq"] as const) {
    assertEquals(evalBinary(operator, "float32", NaN, NaN), 0n);
  }
  assertEquals(evalBinary("ne", "float32", NaN, NaN), 1n);
});

Deno.test("evalUnary() negates bool logically and integers bitwise", () => {
  assertEquals(evalUnary("not", "bool", 1n), 0n);
  assertEquals(evalUnary("not", "int32", 0n), -1n);
  assertEquals(evalUnary("not", "uint8", 1n), 254n);
  assertEquals(evalUnary("neg", "int8", -128n), -128n);
  assert(same(evalUnary("neg", "float32", 0), -0));
});

/** All finite values of a small format with their bits, from the definition of the format. */
function valuesOf(
  exponentBits: number,
  fractionBits: number,
  bias: number,
  last: number,
): { bits: number; value: number }[] {
  return Array.from({ length: last + 1 }, (_, bits) => {
    const field = bits >> fractionBits;
    const fraction = bits % 2 ** fractionBits;
    const value = field === 0
      ? fraction * 2 ** (1 - bias - fractionBits)
      : (2 ** fractionBits + fraction) * 2 ** (field - bias - fractionBits);
    assert(field < 2 ** exponentBits);
    return { bits, value };
  });
}

const SMALL: readonly {
  type: ScalarName;
  values: { bits: number; value: number }[];
  saturates: boolean;
}[] = [
  { type: "float8e4", values: valuesOf(4, 3, 7, 0x7e), saturates: true },
  { type: "float8e5", values: valuesOf(5, 2, 15, 0x7b), saturates: true },
  { type: "float16", values: valuesOf(5, 10, 15, 0x7bff), saturates: false },
  { type: "bfloat16", values: valuesOf(8, 7, 127, 0x7f7f), saturates: false },
];

Deno.test("roundFloat() gives the nearest value of a narrow format, ties to the even one", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SMALL),
      double.filter((x) => Number.isFinite(x) && x !== 0),
      ({ type, values, saturates }, x) => {
        const magnitude = Math.abs(x);
        const largest = must(values.at(-1));
        const step = largest.value - must(values.at(-2)).value;
        let expected: number;
        if (magnitude >= largest.value + step / 2) expected = saturates ? largest.value : Infinity;
        else {
          let low = 0;
          for (let high = values.length - 1; low < high;) {
            const middle = Math.ceil((low + high) / 2);
            if (must(values[middle]).value <= magnitude) low = middle;
            else high = middle - 1;
          }
          const [below, above] = [must(values[low]), values[low + 1]];
          const [toBelow, toAbove] = [
            magnitude - below.value,
            (above?.value ?? Infinity) - magnitude,
          ];
          const up = toAbove < toBelow || (toAbove === toBelow && below.bits % 2 === 1);
          expected = up ? must(above).value : below.value;
        }
        assertEquals(roundFloat(x, type), x < 0 ? -expected : expected, `${type} ${x}`);
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("roundFloat() to float is Math.fround", () => {
  fc.assert(fc.property(double, (x) => assert(same(roundFloat(x, "float32"), Math.fround(x)))), {
    numRuns: 1000,
  });
});

Deno.test("roundFloat() keeps zeros, infinities and NaN, and saturates the 8-bit types", () => {
  for (const type of FLOATS) {
    assert(same(roundFloat(-0, type), -0));
    assert(Number.isNaN(roundFloat(NaN, type)));
  }
  assertEquals(roundFloat(Infinity, "float16"), Infinity);
  assertEquals(roundFloat(-Infinity, "float8e4"), -448);
  assertEquals(roundFloat(1e9, "float8e5"), 57344);
});

Deno.test("floatBits() and floatFromBits() agree with the definition of the narrow formats", () => {
  for (const { type, values } of SMALL) {
    const sign = 1n << BigInt(SCALARS[type].bits - 1);
    for (const { bits, value } of values) {
      assertEquals(floatBits(value, type), BigInt(bits));
      assertEquals(floatFromBits(BigInt(bits), type), value);
      assertEquals(floatBits(-value, type), BigInt(bits) | sign);
    }
  }
});

Deno.test("floatBits() and floatFromBits() agree with typed arrays for float and double", () => {
  fc.assert(fc.property(double.filter((x) => !Number.isNaN(x)), (x) => {
    const bits64 = must(new BigUint64Array(new Float64Array([x]).buffer)[0]);
    assertEquals(floatBits(x, "float64"), bits64);
    assert(same(floatFromBits(bits64, "float64"), x));
    const bits32 = BigInt(must(new Uint32Array(new Float32Array([x]).buffer)[0]));
    assertEquals(floatBits(Math.fround(x), "float32"), bits32);
    assert(same(floatFromBits(bits32, "float32"), Math.fround(x)));
  }));
  assert(Number.isNaN(floatFromBits(floatBits(NaN, "float8e4"), "float8e4")));
  assert(Number.isNaN(floatFromBits(floatBits(NaN, "float16"), "float16")));
});

Deno.test("convertScalar() to bool tests for inequality with zero", () => {
  const cases: [ScalarValue, bigint][] = [[0n, 0n], [2n, 1n], [-0, 0n], [0.5, 1n], [NaN, 1n]];
  for (const [value, expected] of cases) assertEquals(convertScalar(value, "bool"), expected);
});

Deno.test("convertScalar() to an integer truncates and saturates, NaN gives 0", () => {
  fc.assert(fc.property(fc.constantFrom(...INTS), double.filter(Number.isFinite), (type, x) => {
    const [min, max] = intRange(type);
    const whole = BigInt(Math.trunc(x));
    assertEquals(convertScalar(x, type), whole < min ? min : whole > max ? max : whole);
  }));
  assertEquals(convertScalar(NaN, "int32"), 0n);
  assertEquals(convertScalar(Infinity, "int8"), 127n);
  assertEquals(convertScalar(-Infinity, "uint64"), 0n);
});

Deno.test("convertScalar() rounds a 64-bit integer to float once", () => {
  // 2^24 + 1 is a tie to even; one bit far below it decides, which rounding to double first would lose.
  const tie = (2n ** 24n + 1n) << 39n;
  assertEquals(convertScalar(tie, "float32"), Number(2n ** 24n << 39n));
  assertEquals(convertScalar(tie + 1n, "float32"), Number((2n ** 24n + 2n) << 39n));
  assertEquals(convertScalar(-tie - 1n, "float32"), -Number((2n ** 24n + 2n) << 39n));
  assertEquals(convertScalar(2n ** 63n, "float16"), Infinity);
});

Deno.test("bitcastScalar() there and back is the same value, and refuses NaN", () => {
  fc.assert(fc.property(intsOf("int32"), (bits) => {
    const float = bitcastScalar(bits, "int32", "float32");
    if (float === undefined) {
      return assert(Number.isNaN(new Float32Array(new Int32Array([Number(bits)]).buffer)[0]));
    }
    assertEquals(bitcastScalar(float, "float32", "int32"), bits);
  }));
  assertEquals(bitcastScalar(0x7f800000n, "int32", "float32"), Infinity);
  assertEquals(bitcastScalar(NaN, "float32", "int32"), undefined);
});

Deno.test("isLossless() is true only where each value survives the way there and back", () => {
  const all: readonly ScalarName[] = Object.keys(SCALARS).filter(isScalar);
  const samples = (type: ScalarName): ScalarValue[] => {
    if (SCALARS[type].class === "float") {
      const tiny = floatFromBits(1n, type);
      return [0, -0, 1, tiny, -tiny, 1 + 2 ** -20].map((x) => roundFloat(x, type)).concat(
        roundFloat(1e300, type) === Infinity ? [Infinity] : [],
      );
    }
    const [min, max] = intRange(type);
    return [min, max, 0n, 1n, max > 2n ? max - 1n : 0n];
  };
  for (const from of all) {
    for (const to of all) {
      if (!isLossless(from, to)) continue;
      for (const value of samples(from)) {
        assert(
          same(convertScalar(convertScalar(value, to), from), value),
          `${from} ${value} through ${to}`,
        );
      }
    }
  }
  assert(
    isLossless("int32", "float64") && !isLossless("int32", "float32") &&
      !isLossless("int32", "uint64"),
  );
  assert(
    isLossless("float8e5", "float16") && !isLossless("bfloat16", "float16") &&
      isLossless("uint8", "int16"),
  );
});

Deno.test("leastCommonMultiple() is exact, or one of the two where a number cannot hold it", () => {
  for (
    const [a, b, least] of [[1, 1, 1], [4, 6, 12], [6, 4, 12], [1, 7, 7], [
      2 ** 31,
      2 ** 20,
      2 ** 31,
    ]] as const
  ) {
    assertEquals(leastCommonMultiple(a, b), least);
  }
  // Odd factors whose product, rounded to 53 bits, would be even.
  assertEquals(leastCommonMultiple(3 ** 20, 5 ** 13), 3 ** 20);
  assertEquals(leastCommonMultiple(5 ** 13, 3 ** 20), 3 ** 20);
});

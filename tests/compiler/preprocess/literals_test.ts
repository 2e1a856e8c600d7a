import fc from "../../support/property.ts";
import type { FloatName } from "../../../compiler/preprocess/decimal.ts";
import {
  parseChar,
  parseNumber,
  parseString,
  roundDecimal,
} from "../../../compiler/preprocess/literals.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** `value type` of an integer, `digits type` of a float, or the error's code. */
function describe(text: string): string {
  const literal = parseNumber(text);
  if (literal.kind === "error") return literal.code;
  return `${literal.kind === "int" ? literal.value : literal.text} ${literal.type}`;
}

Deno.test("parseNumber() gives integers the first type of their row that fits", () => {
  const cases: Record<string, string> = {
    "0": "0 int32",
    "2147483647": "2147483647 int32",
    "2147483648": "2147483648 int64",
    "9223372036854775808": "E2010",
    "0x7fffffff": "2147483647 int32",
    "0xffffffff": "4294967295 uint32",
    "0x100000000": "4294967296 int64",
    "0xffffffffffffffff": "18446744073709551615 uint64",
    "0x10000000000000000": "E2010",
    "017": "15 int32",
    "00": "0 int32",
    "0b1011": "11 int32",
    "0B11u": "3 uint32",
    "1u": "1 uint32",
    "4294967296U": "4294967296 uint64",
    "1l": "1 int64",
    "1LL": "1 int64",
    "9223372036854775808l": "E2010",
    "0x8000000000000000l": "9223372036854775808 uint64",
    "1ul": "1 uint64",
    "1LLu": "1 uint64",
    "18446744073709551615u": "18446744073709551615 uint64",
    "18446744073709551616u": "E2010",
    "0x1f": "31 int32",
    "0xbf": "191 int32",
  };
  for (const [text, wanted] of Object.entries(cases)) assertEquals(describe(text), wanted, text);
});

Deno.test("parseNumber() leaves floats without suffix weak and keeps their digits", () => {
  const cases: Record<string, string> = {
    "1.0": "1.0 weak",
    "1.": "1. weak",
    ".5": ".5 weak",
    "1e3": "1e3 weak",
    "09.5": "09.5 weak",
    "0x1p-3": "0x1p-3 weak",
    "0x1.8P+1f": "0x1.8P+1 float32",
    "1.5f": "1.5 float32",
    "1e3H": "1e3 float16",
    "1.0bf": "1.0 bfloat16",
    "1.BF": "1. bfloat16",
    "1.0l": "1.0 float64",
    "3.4e38f": "3.4e38 float32",
    "3.5e38f": "E2013",
    "65519.9h": "65519.9 float16",
    "65520.0h": "E2013",
    "1e999": "E2013",
    "1e999999999999999999": "E2013",
    "1e-999999999999999999": "1e-999999999999999999 weak",
  };
  for (const [text, wanted] of Object.entries(cases)) assertEquals(describe(text), wanted, text);
});

Deno.test("parseNumber() rejects wrong digits, suffixes and exponents", () => {
  const e2011 = [
    "1h",
    "1f",
    "1x",
    "0x",
    "0b",
    "0b12",
    "0b2",
    "1.0x",
    "1e",
    "1e+",
    "0x1.8",
    "0x1p",
    "1.2.3",
    "1_000",
  ];
  for (const text of [...e2011, "1uu", "1lll", "1ulu", "0xg", "1.0u", "1.0toString"]) {
    assertEquals(describe(text), "E2011", text);
  }
  for (const text of ["08", "0129", "09u"]) assertEquals(describe(text), "E2012", text);
  const literal = parseNumber("1h");
  assertEquals(literal.kind === "error" ? literal.hint : "", "write `1.0h`");
});

Deno.test("parseNumber() has an answer for everything that lexes as a number", () => {
  const piece = fc.constantFrom(..."0123456789.eEpPxXbBfFhHuUlLgz_", "e+", "p-", "0x");
  fc.assert(fc.property(fc.array(piece), (parts) => {
    const literal = parseNumber(`1${parts.join("")}`);
    assert(["int", "float", "error"].includes(literal.kind));
  }));
});

Deno.test("roundDecimal() gives the platform's doubles", () => {
  const text = fc.tuple(
    fc.bigInt({ min: 0n, max: 10n ** 30n }),
    fc.integer({ min: -360, max: 320 }),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        text.map(([n, e]) => `${n}e${e}`),
        text.map(([n, e]) => `${e & 7}.${n}e${e}`),
      ),
      (text) => {
        assertEquals(roundDecimal(text, "float64"), Number(text), text);
      },
    ),
  );
  for (
    const text of [
      "4.9e-324",
      "2.4e-324",
      "2.5e-324",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "0.0",
      "0e99",
    ]
  ) {
    assertEquals(roundDecimal(text, "float64"), Number(text), text);
  }
});

/** Precision with the hidden bit, smallest exponent, number of finite positive patterns. */
const FORMATS: Record<FloatName, [number, number, number]> = {
  float8e4: [4, -6, 0x7e],
  float8e5: [3, -14, 0x7b],
  float16: [11, -14, 0x7bff],
  bfloat16: [8, -126, 0x7f7f],
  float32: [24, -126, 0x7f7fffff],
  float64: [53, -1022, 0],
};

/** The positive value of a bit pattern as an integer times a power of two. */
function decode(
  pattern: number,
  [precision, minExponent]: [number, number, number],
): [bigint, number] {
  const fields = 2 ** (precision - 1);
  const exponent = Math.floor(pattern / fields);
  const scale = minExponent - precision + 1;
  return exponent === 0
    ? [BigInt(pattern), scale]
    : [BigInt(fields + pattern % fields), scale + exponent - 1];
}

Deno.test("roundDecimal() rounds once, to even at the exact middle of two neighbours", () => {
  const formats = Object.entries(FORMATS).filter(([name]) => name !== "float64");
  for (const [name, format] of formats) {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: format[2] - 1 }), (pattern) => {
        const valueOf = (of: number): number => {
          const [digits, scale] = decode(of, format);
          return Number(digits) * 2 ** scale;
        };
        // The middle is (2·digits + 1)·2^(scale − 1), written out in decimal without loss.
        const [digits, scale] = decode(pattern, format);
        const power = Math.abs(scale - 1);
        const middle = 2n * digits + 1n;
        const [whole, exponent] = scale > 0
          ? [middle << BigInt(power), 0]
          : [middle * 5n ** BigInt(power), -power];
        const even = pattern % 2 === 0 ? pattern : pattern + 1;
        const cases: [string, number][] = [
          [`${whole}e${exponent}`, even],
          [`${whole}.00000000001e${exponent}`, pattern + 1],
          [`${whole - 1n}.99999999999e${exponent}`, pattern],
        ];
        for (const [text, wanted] of cases) {
          assertEquals(roundDecimal(text, name as FloatName), valueOf(wanted), `${name} ${text}`);
        }
      }),
      { numRuns: 200 },
    );
  }
});

Deno.test("roundDecimal() overflows to infinity, the 8-bit kinds to their largest value", () => {
  assertEquals(roundDecimal("65519.99", "float16"), 65504);
  assertEquals(roundDecimal("65520.0", "float16"), Infinity);
  assertEquals(roundDecimal("1e39", "float32"), Infinity);
  assertEquals(roundDecimal("1e39", "float8e4"), 448);
  assertEquals(roundDecimal("1e999999", "float8e5"), 57344);
});

Deno.test("roundDecimal() reads hexadecimal floats", () => {
  assertEquals(roundDecimal("0x1p-3", "float32"), 0.125);
  assertEquals(roundDecimal("0xA.8p1", "float64"), 21);
  assertEquals(roundDecimal("0x1.fffffffffffff8p0", "float64"), 2);
  assertEquals(roundDecimal("0x1.002p0", "float16"), 1);
  assertEquals(roundDecimal("0x1.0020001p0", "float16"), 1 + 2 ** -10);
  assertEquals(roundDecimal("0x1p-1074", "float64"), Number.MIN_VALUE);
  assertEquals(roundDecimal("0x1p99999999999", "float64"), Infinity);
  assertEquals(roundDecimal("0x1p-99999999999", "float64"), 0);
});

Deno.test("parseChar() reads one character, escapes included, as a signed char", () => {
  const cases: Record<string, string> = {
    "'a'": "97",
    "'\\n'": "10",
    "'\\0'": "0",
    "'\\101'": "65",
    "'\\x41'": "65",
    "'\\xff'": "-1",
    "'\\''": "39",
    "'\"'": "34",
    "''": "E2014",
    "'ab'": "E2014",
    "'\\q'": "E1006",
    "'\\x'": "E1006",
    "'\\x100'": "E1006",
    "'é'": "E1006",
  };
  for (const [text, wanted] of Object.entries(cases)) {
    const literal = parseChar(text);
    assertEquals(literal.kind === "error" ? literal.code : `${literal.value}`, wanted, text);
  }
});

Deno.test("parseString() undoes the escapes", () => {
  const string = parseString('"a\\tb\\"c\\\\ \\x41\\60 é"');
  assertEquals(string.kind === "string" ? string.value : string.code, 'a\tb"c\\ A0 é');
  assertEquals(parseString('"\\q"').kind, "error");
});

import fc from "../../../support/property.ts";
import { PtxCursor } from "../../../../compiler/ptx/cursor.ts";
import type { PtxNumber } from "../../../../compiler/ptx/literal.ts";
import { parseInteger, parseNumber, PRODUCT } from "../../../../compiler/ptx/parse/constant.ts";
import { assertEquals } from "../../../support/assert.ts";

const numberOf = (text: string): PtxNumber => parseNumber(new PtxCursor(text));
const integerOf = (text: string): bigint => parseInteger(new PtxCursor(text));

/** Expressions of PTX ISA 4.5.4 and 4.5.5 with their values, worked out by hand. */
const INTEGERS: readonly (readonly [text: string, value: bigint])[] = [
  ["42", 42n],
  ["-42", -42n],
  ["0x1F", 31n],
  ["017", 15n],
  ["0b101", 5n],
  ["18446744073709551615", (1n << 64n) - 1n],
  ["WARP_SZ * 2", 64n],
  ["2 + 3 * 4", 14n],
  ["(2 + 3) * 4", 20n],
  ["7 - 2 - 1", 4n],
  ["100 / 7 / 2", 7n],
  ["-7 / 2", -3n],
  ["1 << 4 | 3", 19n],
  ["1 | 2 ^ 3 & 4", 3n],
  ["6 & 3 == 3", 0n],
  ["1 < 2 == 1", 1n],
  ["1 << 2 + 1", 8n],
  ["1 || 0 && 0", 1n],
  ["!5", 0n],
  ["!0", 1n],
  ["- -5", 5n],
  ["-(-42)", 42n],
  // Complements are unsigned, and so is what they are combined with.
  ["~0", (1n << 64n) - 1n],
  ["~0x0F & 0xFF", 0xf0n],
  ["-1 < 0", 1n],
  ["-1U < 0", 0n],
  ["-1 < 0U", 0n],
  ["-1U", (1n << 64n) - 1n],
  ["-8 >> 1", -4n],
  ["-8U >> 1", (1n << 63n) - 4n],
  ["1 << 64", 0n],
  ["-1 >> 99", -1n],
  // The remainder sees its operands as unsigned.
  ["7 % 4", 3n],
  ["-1 % 16", 15n],
  ["(.u64)-1", (1n << 64n) - 1n],
  ["(.s64)0xFFFFFFFFFFFFFFFF", -1n],
  ["9223372036854775807 + 1", -(1n << 63n)],
  ["1 ? 2 : 3", 2n],
  ["0 ? 2 : 1 ? 4 : 5", 4n],
  ["1.5 < 2.0", 1n],
  ["1.5 == 1.5", 1n],
];

Deno.test("parseNumber() evaluates expressions of integers", () => {
  for (const [text, value] of INTEGERS) assertEquals(integerOf(text), value, text);
});

Deno.test("parseNumber() evaluates expressions of doubles", () => {
  const bitsOf = (value: number): bigint =>
    new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n;
  const cases: readonly (readonly [string, number])[] = [
    ["1.5 * 2.0 + 0.25", 3.25],
    ["-1.0 / 0.0", -Infinity],
    ["1 ? 2.5 : 3.5", 2.5],
    ["-(1e3)", -1000],
    ["0d3FF0000000000000 + 1.0", 2],
  ];
  for (const [text, value] of cases) {
    assertEquals(numberOf(text), { kind: "float", type: "f64", bits: bitsOf(value) }, text);
  }
  assertEquals(numberOf("0f3F800000"), { kind: "float", type: "f32", bits: 0x3f800000n });
  assertEquals(numberOf("-0f3F800000"), { kind: "float", type: "f32", bits: 0xbf800000n });
});

Deno.test("parseNumber() stops in front of operators that bind less than it may take", () => {
  const cursor = new PtxCursor("2 * 3 + 4");
  assertEquals(parseInteger(cursor, PRODUCT), 6n);
  assertEquals(cursor.peek().text, "+");
});

Deno.test("parseNumber() computes with signed 64-bit integers as BigInt does", () => {
  const operators: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "&": (a, b) => a & b,
    "|": (a, b) => a | b,
    "^": (a, b) => a ^ b,
    "<": (a, b) => a < b ? 1n : 0n,
    ">=": (a, b) => a >= b ? 1n : 0n,
    "!=": (a, b) => a !== b ? 1n : 0n,
  };
  const operand = fc.bigInt({ min: -(1n << 63n) + 1n, max: (1n << 63n) - 1n });
  fc.assert(
    fc.property(
      operand,
      operand,
      fc.constantFrom(...Object.entries(operators)),
      (a, b, operator) => {
        const [name, evaluate] = operator;
        assertEquals(integerOf(`(${a}) ${name} (${b})`), BigInt.asIntN(64, evaluate(a, b)));
      },
    ),
  );
});

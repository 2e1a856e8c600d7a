/** Integer arithmetic as vectors (PTX ISA 9.0, 9.7.1). Values of 16 bits keep zeros above them. */
import type { Match } from "../../compiler/ptx/match.ts";
import { double, type Expr, i32, op, opWith, pickWords, select, word } from "./expr.ts";
import {
  chose,
  type Evaluate,
  has,
  hasOnly,
  type IntegerType,
  integerType,
  LANES_OF,
  shapeOf,
  typesOf,
} from "./shape.ts";
import type { Primitive } from "./primitive.ts";
import { pickEven, vectorPrimitive } from "./vector.ts";

/** What an instruction does on integers of a type; undefined if no vector instruction does it. */
type Meaning = (type: IntegerType, match: Match) => Evaluate | undefined;

/** Upper 16 bits of words without the lower. */
const raised16 = (value: Expr): Expr => op("i32x4.shl", value, i32(16));
/** Signed values of 16 bits as words. */
export const extended16 = (value: Expr): Expr => op("i32x4.shr_s", raised16(value), i32(16));
/** The upper words of two 64-bit values of each operand. */
const upperWords = (low: Expr, high: Expr): Expr => pickWords(low, high, [1, 3, 5, 7]);
const sign = ({ signed }: IntegerType): "s" | "u" => signed ? "s" : "u";

/** Whether a < b. */
export function lessThan({ bits, signed }: IntegerType, a: Expr, b: Expr): Expr {
  if (bits === 64) {
    const flip = (value: Expr): Expr =>
      signed ? value : op("v128.xor", value, double(-(1n << 63n)));
    return op("i64x2.lt_s", flip(a), flip(b));
  }
  return op(`${LANES_OF[bits]}.lt_${signed ? "s" : "u"}`, a, b);
}

/** The smaller or the larger of two. */
export function extreme(which: "min" | "max", type: IntegerType, a: Expr, b: Expr): Expr {
  if (type.bits !== 64) return op(`${LANES_OF[type.bits]}.${which}_${sign(type)}`, a, b);
  return which === "min" ? select(lessThan(type, a, b), a, b) : select(lessThan(type, b, a), a, b);
}

const extremes = (which: "min" | "max"): Meaning => (type, match) => (_, a, b) => {
  const chosen = extreme(which, type, a, b);
  return [has(match, "relu") ? extreme("max", type, chosen, word(0)) : chosen];
};

/** The low half of a product. */
const lowProduct = ({ bits }: IntegerType, a: Expr, b: Expr): Expr =>
  op(`${LANES_OF[bits]}.mul`, a, b);

/** The upper half of a product. */
function highProduct(type: IntegerType, a: Expr, b: Expr): Expr | undefined {
  const { bits, signed } = type;
  if (bits === 64) return undefined;
  if (bits === 32) {
    return upperWords(
      op(`i64x2.extmul_low_i32x4_${sign(type)}`, a, b),
      op(`i64x2.extmul_high_i32x4_${sign(type)}`, a, b),
    );
  }
  const full = (value: Expr): Expr => signed ? extended16(value) : value;
  return op("i32x4.shr_u", op("i32x4.mul", full(a), full(b)), i32(16));
}

/** The product, twice as wide. */
function wideProduct(type: IntegerType, a: Expr, b: Expr): Expr {
  if (type.bits === 32) return op(`i64x2.extmul_low_i32x4_${sign(type)}`, a, b);
  const full = (value: Expr): Expr => type.signed ? extended16(value) : value;
  return op("i32x4.mul", full(a), full(b));
}

function product(type: IntegerType, match: Match, a: Expr, b: Expr): Expr | undefined {
  if (has(match, "wide")) return wideProduct(type, a, b);
  return chose(match, "hi") ? highProduct(type, a, b) : lowProduct(type, a, b);
}

/** 2^31 - 1 or -2^31, by the sign of `like`, where the sign bit of `overflow` is set. */
const saturated = (sum: Expr, overflow: Expr, like: Expr): Expr =>
  select(
    op("i32x4.shr_s", overflow, i32(31)),
    op("v128.xor", op("i32x4.shr_s", like, i32(31)), word(0x7fffffff)),
    sum,
  );

const add: Meaning = ({ bits }, match) => (scratch, a, b) => {
  const sum = scratch.let(op(`${LANES_OF[bits]}.add`, a, b));
  if (!has(match, "sat")) return [sum];
  return [saturated(sum, op("v128.and", op("v128.xor", a, sum), op("v128.xor", b, sum)), a)];
};

const sub: Meaning = ({ bits }, match) => (scratch, a, b) => {
  const difference = scratch.let(op(`${LANES_OF[bits]}.sub`, a, b));
  if (!has(match, "sat")) return [difference];
  const overflow = op("v128.and", op("v128.xor", a, b), op("v128.xor", a, difference));
  return [saturated(difference, overflow, a)];
};

const mul: Meaning = (type, match) =>
  type.bits === 64 && chose(match, "hi") ? undefined : (_, a, b) => [
    product(type, match, a, b) ?? a,
  ];

const mad: Meaning = (type, match) => {
  if (has(match, "sat") || (type.bits === 64 && chose(match, "hi"))) return undefined;
  const wide = has(match, "wide");
  const sum = wide && type.bits === 32 ? "i64x2.add" : wide ? "i32x4.add" : undefined;
  return (_, a, b, c) => [
    op(sum ?? `${LANES_OF[type.bits]}.add`, product(type, match, a, b) ?? a, c),
  ];
};

/** The low 24 bits, extended. */
const low24 = (type: IntegerType, value: Expr): Expr =>
  type.signed
    ? op("i32x4.shr_s", op("i32x4.shl", value, i32(8)), i32(8))
    : op("v128.and", value, word(0xffffff));

/** Bits 47 to 16 of the product for `.hi`, the lower 32 for `.lo`. */
function product24(type: IntegerType, match: Match, a: Expr, b: Expr): Expr {
  const [x, y] = [low24(type, a), low24(type, b)];
  if (!chose(match, "hi")) return op("i32x4.mul", x, y);
  const half = (product: Expr): Expr => op("i64x2.shr_u", product, i32(16));
  return pickWords(
    half(op("i64x2.extmul_low_i32x4_s", x, y)),
    half(op("i64x2.extmul_high_i32x4_s", x, y)),
    [0, 2, 4, 6],
  );
}

/** Byte `at` of words, extended. */
const byteOf = (signed: boolean, value: Expr, at: number): Expr =>
  op(
    signed ? "i32x4.shr_s" : "i32x4.shr_u",
    op("i32x4.shl", value, i32(24 - 8 * at)),
    i32(24),
  );

/** Sums of products of four bytes; each side has its own sign. */
const dp4a: Meaning = (type, match) => {
  const other = match.bound.get("U") === "s32";
  return (_, a, b, c) => [
    [0, 1, 2, 3].reduce(
      (sum, at) =>
        op(
          "i32x4.add",
          sum,
          op("i32x4.mul", byteOf(type.signed, a, at), byteOf(other, b, at)),
        ),
      c,
    ),
  ];
};

/** The number of ones of 32 or 64 bits, as words. */
function population({ bits }: IntegerType, value: Expr): Expr {
  const words = op(
    "i32x4.extadd_pairwise_i16x8_u",
    op("i16x8.extadd_pairwise_i8x16_u", op("i8x16.popcnt", value)),
  );
  return bits === 32
    ? words
    : op("i32x4.add", pickEven(words), pickWords(words, words, [1, 3, 1, 3]));
}

/** Bytes in reverse order within values of so many bytes. */
function reversedBytes(value: Expr, bytes: number): Expr {
  const picks = Array.from({ length: 16 }, (_, i) => i - (i % bytes) + bytes - 1 - (i % bytes));
  return opWith("i8x16.shuffle", [picks], value, value);
}

const brev: Meaning = ({ bits }) => (scratch, a) => {
  let value = scratch.let(reversedBytes(a, bits / 8));
  for (const [distance, low] of [[4, 0x0f0f0f0f], [2, 0x33333333], [1, 0x55555555]] as const) {
    value = scratch.let(op(
      "v128.or",
      op("v128.and", op("i32x4.shr_u", value, i32(distance)), word(low)),
      op("i32x4.shl", op("v128.and", value, word(low)), i32(distance)),
    ));
  }
  return [value];
};

const MEANINGS: Readonly<Record<string, Meaning>> = {
  add,
  sub,
  mul,
  mad,
  min: extremes("min"),
  max: extremes("max"),
  neg: ({ bits }) => (_, a) => [op(`${LANES_OF[bits]}.neg`, a)],
  abs: ({ bits }) => (_, a) => [op(`${LANES_OF[bits]}.abs`, a)],
  sad: (type) => (_, a, b, c) => [
    op(
      `${LANES_OF[type.bits]}.add`,
      op(
        `${LANES_OF[type.bits]}.sub`,
        extreme("max", type, a, b),
        extreme("min", type, a, b),
      ),
      c,
    ),
  ],
  mul24: (type, match) => (_, a, b) => [product24(type, match, a, b)],
  mad24: (type, match) =>
    has(match, "sat")
      ? undefined
      : (_, a, b, c) => [op("i32x4.add", product24(type, match, a, b), c)],
  dp4a,
  popc: (type) => (_, a) => [population(type, a)],
  brev,
};

const KNOWN: ReadonlySet<string> = new Set(["lo", "hi", "wide", "sat", "relu"]);

/** Integer arithmetic. */
export function integerForm(match: Match): Primitive | undefined {
  const type = hasOnly(match, KNOWN) ? integerType(typesOf(match)[0]) : undefined;
  const evaluate = type === undefined ? undefined : MEANINGS[match.opcode]?.(type, match);
  return evaluate && vectorPrimitive({ ...shapeOf(match), evaluate });
}

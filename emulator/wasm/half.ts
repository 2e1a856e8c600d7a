/** f16 and bf16 as vectors: values of 16 bits in words, as singles and back. */
import { type Expr, f32, i32, op, type Scratch, select, without, word } from "./expr.ts";

export type HalfType = "f16" | "bf16";

/** The NaN that instructions make of either format. */
const NAN = word(0x7fff);
const SINGLE_INFINITY = word(0x7f800000);

/** NaN keeps its payload. */
function decodeF16(scratch: Scratch, value: Expr): Expr {
  const bits = scratch.let(value);
  const magnitude = scratch.let(op("v128.and", bits, word(0x7fff)));
  // The exponent of a single is 112 greater; subnormal numbers become normal ones by the multiplication.
  const scaled = op("f32x4.mul", op("i32x4.shl", magnitude, i32(13)), word((112 + 127) << 23));
  const special = op("i32x4.gt_s", magnitude, word(0x7bff));
  const sign = op("v128.and", op("i32x4.shl", bits, i32(16)), word(1 << 31));
  return scratch.let(
    op("v128.or", op("v128.or", scaled, op("v128.and", special, SINGLE_INFINITY)), sign),
  );
}

/** Values of 16 bits as singles: exact, NaN with its payload. */
export function decodeHalf(scratch: Scratch, type: HalfType, value: Expr): Expr {
  return type === "f16" ? decodeF16(scratch, value) : scratch.let(op("i32x4.shl", value, i32(16)));
}

/** Singles to f16, to nearest even; NaN becomes infinite. */
function encodeF16(scratch: Scratch, bits: Expr): Expr {
  const magnitude = scratch.let(op("v128.and", bits, word(0x7fffffff)));
  // Subnormal results: adding 0.5 leaves units of 2^-24 in the last bits, rounded by the addition itself.
  const half = word(126 << 23);
  const subnormal = op("i32x4.sub", op("f32x4.add", magnitude, half), half);
  const odd = op("v128.and", op("i32x4.shr_u", magnitude, i32(13)), word(1));
  const rebiased = op("i32x4.add", magnitude, word((-112 << 23) + 0xfff));
  const normal = op("i32x4.shr_u", op("i32x4.add", rebiased, odd), i32(13));
  const finite = select(op("i32x4.lt_s", magnitude, word(113 << 23)), subnormal, normal);
  const huge = op("i32x4.ge_s", magnitude, word((127 + 16) << 23));
  const sign = op("v128.and", op("i32x4.shr_u", bits, i32(16)), word(0x8000));
  return op("v128.or", select(huge, word(0x7c00), finite), sign);
}

/** Singles to bf16, to nearest even; NaN becomes anything. */
function encodeBf16(bits: Expr): Expr {
  const odd = op("v128.and", op("i32x4.shr_u", bits, i32(16)), word(1));
  return op(
    "i32x4.shr_u",
    op("i32x4.add", op("i32x4.add", bits, word(0x7fff)), odd),
    i32(16),
  );
}

/** The payload of NaN cut off. */
function nanOf(type: HalfType, bits: Expr): Expr {
  const upper = op("i32x4.shr_u", bits, i32(16));
  if (type === "bf16") return upper;
  const payload = op("v128.and", op("i32x4.shr_u", bits, i32(13)), word(0x3ff));
  return op(
    "v128.or",
    op("v128.or", payload, word(0x7c00)),
    op("v128.and", upper, word(0x8000)),
  );
}

/** Singles as values of 16 bits, rounded to nearest even; NaN as the one that instructions make, or as it was. */
export function encodeHalf(
  scratch: Scratch,
  type: HalfType,
  value: Expr,
  keepsPayload = false,
): Expr {
  const bits = scratch.let(value);
  return scratch.let(select(
    op("f32x4.eq", bits, bits),
    type === "f16" ? encodeF16(scratch, bits) : encodeBf16(bits),
    keepsPayload ? nanOf(type, bits) : NAN,
  ));
}

/** Subnormal f16 values as zeros of their sign. */
export function flushedHalf(scratch: Scratch, value: Expr): Expr {
  const bits = scratch.let(value);
  const tiny = op("i32x4.eq", op("v128.and", bits, word(0x7c00)), word(0));
  return scratch.let(without(bits, op("v128.and", tiny, word(0x7fff))));
}

/**
 * Values of 16 bits of which the exact results, or these rounded to odd, are too small as zeros of their sign: below
 * the least normal number when rounded to the precision of normal ones (the ISA leaves it open; so does an H200).
 */
export function withoutTiny(scratch: Scratch, exact: Expr, rounded: Expr): Expr {
  const tiny = op("f32x4.lt", op("f32x4.abs", exact), op("f32x4.splat", f32(2 ** -14 - 2 ** -26)));
  return scratch.let(without(rounded, op("v128.and", tiny, word(0x7fff))));
}

/** Negative values of 16 bits as 0; NaN stays. */
export function withoutNegative(scratch: Scratch, value: Expr): Expr {
  const bits = scratch.let(value);
  return without(bits, op("i32x4.gt_s", bits, word(0x7fff)));
}

/** The same to the values in the lower and in the upper 16 bits of words. */
export function eachHalf(
  scratch: Scratch,
  values: readonly Expr[],
  evaluate: (...values: readonly Expr[]) => Expr,
): Expr {
  const low = scratch.let(
    evaluate(...values.map((value) => scratch.let(op("v128.and", value, word(0xffff))))),
  );
  const high = evaluate(
    ...values.map((value) => scratch.let(op("i32x4.shr_u", value, i32(16)))),
  );
  return op("v128.or", low, op("i32x4.shl", high, i32(16)));
}

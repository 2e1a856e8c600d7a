/** Single precision as vectors: NaN, subnormal numbers, saturation, and fma rounded once. */
import {
  double,
  type Expr,
  f64,
  i32,
  op,
  pickWords,
  type Scratch,
  select,
  without,
  word,
} from "./expr.ts";

/** The NaN that instructions of single precision make. */
const NAN = word(0x7fffffff);
const LEAST_NORMAL = word(0x00800000);
const ONE = word(0x3f800000);
const ZERO = word(0);

/** Every NaN as the one that instructions make. */
export function canonical(scratch: Scratch, value: Expr): Expr {
  const bound = scratch.let(value);
  return select(op("f32x4.eq", bound, bound), bound, NAN);
}

/** Subnormal numbers as zeros of their sign. */
export function flushed(scratch: Scratch, value: Expr): Expr {
  const bound = scratch.let(value);
  const tiny = op("f32x4.lt", op("f32x4.abs", bound), LEAST_NORMAL);
  return scratch.let(without(bound, op("v128.and", tiny, word(0x7fffffff))));
}

/**
 * Results as zeros of their sign where they are too small: below the least normal number when rounded to the precision
 * of normal ones (the ISA leaves it open; so does an H200). `scaled` is the result without the limit of the exponent,
 * times 2^64.
 */
export function withoutTiny(scratch: Scratch, scaled: Expr, result: Expr): Expr {
  const tiny = op("f32x4.lt", op("f32x4.abs", scaled), word((127 - 126 + 64) << 23));
  return scratch.let(without(result, op("v128.and", tiny, word(0x7fffffff))));
}

/** Where doubles are too small as normal singles, in the same sense: as masks of doubles. */
const tinyDouble = (value: Expr): Expr =>
  op("f64x2.lt", op("f64x2.abs", value), op("f64x2.splat", f64(2 ** -126 - 2 ** -151)));

/** Doubles as singles in the lower half, rounded once more; what is too small as zero if asked for. */
export function demoted(scratch: Scratch, value: Expr, ftz: boolean): Expr {
  if (!ftz) return op("f32x4.demote_f64x2_zero", value);
  const bound = scratch.let(value);
  const kept = without(bound, op("v128.and", tinyDouble(bound), double((1n << 63n) - 1n)));
  return op("f32x4.demote_f64x2_zero", kept);
}

/** Clamped to [0, 1]; NaN and -0 as 0. */
export function saturated(value: Expr): Expr {
  // pmax(a, b) is a < b ? b : a, pmin(a, b) is b < a ? b : a.
  return op("f32x4.pmin", op("f32x4.pmax", ZERO, value), ONE);
}

/** The smaller or the larger; numbers win over NaN unless NaN is asked for; -0 is below 0. */
export function extremeSingle(
  scratch: Scratch,
  which: "min" | "max",
  keepsNan: boolean,
  a: Expr,
  b: Expr,
): Expr {
  const chosen = op(`f32x4.${which}`, a, b);
  if (keepsNan) return canonical(scratch, chosen);
  const overA = select(op("f32x4.eq", a, a), chosen, b);
  return canonical(scratch, select(op("f32x4.eq", b, b), overA, a));
}

/** The lower and the upper two of four singles, in double precision. */
export function promoted(value: Expr): readonly [Expr, Expr] {
  return [
    op("f64x2.promote_low_f32x4", value),
    op("f64x2.promote_low_f32x4", pickWords(value, value, [2, 3, 2, 3])),
  ];
}

/** Four singles from two pairs, each in the lower half. */
export const joined = (low: Expr, high: Expr): Expr => pickWords(low, high, [0, 1, 4, 5]);

type Lanes = "f32x4" | "f64x2";

interface Terms {
  readonly product: Expr;
  readonly addend: Expr;
  readonly sum: Expr;
}

function twoTerms(scratch: Scratch, lanes: Lanes, a: Expr, b: Expr, c: Expr): Terms {
  const product = scratch.let(op(`${lanes}.mul`, a, b));
  const addend = scratch.let(c);
  return { product, addend, sum: scratch.let(op(`${lanes}.add`, product, addend)) };
}

/** What a sum lacks to be exact: Knuth's TwoSum. */
function errorOf(scratch: Scratch, lanes: Lanes, { product, addend, sum }: Terms): Expr {
  const virtual = scratch.let(op(`${lanes}.sub`, sum, product));
  return scratch.let(op(
    `${lanes}.add`,
    op(`${lanes}.sub`, product, op(`${lanes}.sub`, sum, virtual)),
    op(`${lanes}.sub`, addend, virtual),
  ));
}

/** Whether values are neither 0 nor NaN. */
const nonZero = (lanes: Lanes, value: Expr): Expr =>
  op("v128.or", op(`${lanes}.lt`, value, ZERO), op(`${lanes}.gt`, value, ZERO));

/**
 * a * b + c rounded to odd, where products are exact: what is not exact has its last bit set, so that rounding the
 * result to a narrower format is as rounding the exact value (Boldo and Melquiond, "Emulation of a FMA and correctly
 * rounded sums"). Products of singles are exact in double precision, those of f16 in single precision.
 */
export function fmaToOdd(scratch: Scratch, lanes: Lanes, a: Expr, b: Expr, c: Expr): Expr {
  const terms = twoTerms(scratch, lanes, a, b, c);
  const { sum } = terms;
  const error = errorOf(scratch, lanes, terms);
  const [integers, bits, one] = lanes === "f32x4"
    ? ["i32x4", 32, word(1)] as const
    : ["i64x2", 64, double(1n)] as const;
  // 1 away from zero, -1 towards it; of an even sum that is not exact.
  const signs = op(`${integers}.shr_s`, op("v128.xor", sum, error), i32(bits - 1));
  const even = op(`${integers}.sub`, op("v128.and", sum, one), one);
  const step = op("v128.and", op("v128.or", signs, one), even);
  return scratch.let(
    op(`${integers}.add`, sum, op("v128.and", step, nonZero(lanes, error))),
  );
}

/** a * b + c in single precision, rounded once; results that are too small as zero if asked for. */
export function fma(scratch: Scratch, ftz: boolean, a: Expr, b: Expr, c: Expr): Expr {
  const [aLow, aHigh] = promoted(a);
  const [bLow, bHigh] = promoted(b);
  const [cLow, cHigh] = promoted(c);
  const low = scratch.let(demoted(scratch, fmaToOdd(scratch, "f64x2", aLow, bLow, cLow), ftz));
  const high = scratch.let(demoted(scratch, fmaToOdd(scratch, "f64x2", aHigh, bHigh, cHigh), ftz));
  return joined(low, high);
}

/** Two doubles as singles in the lower half, rounded to odd. */
export function demotedToOdd(scratch: Scratch, value: Expr): Expr {
  const bound = scratch.let(value);
  const nearest = scratch.let(op("f32x4.demote_f64x2_zero", bound));
  const back = scratch.let(op("f64x2.promote_low_f32x4", nearest));
  const words = (mask: Expr): Expr => {
    const kept = scratch.let(mask);
    return pickWords(kept, kept, [0, 2, 0, 2]);
  };
  const away = words(op("f64x2.gt", op("f64x2.abs", back), op("f64x2.abs", bound)));
  const inexact = words(op(
    "v128.or",
    op("f64x2.lt", back, bound),
    op("f64x2.gt", back, bound),
  ));
  // Towards zero where the nearest was away from it; then the last bit says that something was lost.
  return scratch.let(op(
    "v128.or",
    op("i32x4.add", nearest, away),
    op("v128.and", inexact, word(1)),
  ));
}

/** fma of singles rounded to odd: for results that are rounded again, to a narrower format. */
export function fmaSingleToOdd(scratch: Scratch, a: Expr, b: Expr, c: Expr): Expr {
  const [aLow, aHigh] = promoted(a);
  const [bLow, bHigh] = promoted(b);
  const [cLow, cHigh] = promoted(c);
  return joined(
    demotedToOdd(scratch, fmaToOdd(scratch, "f64x2", aLow, bLow, cLow)),
    demotedToOdd(scratch, fmaToOdd(scratch, "f64x2", aHigh, bHigh, cHigh)),
  );
}

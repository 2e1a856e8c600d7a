/**
 * Quotients of floats by one number, as of the exponentials of a row by their sum: the sequence of divide.ts, whose 1 / b is
 * made once, with tests that zeros pass. Elements that a mask leaves out are zeros, and the assembler's `div.rn.f32` calls
 * its subroutine for each.
 *
 *   q = ay              y is 1 / b rounded to nearest
 *   t = bq - a          what is too much; +0 where a is a zero of either sign
 *   q = q - ty          a / b rounded to nearest; for a zero q, which has the sign of a
 *
 * With 2^-24 <= b < 2^22 and 2^-102 <= |a| < 2^97, q is between 2^-124 and 2^121, and t is a multiple of 2^-149, so exact;
 * where subnormal numbers are flushed it must be one of 2^-126, so |a| at least 2^-78. NaN gives NaN.
 */
import type { Operand, Register } from "../ptx/func.ts";
import { type Elements, inGroup, type Pair, reciprocal } from "./divide.ts";
import { type Emitter, int } from "./emitter.ts";

const BIAS = 127;
const FRACTION_BITS = 23;
const bitsOfPower = (exponent: number): number => (exponent + BIAS) * 2 ** FRACTION_BITS;

const LEAST_NUMERATOR = -102;
const LEAST_NUMERATOR_FLUSHED = -78;
const NUMERATORS_END = 97;
const LEAST_DIVISOR = -24;
const DIVISORS_END = 22;

export const divideByOne = (e: Emitter, elements: Elements): readonly Operand[] =>
  inGroup(e, elements, {
    isWorthwhile: ({ a, b }) => a.kind === "register" && b.kind === "register",
    approach,
    isOutside: (pairs) => isOutside(e, pairs),
  });

/** The quotient where the operands are inside; anything elsewhere. */
function approach(e: Emitter, { a, b }: Pair): Operand {
  const { y } = reciprocal(e, b);
  const q = e.pure("mul.rn.f32", "b32", [a, y]);
  const t = e.pure("fma.rn.f32", "b32", [q, b, e.pure("neg.f32", "b32", [a])]);
  return e.pure("fma.rn.f32", "b32", [t, e.pure("neg.f32", "b32", [y]), q]);
}

function isOutside(e: Emitter, pairs: readonly Pair[]): Register {
  const { flush } = e.floats;
  const numerators = [...new Set(pairs.map(({ a }) => a))];
  // Twice the bits are without the sign; one less, and zeros are the largest.
  const sizes = numerators.map((a) =>
    e.pure("add.s32", "b32", [e.pure("shl.b32", "b32", [a, int(1)]), int(-1)])
  );
  const first = 2 * bitsOfPower(flush ? LEAST_NUMERATOR_FLUSHED : LEAST_NUMERATOR) - 1;
  const isSmall = e.pure("setp.lt.u32", "pred", [combined(e, "min.u32", sizes), int(first)]);
  const amounts = numerators.map((a) => e.pure("abs.f32", "b32", [a]));
  const isLarge = e.pure("setp.ge.s32", "pred", [
    combined(e, "max.f32", amounts),
    int(bitsOfPower(NUMERATORS_END)),
  ]);
  const beyond = [...new Set(pairs.map(({ b }) => b))].map((b) =>
    e.pure("add.s32", "b32", [b, int(-bitsOfPower(LEAST_DIVISOR))])
  );
  const isBeyond = e.pure("setp.ge.u32", "pred", [
    combined(e, "max.u32", beyond),
    int(bitsOfPower(DIVISORS_END) - bitsOfPower(LEAST_DIVISOR)),
  ]);
  const isOutside = e.register("pred");
  e.emit("or.pred", [isOutside, e.pure("or.pred", "pred", [isSmall, isLarge]), isBeyond]);
  return isOutside;
}

const combined = (e: Emitter, name: string, operands: readonly Operand[]): Operand =>
  operands.reduce((all, one) => e.pure(name, "b32", [all, one]));

/**
 * x^y = 2^{y·log2 x}. The logarithm needs about ten bits more than the type has, as exponents go up to 1024: its
 * main terms are sums of two floats.
 */
import type { Operand } from "../../ptx/func.ts";
import { exp2Split } from "./exp.ts";
import type { Fp, Parts } from "./fp.ts";
import { artanhTail, split } from "./log.ts";

/** A sum of two floats that do not overlap. */
interface Pair {
  readonly high: Operand;
  readonly low: Operand;
}

/** a + b exactly, where |a| ≥ |b| or a is 0. */
function fastSum(fp: Fp, a: Operand, b: Operand): Pair {
  const high = fp.add(a, b);
  return { high, low: fp.sub(b, fp.sub(high, a)) };
}

/** a · b exactly. */
function product(fp: Fp, a: Operand, b: Operand | number): Pair {
  const high = fp.mul(a, b);
  return { high, low: fp.fma(a, b, fp.neg(high)) };
}

/** (a + b) of pairs, up to a few bits of the lower part. */
function sum(fp: Fp, a: Pair, b: Pair): Pair {
  const { high, low } = fastSum(fp, a.high, b.high);
  return fastSum(fp, high, fp.add(low, fp.add(a.low, b.low)));
}

function times(fp: Fp, a: Pair, b: Pair): Pair {
  const { high, low } = product(fp, a.high, b.high);
  return fastSum(fp, high, fp.fma(a.high, b.low, fp.fma(a.low, b.high, low)));
}

/** A number as a pair of constants. */
function constant(fp: Fp, [high, low]: readonly [number, number]): Pair {
  return { high: fp.e.inRegister(fp.constant(high), fp.bank), low: fp.constant(low) };
}

const THIRD: Parts = {
  single: [0.3333333432674408, -9.934107481068821e-9],
  double: [0.3333333333333333, 1.850371707708594e-17],
};
const LOG2_E: Parts = {
  single: [1.4426950216293335, 1.9259629911266175e-8],
  double: [1.4426950408889634, 2.0355273740931033e-17],
};

/** log2 of a positive finite number. */
function logarithm(fp: Fp, x: Operand): Pair {
  const { exponent, f } = split(fp, x);
  // s = f / (2 + f)
  const d = fastSum(fp, fp.e.inRegister(fp.constant(2), fp.bank), f);
  const high = fp.div(f, d.high);
  const rest = fp.fma(fp.neg(high), d.low, fp.fma(fp.neg(high), d.high, f));
  const s = fastSum(fp, high, fp.div(rest, d.high));
  // ln m = 2s·(1 + z/3 + z²/5 + …)
  const z = times(fp, s, s);
  const third = times(fp, z, constant(fp, fp.pick(THIRD.single, THIRD.double)));
  const more = fp.mul(fp.mul(z.high, z.high), artanhTail(fp, z.high, 5));
  const factor = fastSum(fp, third.high, fp.add(third.low, more));
  const cubic = times(fp, s, factor);
  const half = sum(fp, s, cubic);
  const ln: Pair = { high: fp.add(half.high, half.high), low: fp.add(half.low, half.low) };
  const log2 = times(fp, ln, constant(fp, fp.pick(LOG2_E.single, LOG2_E.double)));
  const { high: top, low: lost } = fastSum(fp, exponent, log2.high);
  // Without an exponent the sum is the other one; fastSum is exact for 0 too.
  return fastSum(fp, top, fp.add(lost, log2.low));
}

export function pow(fp: Fp, x: Operand, y: Operand): Operand {
  const { e } = fp;
  const size = fp.abs(x);
  const log = logarithm(fp, size);
  // Beyond this the result is 0 or infinity anyway, and products would overflow.
  const limit = fp.pick(2 ** 40, 2 ** 80);
  const power = fp.clamp(y, -limit, limit);
  const main = fp.mul(log.high, power);
  const error = fp.fma(log.low, power, fp.fma(log.high, power, fp.neg(main)));
  const bound = fp.pick(200, 1200);
  const limited = fp.clamp(main, -bound, bound);
  const whole = fp.integral("rni", limited);
  const isNear = fp.compare("lt", fp.abs(main), bound);
  const extra = fp.select(isNear, error, 0);
  const positive = exp2Split(fp, fp.toInt(whole), fp.sub(limited, whole), extra);

  const truncated = fp.integral("rzi", y);
  const isWhole = fp.compare("eq", truncated, y);
  const halfY = fp.mul(y, 0.5);
  const isOdd = fp.and(isWhole, fp.compare("neu", fp.integral("rzi", halfY), halfY));
  const isNegative = e.pure("setp.lt.s32", "pred", [fp.highWord(x), {
    kind: "integer",
    value: 0n,
  }]);
  const signed = fp.and(isNegative, isOdd);
  const apply = (value: Operand | number): Operand => {
    const register = typeof value === "number" ? e.inRegister(fp.constant(value), fp.bank) : value;
    return fp.select(signed, fp.neg(register), register);
  };

  const yPositive = fp.compare("gt", y, 0);
  const isBig = fp.compare("gt", size, 1);
  const isZero = fp.compare("eq", x, 0);
  const isHuge = fp.compare("eq", size, Infinity);
  const yHuge = fp.compare("eq", fp.abs(y), Infinity);
  // A base of 0 or infinity, then an infinite power: 0, 1 or infinity.
  let result = apply(positive);
  result = fp.select(fp.and(fp.compare("lt", x, 0), fp.not(isWhole)), NaN, result);
  result = fp.select(isZero, apply(fp.select(yPositive, 0, Infinity)), result);
  result = fp.select(isHuge, apply(fp.select(yPositive, Infinity, 0)), result);
  const grows = e.pure("xor.pred", "pred", [isBig, fp.not(yPositive)]);
  const atInfinity = fp.select(fp.compare("eq", size, 1), 1, fp.select(grows, Infinity, 0));
  result = fp.select(yHuge, atInfinity, result);
  result = fp.select(fp.or(fp.isNan(x), fp.isNan(y)), NaN, result);
  // Even of NaN: x^0 and 1^y are 1 (IEEE 754-2019, 9.2.1).
  return fp.select(fp.or(fp.compare("eq", y, 0), fp.compare("eq", x, 1)), 1, result);
}

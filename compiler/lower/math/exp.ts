/**
 * exp and its relatives. x = n·ln 2 + r with |r| ≤ ln 2 / 2; e^r by its power series, which is short enough there,
 * and 2^n exactly.
 */
import type { Operand } from "../../ptx/func.ts";
import { int } from "../emitter.ts";
import { type Fp, type Parts, reciprocalFactorials } from "./fp.ts";

/** ln 2 as a number of few bits, whose products with exponents are exact, and the rest. */
const LN2: Parts = {
  single: [0.693145751953125, 1.4286068203094172e-6],
  double: [0.6931471803691238, 1.9082149292705877e-10],
};
const LOG2_E = 1.4426950408889634;

interface Reduced {
  readonly n: Operand;
  readonly r: Operand;
}

/** Arguments beyond these give 0 or infinity whatever they are. */
const limits = (fp: Fp): readonly [number, number] =>
  fp.pick<readonly [number, number]>([-105, 90], [-746, 711]);

function reduce(fp: Fp, x: Operand): Reduced {
  const whole = fp.integral("rni", fp.mul(x, LOG2_E));
  const [high, low] = fp.pick(LN2.single, LN2.double);
  const r = fp.fma(whole, -low, fp.fma(whole, -high, x));
  return { n: fp.toInt(whole), r };
}

/** (e^r - 1 - r) / r². */
function tail(fp: Fp, r: Operand): Operand {
  return fp.polynomial(r, reciprocalFactorials(2, fp.pick(6, 12)));
}

/** e^x, within 1 ulp. */
export function exp(fp: Fp, x: Operand): Operand {
  const { n, r } = reduce(fp, fp.clamp(x, ...limits(fp)));
  return fp.scale(powerOf(fp, r), n);
}

/** e^x / 2, which is finite where e^x overflows already. */
export function halfExp(fp: Fp, x: Operand): Operand {
  const { n, r } = reduce(fp, fp.clamp(x, ...limits(fp)));
  return fp.scale(powerOf(fp, r), fp.e.pure("sub.s32", "b32", [n, int(1)]));
}

/** e^r. */
function powerOf(fp: Fp, r: Operand): Operand {
  return fp.add(fp.fma(fp.mul(r, r), tail(fp, r), r), 1);
}

/** e^x - 1: 2^n·(e^r - 1) + (2^n - 1), where the last is exact or does not matter. */
export function expm1(fp: Fp, x: Operand): Operand {
  // Below the lower limit the result is -1.
  const { n, r } = reduce(fp, fp.clamp(x, fp.pick(-20, -40), fp.pick(88.8, 709.9)));
  const small = fp.fma(fp.mul(r, r), tail(fp, r), r);
  // 2^n itself may overflow where the result does not: one power is taken off and put back.
  const below = fp.e.pure("sub.s32", "b32", [n, { kind: "integer", value: 1n }]);
  const power = fp.power2(below);
  const sum = fp.fma(small, power, fp.sub(power, 0.5));
  const result = fp.add(sum, sum);
  // Subnormals and zeros are their own results, signs included.
  return fp.select(fp.compare("lt", fp.abs(x), fp.pick(2 ** -25, 2 ** -54)), x, result);
}

/** 2^x. */
export function exp2(fp: Fp, x: Operand): Operand {
  const limited = fp.clamp(x, fp.pick(-152, -1080), fp.pick(130, 1030));
  const whole = fp.integral("rni", limited);
  return exp2Split(fp, fp.toInt(whole), fp.sub(limited, whole));
}

/** 2^(n + r + extra) for |r| ≤ 1/2 and a tiny extra. */
export function exp2Split(fp: Fp, n: Operand, r: Operand, extra?: Operand): Operand {
  const product = fp.mul(r, Math.LN2);
  const lost = fp.fma(r, Math.LN2, fp.neg(product));
  const ln2Low = fp.pick(Math.LN2 - Math.fround(Math.LN2), 2.3190468138462996e-17);
  const rest = fp.fma(r, ln2Low, lost);
  const small = fp.add(fp.fma(fp.mul(product, product), tail(fp, product), rest), product);
  const power = fp.add(small, 1);
  if (extra === undefined) return fp.scale(power, n);
  const more = fp.mul(fp.mul(extra, Math.LN2), power);
  return fp.scale(fp.add(fp.add(small, more), 1), n);
}

/** tanh x = t / (t + 2) with t = e^{2|x|} - 1. */
export function tanh(fp: Fp, x: Operand): Operand {
  const size = fp.clamp(fp.abs(x), 0, fp.pick(10, 22));
  const t = expm1(fp, fp.add(size, size));
  return fp.copysign(fp.div(t, fp.add(t, 2)), x);
}

/** 1 / (1 + e^-x), on the side where nothing overflows. */
export function sigmoid(fp: Fp, x: Operand): Operand {
  const t = exp(fp, fp.neg(fp.abs(x)));
  const top = fp.select(fp.compare("lt", x, 0), t, 1);
  return fp.div(top, fp.add(t, 1));
}

/** Hyperbolic sine and cosine, and the inverse functions; tanh is in exp.ts. */
import type { Operand } from "../../ptx/func.ts";
import { halfExp } from "./exp.ts";
import { type Fp, reciprocalFactorials } from "./fp.ts";
import { log1p, logTwiceOr1p } from "./log.ts";

/** sinh x: a power series below 1; above, where little cancels, h - 1/(4h) with h = e^|x| / 2. */
export function sinh(fp: Fp, x: Operand): Operand {
  const z = fp.mul(x, x);
  const odd = reciprocalFactorials(3, fp.pick(9, 17)).filter((_, i) => i % 2 === 0);
  const series = fp.fma(fp.mul(x, z), fp.polynomial(z, odd), x);
  const { half, rest } = halves(fp, x);
  const large = fp.copysign(fp.sub(half, rest), x);
  return fp.select(fp.compare("lt", fp.abs(x), 1), series, large);
}

/** cosh x = h + 1/(4h) with h = e^|x| / 2. */
export function cosh(fp: Fp, x: Operand): Operand {
  const { half, rest } = halves(fp, x);
  return fp.add(half, rest);
}

/** e^|x| / 2 and e^-|x| / 2. */
function halves(fp: Fp, x: Operand): { readonly half: Operand; readonly rest: Operand } {
  const half = halfExp(fp, fp.abs(x));
  return { half, rest: fp.div(0.25, half) };
}

/** From here on √(x² ± 1) is x, and what the result differs by from ln(2x), 1/(4x²), is lost. */
const beyond = (fp: Fp): number => fp.pick(2 ** 13, 2 ** 28);

/** asinh x = ln(1 + t) with t = |x| + x² / (1 + √(x² + 1)), which cancels nowhere. */
export function asinh(fp: Fp, x: Operand): Operand {
  const size = fp.abs(x);
  const z = fp.mul(x, x);
  const t = fp.add(size, fp.div(z, fp.add(fp.sqrt(fp.add(z, 1)), 1)));
  const isLarge = fp.compare("gt", size, beyond(fp));
  return fp.copysign(logTwiceOr1p(fp, isLarge, size, t), x);
}

/** acosh x = ln(1 + t + √(t² + 2t)) with t = x - 1. */
export function acosh(fp: Fp, x: Operand): Operand {
  const t = fp.add(x, -1);
  const sum = fp.add(t, fp.sqrt(fp.fma(t, t, fp.add(t, t))));
  const result = logTwiceOr1p(fp, fp.compare("gt", x, beyond(fp)), x, sum);
  return fp.select(fp.compare("lt", x, 1), NaN, result);
}

/** atanh x = ln(1 + 2|x| / (1 - |x|)) / 2. */
export function atanh(fp: Fp, x: Operand): Operand {
  const size = fp.abs(x);
  const ratio = fp.div(fp.add(size, size), fp.sub(1, size));
  return fp.copysign(fp.mul(log1p(fp, ratio), 0.5), x);
}

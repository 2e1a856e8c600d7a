/**
 * Logarithms. x = m·2^e with m between √½ and √2; ln m = 2 artanh(s) with s = (m-1)/(m+1), |s| < 0.172, by its
 * power series in odd powers.
 */
import type { Operand } from "../../ptx/func.ts";
import { int } from "../emitter.ts";
import type { Fp, Parts } from "./fp.ts";
import { times } from "../../support/times.ts";

/** ln 2 and log2 e as a number of few bits and the rest. */
const LN2_PARTS: Parts = {
  single: [0.693145751953125, 1.4286068203094172e-6],
  double: [0.6931471803691238, 1.9082149292705877e-10],
};
const LOG2_E_PARTS: Parts = {
  single: [1.4426950216293335, 1.9259629911266175e-8],
  double: [1.4426950408889634, 2.0355273740931033e-17],
};
/** The same of log10 2 and log10 e; a product of an exponent and the first part of log10 2 is exact. */
const LOG10_2_PARTS: Parts = {
  single: [0.3010292053222656, 7.903416872068192e-7],
  double: [0.30102999566361177, 3.694239077158931e-13],
};
const LOG10_E_PARTS: Parts = {
  single: [0.4342944920063019, -1.0103050052231683e-8],
  double: [0.4342944819032518, 1.098319650216765e-17],
};

export interface Split {
  /** The exponent, as a float. */
  readonly exponent: Operand;
  /** m - 1, exactly. */
  readonly f: Operand;
  /** 2^-e, or 0 where that is subnormal. */
  readonly unscale: Operand;
}

/** Takes a positive finite number apart. Subnormal numbers are made normal first. */
export function split(fp: Fp, x: Operand): Split {
  const { e } = fp;
  const shift = fp.fraction + 2;
  const least = fp.pick(2 ** -126, 2 ** -1022);
  const tiny = fp.compare("lt", x, least);
  const normal = fp.select(tiny, fp.mul(x, 2 ** shift), x);
  const high = fp.highWord(normal);
  // The bits of √½ are taken off, so that the exponent changes at √2.
  const root = fp.pick(0x3f3504f3, 0x3fe6a09e);
  const position = fp.pick(23, 20);
  const over = e.pure("sub.s32", "b32", [high, int(root)]);
  const exponent = e.pure("shr.s32", "b32", [over, int(position)]);
  const cleared = e.pure("shl.b32", "b32", [exponent, int(position)]);
  const word = e.pure("sub.s32", "b32", [high, cleared]);
  const m = fp.width === 32 ? word : withHighWord(fp, normal, word);
  const true_ = e.pure("sub.s32", "b32", [
    exponent,
    e.pure("selp.b32", "b32", [int(shift), int(0), tiny]),
  ]);
  // Above √2 · 2^127 the exponent is 128, and 2^-128 has no exponent bits: 0 is as good for what it scales, at most 1.
  const negated = e.pure("neg.s32", "b32", [exponent]);
  const unscale = fp.power2(e.pure("max.s32", "b32", [negated, int(fp.pick(-127, -1023))]));
  return { exponent: fp.fromInt(true_), f: fp.sub(m, 1), unscale };
}

function withHighWord(fp: Fp, value: Operand, high: Operand): Operand {
  const { e } = fp;
  const low = e.pure("cvt.u32.u64", "b32", [value]);
  return e.pure("mov.b64", "b64", [{ kind: "vector", elements: [low, high] }]);
}

/** (artanh(s) - s) / s³ as a function of s². */
export function artanhTail(fp: Fp, z: Operand, from = 3): Operand {
  const count = fp.pick(5, 11);
  return fp.polynomial(z, times(count, (i) => 1 / (from + 2 * i)));
}

/** ln(1 + f). */
function logOnePlus(fp: Fp, f: Operand): { readonly high: Operand; readonly low: Operand } {
  const d = fp.add(f, 2);
  const s = fp.div(f, d);
  const z = fp.mul(s, s);
  // ln(1+f) = f - s·(f - 2z·(1/3 + …)): f is exact, and what is taken off is smaller.
  const w = fp.mul(fp.add(z, z), artanhTail(fp, z));
  return { high: f, low: fp.neg(fp.mul(s, fp.sub(f, w))) };
}

/** What every logarithm says of 0, negative numbers, infinity and NaN. */
function special(fp: Fp, x: Operand, result: Operand): Operand {
  const positive = fp.select(fp.compare("gt", x, 0), result, NaN);
  const zero = fp.select(fp.compare("eq", x, 0), -Infinity, positive);
  return fp.select(fp.compare("eq", x, Infinity), Infinity, zero);
}

export function log(fp: Fp, x: Operand): Operand {
  const { exponent, f } = split(fp, x);
  return special(fp, x, logParts(fp, exponent, f));
}

export function log2(fp: Fp, x: Operand): Operand {
  const { exponent, f } = split(fp, x);
  return special(fp, x, fp.add(exponent, scaledLog(fp, f, LOG2_E_PARTS)));
}

export function log10(fp: Fp, x: Operand): Operand {
  const { exponent, f } = split(fp, x);
  const [main, rest] = fp.pick(LOG10_2_PARTS.single, LOG10_2_PARTS.double);
  const small = fp.fma(exponent, rest, scaledLog(fp, f, LOG10_E_PARTS));
  return special(fp, x, fp.fma(exponent, main, small));
}

/** ln(1 + f) times a number of two parts. */
function scaledLog(fp: Fp, f: Operand, { single, double }: Parts): Operand {
  const { high, low } = logOnePlus(fp, f);
  const [main, rest] = fp.pick(single, double);
  const sum = fp.add(high, low);
  const lost = fp.add(fp.sub(high, sum), low);
  return fp.fma(sum, main, fp.fma(sum, rest, fp.mul(lost, main)));
}

/** ln(1 + x). */
export function log1p(fp: Fp, x: Operand): Operand {
  const u = fp.add(x, 1);
  const parts = split(fp, u);
  const result = logOfSum(fp, u, parts, lostOf(fp, x, u));
  return fp.select(fp.compare("lt", fp.abs(x), fp.pick(2 ** -25, 2 ** -54)), x, result);
}

/** ln(2x) where `isLarge`, else ln(1 + t) for t ≥ 0: one logarithm for both. */
export function logTwiceOr1p(fp: Fp, isLarge: Operand, x: Operand, t: Operand): Operand {
  const sum = fp.add(t, 1);
  const u = fp.select(isLarge, x, sum);
  const parts = split(fp, u);
  const exponent = fp.add(parts.exponent, fp.select(isLarge, 1, 0));
  const lost = fp.select(isLarge, 0, lostOf(fp, t, sum));
  return logOfSum(fp, u, { ...parts, exponent }, lost);
}

/** What `u`, the rounded 1 + x, lacks: for large x parts of the 1, for small x parts of x. */
function lostOf(fp: Fp, x: Operand, u: Operand): Operand {
  return fp.select(
    fp.compare("gt", x, 1),
    fp.sub(1, fp.sub(u, x)),
    fp.sub(x, fp.add(u, -1)),
  );
}

/** ln(u + lost), where u is taken apart already. */
function logOfSum(fp: Fp, u: Operand, { exponent, f, unscale }: Split, lost: Operand): Operand {
  return special(fp, u, logParts(fp, exponent, fp.fma(lost, unscale, f)));
}

/** ln((1 + f) · 2^exponent). */
function logParts(fp: Fp, exponent: Operand, f: Operand): Operand {
  const { high, low } = logOnePlus(fp, f);
  const [ln2High, ln2Low] = fp.pick(LN2_PARTS.single, LN2_PARTS.double);
  const small = fp.add(fp.fma(exponent, ln2Low, low), high);
  return fp.fma(exponent, ln2High, small);
}

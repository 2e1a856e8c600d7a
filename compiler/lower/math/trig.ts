/**
 * Sine, cosine, tangent. x = k·π/2 + r with |r| ≤ π/4. Ordinary arguments subtract k·π/2 in three parts; huge ones
 * multiply with the bits of 2/π that matter for them (Payne and Hanek, "Radian Reduction for Trigonometric
 * Functions", 1983), in integers. Both are computed and one is taken, so that warps do not part.
 */
import type { Operand } from "../../ptx/func.ts";
import { type Emitter, int } from "../emitter.ts";
import { type Fp, reciprocalFactorials } from "./fp.ts";
import { times } from "../../support/times.ts";

/** 2/π after the point, as hexadecimal digits: enough for the largest double. */
const TWO_OVER_PI = "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561" +
  "b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484" +
  "e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f" +
  "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b" +
  "3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d";
type Three = readonly [number, number, number];
/** π/2 as a sum of three floats or doubles. */
const HALF_PI: { readonly single: Three; readonly double: Three } = {
  single: [1.5707963705062866, -4.371138828673793e-8, -1.7151245100058819e-15],
  double: [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33],
};

interface Angle {
  /** Quarter turns, modulo 4. */
  readonly quarter: Operand;
  readonly r: Operand;
}

/** Up to about 2^17 (float) and 2^30 (double) quarter turns times the first part of π/2 are near enough. */
const plainLimit = (fp: Fp): number => fp.pick(2 ** 17, 2 ** 30);

function reduce(fp: Fp, x: Operand): Angle {
  const [a, b, c] = fp.pick(HALF_PI.single, HALF_PI.double);
  const whole = fp.integral("rni", fp.mul(x, 2 / Math.PI));
  const r = fp.fma(whole, -c, fp.fma(whole, -b, fp.fma(whole, -a, x)));
  const huge = reduceHuge(fp, x);
  const isHuge = fp.compare("gt", fp.abs(x), plainLimit(fp));
  const quarter = fp.e.pure("selp.b32", "b32", [huge.quarter, fp.toInt(whole), isHuge]);
  // Infinities less themselves are NaN, as the plain way finds; the integers of the other know nothing of it.
  const isFinite = fp.compare("lt", fp.abs(x), Infinity);
  return { quarter, r: fp.select(fp.and(isHuge, isFinite), huge.r, r) };
}

/** Integers of the width of the floats. */
class Words {
  readonly #bank: "b32" | "b64";
  constructor(readonly e: Emitter, readonly width: 32 | 64) {
    this.#bank = `b${width}`;
  }
  op(name: string, kind: "u" | "s" | "b", first: Operand, ...rest: Operand[]): Operand {
    return this.e.pure(`${name}.${kind}${this.width}`, this.#bank, [
      this.e.inRegister(first, this.#bank),
      ...rest,
    ]);
  }
  /** The upper word of hi:lo shifted left by a count below the width; a count of 0 is none. */
  funnel(hi: Operand, lo: Operand, count: Operand): Operand {
    const right = this.e.pure("sub.s32", "b32", [
      this.e.inRegister(int(this.width), "b32"),
      count,
    ]);
    return this.op("or", "b", this.op("shl", "b", hi, count), this.op("shr", "u", lo, right));
  }
  /** 1 if a < b, unsigned: the carry of a sum. */
  carry(a: Operand, b: Operand): Operand {
    const less = this.e.pure(`setp.lt.u${this.width}`, "pred", [a, b]);
    return this.op("selp", "b", int(1), int(0), less);
  }
}

/**
 * x = m·2^e with a whole m. Of the product m·2^e·(2/π) only what is left modulo 4 counts, so the bits of 2/π above
 * that are skipped and three words kept: two bits of quarter turns, then the fraction.
 */
function reduceHuge(fp: Fp, x: Operand): Angle {
  const { e, width } = fp;
  const w = new Words(e, width);
  const bank = fp.bank;
  const bits = e.inRegister(fp.abs(x), bank);
  const field = e.pure("shr.u32", "b32", [fp.highWord(bits), int(width === 32 ? 23 : 20)]);
  const fractionMask = int((1n << BigInt(fp.fraction)) - 1n);
  const m = w.op("or", "b", w.op("and", "b", bits, fractionMask), int(1n << BigInt(fp.fraction)));
  // The table starts with one word of zeros. Small exponents, whose result is not used, stay inside it.
  const start = e.pure("max.s32", "b32", [
    e.add("b32", field, int(width - 2 - fp.bias - fp.fraction)),
    int(0),
  ]);
  const index = e.pure("shr.u32", "b32", [start, int(Math.log2(width))]);
  const shift = e.pure("and.b32", "b32", [start, int(width - 1)]);
  const [w0, w1, w2, w3] = lookup(fp, tableWords(width), index, fp.pick(3, 5));
  const [top, middle, low] = [
    w.funnel(w0, w1, shift),
    w.funnel(w1, w2, shift),
    w.funnel(w2, w3, shift),
  ];
  const lowHigh = w.op("mul.hi", "u", low, m);
  const middleLow = w.op("mul.lo", "u", middle, m);
  const second = w.op("add", "u", lowHigh, middleLow);
  const carry = w.carry(second, middleLow);
  const first = w.op(
    "add",
    "u",
    w.op("add", "u", w.op("mul.lo", "u", top, m), w.op("mul.hi", "u", middle, m)),
    carry,
  );
  const quarter = w.op("shr", "u", first, int(width - 2));
  const high = w.op(
    "or",
    "b",
    w.op("shl", "b", first, int(2)),
    w.op("shr", "u", second, int(width - 2)),
  );
  const rest = w.op("shl", "b", second, int(2));
  // Fractions of a half and more belong to the next quarter: as a signed number they are negative.
  const rounded = w.op("add", "u", quarter, w.op("shr", "u", high, int(width - 1)));
  const highPart = e.pure(`cvt.rn.${fp.type}.s${width}`, bank, [high]);
  const restPart = e.pure(`cvt.rn.${fp.type}.u${width}`, bank, [rest]);
  const turn = fp.mul(
    fp.fma(restPart, 2 ** -width, highPart),
    fp.pick(Math.fround(Math.PI / 2), Math.PI / 2) * 2 ** -width,
  );
  const word = width === 32 ? rounded : e.pure("cvt.u32.u64", "b32", [rounded]);
  const negative = fp.compare("lt", x, 0);
  return {
    quarter: e.pure("selp.b32", "b32", [e.pure("neg.s32", "b32", [word]), word, negative]),
    r: fp.select(negative, fp.neg(turn), turn),
  };
}

function tableWords(width: 32 | 64): Operand[] {
  const digits = width / 4;
  const words = TWO_OVER_PI.match(new RegExp(`.{${digits}}`, "g")) ?? [];
  return [int(0), ...words.map((word) => int(BigInt.asIntN(width, BigInt(`0x${word}`))))];
}

/** Four words from the index on: each bit of it halves the table. */
function lookup(
  fp: Fp,
  table: readonly Operand[],
  index: Operand,
  indexBits: number,
): readonly [Operand, Operand, Operand, Operand] {
  const { e } = fp;
  let rows = table;
  for (let bit = indexBits - 1; bit >= 0; bit--) {
    const isSet = e.pure("setp.ne.s32", "pred", [
      e.pure("and.b32", "b32", [index, int(1 << bit)]),
      int(0),
    ]);
    const kept = 3 + 2 ** bit;
    rows = times(kept, (i) => {
      const [far, near] = [rows[i + 2 ** bit] ?? int(0), rows[i] ?? int(0)];
      return e.pure(`selp.${fp.bank}`, fp.bank, [far, near, isSet]);
    });
  }
  const [w0 = int(0), w1 = int(0), w2 = int(0), w3 = int(0)] = rows;
  return [w0, w1, w2, w3];
}

/** ±1/n! for every second n, in alternation. */
function alternating(from: number, count: number): number[] {
  return reciprocalFactorials(from, 2 * count - 1).filter((_, i) => i % 2 === 0)
    .map((c, i) => i % 2 === 0 ? -c : c);
}

/** sin r and cos r by power series, |r| ≤ π/4. */
function both(fp: Fp, r: Operand): { readonly sin: Operand; readonly cos: Operand } {
  const z = fp.mul(r, r);
  const sin = fp.fma(fp.mul(z, r), fp.polynomial(z, alternating(3, fp.pick(4, 8))), r);
  // 1 - z/2 + …: what 1 - z/2 loses is put back.
  const half = fp.mul(z, 0.5);
  const head = fp.sub(1, half);
  const lost = fp.sub(fp.sub(1, head), half);
  const tail = fp.polynomial(z, alternating(4, fp.pick(3, 7)).map((c) => -c));
  return { sin, cos: fp.add(head, fp.fma(fp.mul(z, z), tail, lost)) };
}

function bitSet(fp: Fp, value: Operand, bit: number): Operand {
  const { e } = fp;
  return e.pure("setp.ne.s32", "pred", [
    e.pure("and.b32", "b32", [value, int(1 << bit)]),
    int(0),
  ]);
}

/** sin x, or with one quarter turn more cos x. */
function circular(fp: Fp, x: Operand, quarters: number): Operand {
  const { quarter, r } = reduce(fp, x);
  const { sin, cos } = both(fp, r);
  const shifted = fp.e.add("b32", quarter, int(quarters));
  const value = fp.select(bitSet(fp, shifted, 0), cos, sin);
  return fp.select(bitSet(fp, shifted, 1), fp.neg(value), value);
}

export function sin(fp: Fp, x: Operand): Operand {
  // -0 and subnormals are their own sines.
  return fp.select(fp.compare("lt", fp.abs(x), fp.pick(2 ** -13, 2 ** -27)), x, circular(fp, x, 0));
}

export function cos(fp: Fp, x: Operand): Operand {
  return circular(fp, x, 1);
}

export function tan(fp: Fp, x: Operand): Operand {
  const { quarter, r } = reduce(fp, x);
  const { sin: s, cos: c } = both(fp, r);
  const odd = bitSet(fp, quarter, 0);
  const top = fp.select(odd, fp.neg(c), s);
  const result = fp.div(top, fp.select(odd, s, c));
  return fp.select(fp.compare("lt", fp.abs(x), fp.pick(2 ** -13, 2 ** -27)), x, result);
}

/** Arithmetic of one width, for functions that are computed the same way in float and in double. */
import type { Operand } from "../../ptx/func.ts";
import type { Divide } from "../divide.ts";
import { type Emitter, int } from "../emitter.ts";
import { times } from "../../support/times.ts";

export type Width = 32 | 64;

/** Comparisons that are false for NaN, and `neu`, which is true. */
export type Comparison = "lt" | "le" | "gt" | "ge" | "eq" | "neu" | "num" | "nan";

const BITS = new DataView(new ArrayBuffer(8));

/** Bits of a number in a width. */
function patternOf(value: number, width: Width): bigint {
  if (width === 64) {
    BITS.setFloat64(0, value);
    return BITS.getBigUint64(0);
  }
  BITS.setFloat32(0, value);
  return BigInt(BITS.getUint32(0));
}

/** A constant as a sum of two floats, or of two doubles. */
export interface Parts {
  readonly single: readonly [number, number];
  readonly double: readonly [number, number];
}

export class Fp {
  readonly bank: "b32" | "b64";
  /** PTX type: `f32`, `f64`. */
  readonly type: "f32" | "f64";
  /** Bits of the fraction. */
  readonly fraction: number;
  readonly bias: number;

  /** Without `divide`, quotients are those of the instruction. */
  constructor(readonly e: Emitter, readonly width: Width, readonly divide?: Divide) {
    this.bank = `b${width}`;
    this.type = `f${width}`;
    this.fraction = width === 32 ? 23 : 52;
    this.bias = width === 32 ? 127 : 1023;
  }

  constant(value: number): Operand {
    return { kind: "float", type: this.type, bits: patternOf(value, this.width) };
  }

  /** Picks a value by width: tables hold a pair. */
  pick<T>(single: T, double: T): T {
    return this.width === 32 ? single : double;
  }

  #op(spelling: string, ...sources: readonly (Operand | number)[]): Operand {
    const [first, ...rest] = sources.map((source) =>
      typeof source === "number" ? this.constant(source) : source
    );
    const operands = first === undefined ? [] : [this.e.inRegister(first, this.bank), ...rest];
    return this.e.pure(`${spelling}.${this.type}`, this.bank, operands);
  }

  add(a: Operand, b: Operand | number): Operand {
    return this.#op("add.rn", a, b);
  }
  sub(a: Operand | number, b: Operand | number): Operand {
    return this.#op("sub.rn", a, b);
  }
  mul(a: Operand, b: Operand | number): Operand {
    return this.#op("mul.rn", a, b);
  }
  fma(a: Operand, b: Operand | number, c: Operand | number): Operand {
    return this.#op("fma.rn", a, b, c);
  }
  div(a: Operand | number, b: Operand): Operand {
    if (this.divide === undefined) return this.#op("div.rn", a, b);
    return this.divide(typeof a === "number" ? this.constant(a) : a, b);
  }
  sqrt(a: Operand): Operand {
    return this.#op("sqrt.rn", a);
  }
  neg(a: Operand): Operand {
    return this.#op("neg", a);
  }
  abs(a: Operand): Operand {
    return this.#op("abs", a);
  }
  /** `size` with the sign of `sign`. */
  copysign(size: Operand | number, sign: Operand): Operand {
    // PTX takes the sign first.
    const value = typeof size === "number" ? this.constant(size) : size;
    return this.#op("copysign", sign, value);
  }
  /** To a whole number: `rni` nearest even, `rzi`, `rmi`, `rpi`. */
  integral(mode: "rni" | "rzi" | "rmi" | "rpi", a: Operand): Operand {
    const source = this.e.inRegister(a, this.bank);
    return this.e.pure(`cvt.${mode}.${this.type}.${this.type}`, this.bank, [source]);
  }

  compare(name: Comparison, a: Operand, b: Operand | number): Operand {
    const right = typeof b === "number" ? this.constant(b) : b;
    const left = this.e.inRegister(a, this.bank);
    return this.e.pure(`setp.${name}.${this.type}`, "pred", [left, right]);
  }
  isNan(a: Operand): Operand {
    return this.compare("nan", a, a);
  }
  and(a: Operand, b: Operand): Operand {
    return this.e.pure("and.pred", "pred", [a, b]);
  }
  or(a: Operand, b: Operand): Operand {
    return this.e.pure("or.pred", "pred", [a, b]);
  }
  not(a: Operand): Operand {
    return this.e.pure("not.pred", "pred", [a]);
  }
  select(condition: Operand, yes: Operand | number, no: Operand | number): Operand {
    const [a, b] = [yes, no].map((value) =>
      typeof value === "number" ? this.constant(value) : value
    );
    // An immediate in selp is a pattern of bits.
    const bits = (value: Operand | undefined): Operand =>
      value?.kind === "float" ? this.e.inRegister(value, this.bank) : value ?? int(0);
    return this.e.pure(`selp.${this.bank}`, this.bank, [bits(a), bits(b), condition]);
  }
  /** Limits to an interval; NaN stays. */
  clamp(a: Operand, lo: number, hi: number): Operand {
    const below = this.select(this.compare("gt", a, hi), hi, a);
    return this.select(this.compare("lt", below, lo), lo, below);
  }

  /** The nearest 32-bit integer. */
  toInt(a: Operand): Operand {
    return this.e.pure(`cvt.rni.s32.${this.type}`, "b32", [this.e.inRegister(a, this.bank)]);
  }
  fromInt(a: Operand): Operand {
    return this.e.pure(`cvt.rn.${this.type}.s32`, this.bank, [this.e.inRegister(a, "b32")]);
  }

  /** 2^n for an n whose result is a normal number. */
  power2(n: Operand): Operand {
    const { e } = this;
    const field = e.add("b32", n, int(this.bias));
    const high = e.pure("shl.b32", "b32", [
      e.inRegister(field, "b32"),
      int(this.width === 32 ? 23 : 20),
    ]);
    if (this.width === 32) return high;
    return e.pure("mov.b64", "b64", [
      { kind: "vector", elements: [e.inRegister(int(0), "b32"), high] },
    ]);
  }

  /** a · 2^n for |n| up to twice the largest exponent: two steps, of which only the last rounds. */
  scale(a: Operand, n: Operand): Operand {
    const { e } = this;
    const half = e.pure("shr.s32", "b32", [n, int(1)]);
    const rest = e.pure("sub.s32", "b32", [n, half]);
    return this.mul(this.mul(a, this.power2(half)), this.power2(rest));
  }

  /** c[0] + c[1]·x + c[2]·x² + … */
  polynomial(x: Operand, coefficients: readonly number[]): Operand {
    const [last = 0, ...rest] = coefficients.toReversed();
    return rest.reduce<Operand>((sum, c) => this.fma(sum, x, c), this.constant(last));
  }

  /** The upper 32 bits of a double, all bits of a float. */
  highWord(a: Operand): Operand {
    const source = this.e.inRegister(a, this.bank);
    if (this.width === 32) return source;
    return this.e.pure("cvt.u32.u64", "b32", [this.e.pure("shr.u64", "b64", [source, int(32)])]);
  }
}

/** 1, 1/1!, 1/2!, … from the n-th on. */
export function reciprocalFactorials(from: number, count: number): number[] {
  let factorial = 1;
  for (let n = 2; n <= from; n++) factorial *= n;
  return times(count, (i) => {
    if (i > 0) factorial *= from + i;
    return 1 / factorial;
  });
}

/** Arithmetic of f32, f64, f16 and bf16 as vectors, rounded to nearest (PTX ISA 9.0, 9.7.3, 9.7.4). */
import type { Match } from "../../compiler/ptx/match.ts";
import { double, type Expr, op, type Scratch, select, word } from "./expr.ts";
import { approximateQuotient, powerOfTwo, reciprocalRoot } from "./approximate.ts";
import {
  decodeHalf,
  eachHalf,
  encodeHalf,
  flushedHalf,
  type HalfType,
  withoutNegative,
  withoutTiny as withoutTinyHalf,
} from "./half.ts";
import {
  canonical,
  extremeSingle,
  flushed,
  fma,
  fmaSingleToOdd,
  fmaToOdd,
  saturated,
  withoutTiny,
} from "./single.ts";
import { chose, type Evaluate, has, hasOnly, shapeOf, typesOf } from "./shape.ts";
import type { Primitive } from "./primitive.ts";
import { vectorPrimitive } from "./vector.ts";

type Meaning = (scratch: Scratch, ...sources: readonly Expr[]) => Expr;
type Meanings = Readonly<Record<string, Meaning>>;

const NEGATIVE_ZERO = word(1 << 31);
const ONE = word(0x3f800000);

/** Before NaN, subnormal numbers and saturation are looked after. */
const SINGLE = {
  add: (_, a, b) => op("f32x4.add", a, b),
  sub: (_, a, b) => op("f32x4.sub", a, b),
  mul: (_, a, b) => op("f32x4.mul", a, b),
  div: (_, a, b) => op("f32x4.div", a, b),
  rcp: (_, a) => op("f32x4.div", ONE, a),
  sqrt: (_, a) => op("f32x4.sqrt", a),
} as const satisfies Meanings;

/** Times 2^64: infinite only where the result is far from small. */
const scaled = (value: Expr): Expr => op("f32x4.mul", value, word((127 + 64) << 23));

/** Results times 2^64, where results that are subnormal may be inexact. */
const SCALED: Meanings = {
  mul: (scratch, a, b) => SINGLE.mul(scratch, scaled(a), b),
  div: (scratch, a, b) => SINGLE.div(scratch, scaled(a), b),
  rcp: (scratch, a) => SINGLE.div(scratch, scaled(ONE), a),
};

const DOUBLE: Meanings = {
  add: (_, a, b) => op("f64x2.add", a, b),
  sub: (_, a, b) => op("f64x2.sub", a, b),
  mul: (_, a, b) => op("f64x2.mul", a, b),
  div: (_, a, b) => op("f64x2.div", a, b),
  rcp: (_, a) => op("f64x2.div", double(0x3ff0000000000000n), a),
  sqrt: (_, a) => op("f64x2.sqrt", a),
  neg: (_, a) => op("f64x2.neg", a),
  abs: (_, a) => op("f64x2.abs", a),
  min: (_, a, b) => extremeDouble("min", a, b),
  max: (_, a, b) => extremeDouble("max", a, b),
};

/** Where the payload of NaN is that of the first operand which is NaN; else it is the last one's. */
const FIRST_NAN: ReadonlySet<string> = new Set(["div", "rcp", "sqrt", "neg", "abs"]);
const QUIET = double(1n << 51n);
/** What invalid operations give. */
const DOUBLE_NAN = double(-(1n << 51n));

/** The smaller or the larger; numbers win over NaN. */
function extremeDouble(which: "min" | "max", a: Expr, b: Expr): Expr {
  const overA = select(op("f64x2.eq", a, a), op(`f64x2.${which}`, a, b), b);
  return select(op("f64x2.eq", b, b), overA, a);
}

function doubleArithmetic(match: Match): Evaluate | undefined {
  const meaning = DOUBLE[match.opcode];
  if (meaning === undefined) return undefined;
  return (scratch, ...sources) => {
    const result = scratch.let(meaning(scratch, ...sources));
    const last = FIRST_NAN.has(match.opcode) ? sources.toReversed() : sources;
    const nan = last.reduce(
      (payload, source) =>
        select(op("f64x2.eq", source, source), payload, op("v128.or", source, QUIET)),
      DOUBLE_NAN,
    );
    return [select(op("f64x2.eq", result, result), result, nan)];
  };
}

/**
 * Halves as singles. A single has more than twice the bits of a half, so that rounding sums and f16 products twice does
 * no harm; bf16 products may be subnormal singles.
 */
const HALF: Readonly<Record<HalfType, Meanings>> = {
  f16: {
    add: SINGLE.add,
    sub: SINGLE.sub,
    mul: SINGLE.mul,
    fma: (scratch, a, b, c) => fmaToOdd(scratch, "f32x4", a, b, c),
  },
  bf16: {
    add: SINGLE.add,
    sub: SINGLE.sub,
    mul: (scratch, a, b) => fmaSingleToOdd(scratch, a, b, NEGATIVE_ZERO),
    fma: fmaSingleToOdd,
  },
};

/** neg and abs change the sign bits only. */
const SIGNS: Readonly<Record<string, (signs: Expr, a: Expr) => Expr>> = {
  neg: (signs, a) => op("v128.xor", a, signs),
  abs: (signs, a) => op("v128.andnot", a, signs),
};

const isExtreme = (opcode: string): opcode is "min" | "max" => opcode === "min" || opcode === "max";

function singleMeaning(match: Match): Meaning | undefined {
  const { opcode } = match;
  const [ftz, keepsNan] = [has(match, "ftz"), has(match, "NaN")];
  if (isExtreme(opcode)) return (scratch, a, b) => extremeSingle(scratch, opcode, keepsNan, a, b);
  if (opcode === "fma" || opcode === "mad") return (scratch, a, b, c) => fma(scratch, ftz, a, b, c);
  if (opcode === "rsqrt") return (scratch, a) => reciprocalRoot(scratch, ftz, a);
  if (opcode === "ex2") return (scratch, a) => powerOfTwo(scratch, ftz, a);
  const sign = SIGNS[opcode];
  if (sign !== undefined) return (_, a) => sign(NEGATIVE_ZERO, a);
  const meanings: Meanings = chose(match, "approx")
    ? { ...SINGLE, div: approximateQuotient }
    : SINGLE;
  const meaning = meanings[opcode];
  const exact = SCALED[opcode];
  if (!ftz || meaning === undefined) return meaning;
  return (scratch, ...sources) => {
    const result = scratch.let(meaning(scratch, ...sources));
    return exact === undefined
      ? flushed(scratch, result)
      : withoutTiny(scratch, exact(scratch, ...sources), result);
  };
}

function singleArithmetic(match: Match): Evaluate | undefined {
  const meaning = singleMeaning(match);
  if (meaning === undefined) return undefined;
  const [ftz, sat] = [has(match, "ftz"), has(match, "sat")];
  return (scratch, ...sources) => {
    const inputs = ftz ? sources.map((source) => flushed(scratch, source)) : sources;
    const result = meaning(scratch, ...inputs);
    return [sat ? saturated(result) : canonical(scratch, result)];
  };
}

function halfArithmetic(match: Match, type: HalfType): Meaning | undefined {
  const { opcode } = match;
  const [ftz, sat, relu] = [has(match, "ftz"), has(match, "sat"), has(match, "relu")];
  const sign = SIGNS[opcode];
  if (sign !== undefined) {
    return (scratch, a) => {
      const changed = sign(word(0x8000), a);
      const infinity = word(type === "f16" ? 0x7c00 : 0x7f80);
      const number = op("i32x4.le_s", op("v128.and", a, word(0x7fff)), infinity);
      const kept = select(number, changed, word(0x7fff));
      return ftz ? flushedHalf(scratch, kept) : kept;
    };
  }
  const keepsNan = has(match, "NaN");
  const meaning: Meaning | undefined = isExtreme(opcode)
    ? (scratch, a, b) => extremeSingle(scratch, opcode, keepsNan, a, b)
    : HALF[type][opcode];
  if (meaning === undefined) return undefined;
  return (scratch, ...sources) => {
    const singles = sources.map((source) =>
      decodeHalf(scratch, type, ftz ? flushedHalf(scratch, source) : source)
    );
    const raw = scratch.let(meaning(scratch, ...singles));
    const rounded = encodeHalf(scratch, type, sat ? saturated(raw) : raw);
    const normal = ftz ? withoutTinyHalf(scratch, raw, rounded) : rounded;
    return relu ? withoutNegative(scratch, normal) : normal;
  };
}

function evaluation(match: Match): Evaluate | undefined {
  const [type, second] = typesOf(match);
  if (second !== undefined) return undefined;
  switch (type) {
    case "f32":
      return singleArithmetic(match);
    case "f64":
      if (chose(match, "approx")) return undefined;
      return doubleArithmetic(match);
    case "f16":
    case "bf16": {
      const meaning = halfArithmetic(match, type);
      return meaning && ((scratch, ...sources) => [meaning(scratch, ...sources)]);
    }
    case "f16x2":
    case "bf16x2": {
      const meaning = halfArithmetic(match, type === "f16x2" ? "f16" : "bf16");
      return meaning && ((scratch, ...sources) => [
        eachHalf(scratch, sources, (...halves) => meaning(scratch, ...halves)),
      ]);
    }
    default:
      return undefined;
  }
}

/** Modifiers that are understood; those of other roundings are not. */
const KNOWN: ReadonlySet<string> = new Set(["rn", "ftz", "sat", "relu", "NaN", "approx", "full"]);

export function floatForm(match: Match): Primitive | undefined {
  const evaluate = hasOnly(match, KNOWN) ? evaluation(match) : undefined;
  return evaluate && vectorPrimitive({ ...shapeOf(match), evaluate });
}

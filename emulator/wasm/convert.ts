/** cvt between integers and floats of up to 64 bits, as vectors (PTX ISA 9.0, 9.7.9.22). */
import type { Match } from "../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { double, type Expr, i32, op, pickWords, type Scratch, select, word } from "./expr.ts";
import { decodeHalf, encodeHalf, type HalfType, withoutNegative } from "./half.ts";
import { extreme } from "./integer.ts";
import { canonical, demoted, demotedToOdd, flushed, saturated } from "./single.ts";
import { chose, type Evaluate, has, hasOnly, type Shape, shapeOf, typesOf } from "./shape.ts";
import type { Primitive } from "./primitive.ts";
import { pickEven, vectorPrimitive } from "./vector.ts";

/** An integer type of 8 to 64 bits. */
interface Integer {
  readonly kind: "integer";
  readonly bits: number;
  readonly signed: boolean;
}

interface Float {
  readonly kind: "float";
  readonly type: HalfType | "f32" | "f64";
}

function numberType(type: TypeName): Integer | Float | undefined {
  if (TYPES[type].class === "int" && !type.endsWith("x2")) {
    return { kind: "integer", bits: TYPES[type].bits, signed: type.startsWith("s") };
  }
  switch (type) {
    case "f16":
    case "bf16":
    case "f32":
    case "f64":
      return { kind: "float", type };
    default:
      return undefined;
  }
}

const leastOf = ({ bits, signed }: Integer): bigint => signed ? -(1n << BigInt(bits - 1)) : 0n;
const mostOf = ({ bits, signed }: Integer): bigint => (1n << BigInt(signed ? bits - 1 : bits)) - 1n;

/** What a conversion is made of: types, and the widths of the rows. */
interface Conversion {
  readonly match: Match;
  readonly fromBits: number;
  readonly toBits: number;
}

/** The low bits of a row as an integer of 32 bits, or of 64 if it has so many. */
function integerValue(from: Integer, rowBits: number, value: Expr): Expr {
  if (from.bits === 64) return value;
  const words = rowBits === 64 ? pickEven(value) : value;
  if (from.bits === 32) return words;
  const above = i32(32 - from.bits);
  return op(
    from.signed ? "i32x4.shr_s" : "i32x4.shr_u",
    op("i32x4.shl", words, above),
    above,
  );
}

/** Brings an integer into the range of another type; only bounds that matter are looked at. */
function clamped(scratch: Scratch, from: Integer, to: Integer, value: Expr): Expr {
  const wide = from.bits === 64;
  const type = { bits: wide ? 64 : 32, signed: from.signed } as const;
  const literal = (bound: bigint): Expr => wide ? double(bound) : word(Number(bound));
  let result = value;
  if (leastOf(to) > leastOf(from)) {
    const bound = scratch.let(result);
    result = extreme("max", type, bound, literal(leastOf(to)));
  }
  if (mostOf(to) < mostOf(from)) {
    const bound = scratch.let(result);
    result = extreme("min", type, bound, literal(mostOf(to)));
  }
  return result;
}

/** A word as the row of an integer type of at most 32 bits: truncated, extended to the register. */
function integerRow(to: Integer, rowBits: number, value: Expr): Expr {
  const above = 32 - to.bits;
  let words = value;
  if (above > 0) {
    words = to.signed && rowBits > to.bits
      ? op("i32x4.shr_s", op("i32x4.shl", value, i32(above)), i32(above))
      : op("v128.and", value, word(2 ** to.bits - 1));
    if (rowBits < 32 && rowBits > to.bits) words = op("v128.and", words, word(2 ** rowBits - 1));
  }
  if (rowBits < 64) return words;
  return op(to.signed ? "i64x2.extend_low_i32x4_s" : "i64x2.extend_low_i32x4_u", words);
}

function integerToInteger(from: Integer, to: Integer, conversion: Conversion): Evaluate {
  const { match, fromBits, toBits } = conversion;
  return (scratch, source) => {
    const value = scratch.let(integerValue(from, fromBits, source));
    const kept = has(match, "sat") ? clamped(scratch, from, to, value) : value;
    if (to.bits === 64) {
      return [
        from.bits === 64
          ? kept
          : op(from.signed ? "i64x2.extend_low_i32x4_s" : "i64x2.extend_low_i32x4_u", kept),
      ];
    }
    return [integerRow(to, toBits, from.bits === 64 ? pickEven(scratch.let(kept)) : kept)];
  };
}

const INTEGRAL = { rni: "nearest", rzi: "trunc", rmi: "floor", rpi: "ceil" } as const;

function roundingOf(match: Match): "nearest" | "trunc" | "floor" | "ceil" | undefined {
  const name = match.bound.get("RNDI");
  return name === "rni" || name === "rzi" || name === "rmi" || name === "rpi"
    ? INTEGRAL[name]
    : undefined;
}

/** Singles or halves as singles, without subnormal ones if asked for. */
function singleSource(scratch: Scratch, match: Match, from: Float, source: Expr): Expr {
  if (from.type === "f16" || from.type === "bf16") return decodeHalf(scratch, from.type, source);
  return has(match, "ftz") ? flushed(scratch, source) : source;
}

/** Integers of at most 32 bits; NaN is 0, or the top bit if the source is a double. */
function floatToInteger(from: Float, to: Integer, conversion: Conversion): Evaluate | undefined {
  const { match, toBits } = conversion;
  const rounding = roundingOf(match);
  if (to.bits > 32 || rounding === undefined) return undefined;
  const words: Integer = { kind: "integer", bits: 32, signed: to.signed };
  const sign = to.signed ? "s" : "u";
  if (from.type === "f64") {
    return (scratch, source) => {
      const rounded = scratch.let(op(`f64x2.${rounding}`, source));
      const value = scratch.let(op(`i32x4.trunc_sat_f64x2_${sign}_zero`, rounded));
      const kept = clamped(scratch, words, to, value);
      const numbers = scratch.let(op("f64x2.eq", source, source));
      const isNumber = pickWords(numbers, numbers, [0, 2, 0, 2]);
      const chosen = select(isNumber, kept, word(Number(1n << BigInt(to.bits - 1))));
      return [integerRow(to, toBits, chosen)];
    };
  }
  return (scratch, source) => {
    const single = singleSource(scratch, match, from, source);
    const value = op(`i32x4.trunc_sat_f32x4_${sign}`, op(`f32x4.${rounding}`, single));
    return [integerRow(to, toBits, scratch.let(clamped(scratch, words, to, value)))];
  };
}

/** From integers of at most 32 bits, to nearest; to doubles and from 16 bits to singles all modes are the same. */
function integerToFloat(from: Integer, to: Float, conversion: Conversion): Evaluate | undefined {
  const { match, fromBits } = conversion;
  if (from.bits > 32 || has(match, "sat")) return undefined;
  const exact = to.type === "f64" || (to.type === "f32" && from.bits < 32);
  if (!exact && !chose(match, "rn")) return undefined;
  // Integers of 32 bits that are not singles round to bf16 otherwise; as f16 they are infinite.
  if (to.type === "bf16" && from.bits === 32) return undefined;
  const sign = from.signed ? "s" : "u";
  return (scratch, source) => {
    const value = integerValue(from, fromBits, source);
    if (to.type === "f64") return [op(`f64x2.convert_low_i32x4_${sign}`, value)];
    const single = op(`f32x4.convert_i32x4_${sign}`, value);
    return [to.type === "f32" ? single : encodeHalf(scratch, to.type, single)];
  };
}

/** Doubles from narrower floats; NaN keeps its payload. */
function toDouble(from: Float, match: Match): Evaluate | undefined {
  const rounding = roundingOf(match);
  if (from.type === "f64") return rounding && ((_, source) => [op(`f64x2.${rounding}`, source)]);
  return (scratch, source) => {
    const single = singleSource(scratch, match, from, source);
    const number = from.type === "f32" && has(match, "ftz") ? canonical(scratch, single) : single;
    return [op("f64x2.promote_low_f32x4", number)];
  };
}

/** Singles; NaN is that of single precision unless it comes from a format with the same exponents, or a double. */
function toSingle(from: Float, match: Match): Evaluate {
  const rounding = roundingOf(match);
  const [ftz, sat] = [has(match, "ftz"), has(match, "sat")];
  const copies = from.type === "f32" && rounding === undefined && !ftz;
  const keepsPayload = from.type === "f64" || from.type === "bf16" || copies;
  return (scratch, source) => {
    const single = from.type === "f64"
      ? demoted(scratch, source, ftz)
      : singleSource(scratch, match, from, source);
    const rounded = rounding === undefined ? single : op(`f32x4.${rounding}`, single);
    const integral = ftz && from.type === "bf16" ? flushed(scratch, rounded) : rounded;
    if (sat) return [saturated(integral)];
    return [keepsPayload ? integral : canonical(scratch, integral)];
  };
}

function toHalf(from: Float, type: HalfType, match: Match): Evaluate {
  const rounding = roundingOf(match);
  return (scratch, source) => {
    const single = from.type === "f64"
      ? demotedToOdd(scratch, source)
      : singleSource(scratch, match, from, source);
    const integral = scratch.let(rounding === undefined ? single : op(`f32x4.${rounding}`, single));
    const bounded = has(match, "sat") ? saturated(integral) : integral;
    const rounded = encodeHalf(scratch, type, bounded, from.type === "f64");
    return [has(match, "relu") ? withoutNegative(scratch, rounded) : rounded];
  };
}

function floatToFloat(from: Float, to: Float, { match }: Conversion): Evaluate | undefined {
  if (to.type === "f64") return has(match, "sat") ? undefined : toDouble(from, match);
  return to.type === "f32" ? toSingle(from, match) : toHalf(from, to.type, match);
}

/** Two singles packed, the first in the upper half. */
function packedForm(match: Match, shape: Shape, type: HalfType): Evaluate | undefined {
  if (shape.sources.length !== 2) return undefined;
  const relu = has(match, "relu");
  return (scratch, a, b) => {
    const half = (value: Expr): Expr => {
      const rounded = encodeHalf(scratch, type, value);
      return relu ? withoutNegative(scratch, rounded) : rounded;
    };
    const low = half(b);
    return [op("v128.or", low, op("i32x4.shl", half(a), i32(16)))];
  };
}

/** Modifiers that are understood; conversions from integers may be exact however they round. */
const KNOWN: ReadonlySet<string> = new Set([...Object.keys(INTEGRAL), "rn", "ftz", "sat", "relu"]);

export function convertForm(match: Match): Primitive | undefined {
  const [toName, fromName] = typesOf(match);
  const shape = shapeOf(match);
  const [target, source] = [shape.results[0], shape.sources[0]];
  if (toName === undefined || fromName === undefined) return undefined;
  if (target?.kind !== "row" || source?.kind !== "row") return undefined;
  if ((toName === "f16x2" || toName === "bf16x2") && fromName === "f32") {
    const evaluate = hasOnly(match, KNOWN)
      ? packedForm(match, shape, toName === "f16x2" ? "f16" : "bf16")
      : undefined;
    return evaluate && vectorPrimitive({ ...shape, evaluate });
  }
  const [to, from] = [numberType(toName), numberType(fromName)];
  if (to === undefined || from === undefined) return undefined;
  const conversion = { match, fromBits: source.bits, toBits: target.bits };
  let evaluate: Evaluate | undefined;
  if (from.kind === "float" && !hasOnly(match, KNOWN)) return undefined;
  if (from.kind === "integer") {
    evaluate = to.kind === "integer"
      ? integerToInteger(from, to, conversion)
      : integerToFloat(from, to, conversion);
  } else {
    evaluate = to.kind === "integer"
      ? floatToInteger(from, to, conversion)
      : floatToFloat(from, to, conversion);
  }
  return evaluate && vectorPrimitive({ ...shape, evaluate });
}

/** Comparisons: set and setp (PTX ISA 9.0, 9.7.6.1, 9.7.6.2, 9.7.7). */
import type { Match } from "../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { type Expr, i32, op, type Scratch, word } from "./expr.ts";
import { decodeHalf, flushedHalf, type HalfType } from "./half.ts";
import { extended16, lessThan } from "./integer.ts";
import { flushed } from "./single.ts";
import { has, type IntegerType, integerType, shapeOf, typesOf } from "./shape.ts";
import type { Primitive } from "./primitive.ts";
import { pickEven, vectorPrimitive } from "./vector.ts";

const not = (mask: Expr): Expr => op("v128.not", mask);

/** From "a < b" and equality; the unsigned names are the same as the others on unsigned types. */
const ORDERS: Readonly<
  Record<string, (less: (a: Expr, b: Expr) => Expr, a: Expr, b: Expr) => Expr>
> = {
  lt: (less, a, b) => less(a, b),
  le: (less, a, b) => not(less(b, a)),
  gt: (less, a, b) => less(b, a),
  ge: (less, a, b) => not(less(a, b)),
};

const UNSIGNED: Readonly<Record<string, string>> = { lo: "lt", ls: "le", hi: "gt", hs: "ge" };

function compareIntegers(comparison: string, type: IntegerType, a: Expr, b: Expr): Expr {
  const lanes = type.bits === 64 ? "i64x2" : "i32x4";
  if (comparison === "eq" || comparison === "ne") return op(`${lanes}.${comparison}`, a, b);
  const words = type.bits === 16 ? { bits: 32, signed: type.signed } as const : type;
  const full = (value: Expr): Expr => type.bits === 16 && type.signed ? extended16(value) : value;
  const less = (x: Expr, y: Expr): Expr => lessThan(words, full(x), full(y));
  return ORDERS[UNSIGNED[comparison] ?? comparison]?.(less, a, b) ?? a;
}

/** Comparisons of floats; those that are true of NaN are the opposites of others. */
const FLOATS: Readonly<
  Record<
    string,
    (compare: (name: FloatComparison, a: Expr, b: Expr) => Expr, a: Expr, b: Expr) => Expr
  >
> = {
  eq: (compare, a, b) => compare("eq", a, b),
  ne: (compare, a, b) => op("v128.or", compare("lt", a, b), compare("gt", a, b)),
  lt: (compare, a, b) => compare("lt", a, b),
  le: (compare, a, b) => compare("le", a, b),
  gt: (compare, a, b) => compare("gt", a, b),
  ge: (compare, a, b) => compare("ge", a, b),
  equ: (compare, a, b) => not(op("v128.or", compare("lt", a, b), compare("gt", a, b))),
  neu: (compare, a, b) => compare("ne", a, b),
  ltu: (compare, a, b) => not(compare("ge", a, b)),
  leu: (compare, a, b) => not(compare("gt", a, b)),
  gtu: (compare, a, b) => not(compare("le", a, b)),
  geu: (compare, a, b) => not(compare("lt", a, b)),
  num: (compare, a, b) => op("v128.and", compare("eq", a, a), compare("eq", b, b)),
  nan: (compare, a, b) => op("v128.or", compare("ne", a, a), compare("ne", b, b)),
};

type FloatComparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

function isHalf(type: TypeName): type is HalfType {
  return type === "f16" || type === "bf16";
}

/** Whether values compare, as a mask as wide as the lanes; undefined for packed values. */
function comparison(
  match: Match,
  type: TypeName,
): ((scratch: Scratch, a: Expr, b: Expr) => Expr) | undefined {
  const name = [...match.bound].find(([variable]) => /^CMP|^eq\|ne$/.test(variable))?.[1] ?? "";
  const integer = integerType(type);
  if (integer !== undefined) return (_, a, b) => compareIntegers(name, integer, a, b);
  const floats = FLOATS[name];
  if (floats === undefined) return undefined;
  const ftz = has(match, "ftz");
  if (type === "f64") return (_, a, b) => floats((each, x, y) => op(`f64x2.${each}`, x, y), a, b);
  const singles = (a: Expr, b: Expr): Expr =>
    floats((each, x, y) => op(`f32x4.${each}`, x, y), a, b);
  if (type === "f32") {
    return (scratch, a, b) =>
      ftz ? singles(flushed(scratch, a), flushed(scratch, b)) : singles(a, b);
  }
  if (!isHalf(type)) return undefined;
  return (scratch, a, b) => {
    const single = (value: Expr): Expr =>
      decodeHalf(scratch, type, ftz ? flushedHalf(scratch, value) : value);
    return singles(single(a), single(b));
  };
}

/** The result of a comparison, combined with a predicate if there is one. */
function combined(match: Match, result: Expr, c: Expr | undefined): Expr {
  const how = match.bound.get("BOOL");
  if (c === undefined || (how !== "and" && how !== "or" && how !== "xor")) return result;
  return op(`v128.${how}`, result, c);
}

export function setpForm(match: Match): Primitive | undefined {
  const type = typesOf(match)[0];
  if (type === undefined) return undefined;
  const shape = shapeOf(match);
  const packed = type === "f16x2" || type === "bf16x2";
  const compare = comparison(match, packed ? type === "f16x2" ? "f16" : "bf16" : type);
  if (compare === undefined) return undefined;
  if (packed) {
    return vectorPrimitive({
      ...shape,
      evaluate: (scratch, a, b, c) => {
        const low = (value: Expr): Expr => op("v128.and", value, word(0xffff));
        const high = (value: Expr): Expr => op("i32x4.shr_u", value, i32(16));
        return [
          combined(match, compare(scratch, low(a), low(b)), shape.sources[2] && c),
          combined(match, compare(scratch, high(a), high(b)), shape.sources[2] && c),
        ];
      },
    });
  }
  return vectorPrimitive({
    ...shape,
    evaluate: (scratch, a, b, c) => {
      const result = scratch.let(compare(scratch, a, b));
      const by = shape.sources[2] && c;
      return [combined(match, result, by), combined(match, not(result), by)];
    },
  });
}

/** set: all ones, or 1.0 in single precision. */
export function setForm(match: Match): Primitive | undefined {
  const [to, from] = typesOf(match);
  if (from === undefined || (to !== "u32" && to !== "s32" && to !== "f32")) return undefined;
  const compare = TYPES[from].bits === 32 && from.endsWith("x2")
    ? undefined
    : comparison(match, from);
  if (compare === undefined) return undefined;
  const shape = shapeOf(match);
  return vectorPrimitive({
    ...shape,
    evaluate: (scratch, a, b, c) => {
      const result = combined(match, compare(scratch, a, b), shape.sources[2] && c);
      const words = TYPES[from].bits === 64 ? pickEven(scratch.let(result)) : result;
      return [to === "f32" ? op("v128.and", words, word(0x3f800000)) : words];
    },
  });
}

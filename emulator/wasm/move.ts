/** Moves, packing and unpacking, and selection (PTX ISA 9.0, 9.7.9.1, 9.7.9.21, 9.7.6.3, 9.7.6.4). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { type Expr, i32, op, select, word } from "./expr.ts";
import { flushed } from "./single.ts";
import { chose, type Evaluate, has, shapeOf, typesOf } from "./shape.ts";
import type { Primitive } from "./primitive.ts";
import { pickEven, vectorPrimitive } from "./vector.ts";

/** The elements of narrow rows side by side in values of so many bits. */
function pack(bits: number, parts: readonly Expr[]): Expr {
  const each = bits / parts.length;
  const widened = (part: Expr): Expr => bits === 64 ? op("i64x2.extend_low_i32x4_u", part) : part;
  return parts.map((part, i) =>
    i === 0
      ? widened(part)
      : op(bits === 64 ? "i64x2.shl" : "i32x4.shl", widened(part), i32(i * each))
  ).reduce((all, part) => op("v128.or", all, part));
}

/** The elements of a value. */
function unpack(bits: number, count: number, value: Expr): readonly Expr[] {
  const each = bits / count;
  return Array.from({ length: count }, (_, i): Expr => {
    const moved = i === 0
      ? value
      : op(bits === 64 ? "i64x2.shr_u" : "i32x4.shr_u", value, i32(i * each));
    const low = bits === 64 ? pickEven(moved) : moved;
    return each === 32 ? low : op("v128.and", low, word(2 ** each - 1));
  });
}

function moved(match: Match): Evaluate {
  const [target, source] = match.operands;
  const bits = TYPES[typesOf(match)[0] ?? "b32"].bits;
  if (source?.operand.kind === "vector" && target?.operand.kind === "vector") {
    return (_, ...values) => values;
  }
  if (source?.operand.kind === "vector") return (_, ...values) => [pack(bits, values)];
  if (target?.operand.kind !== "vector") return (_, value) => [value];
  const { length } = target.operand.elements;
  return (_, value) => unpack(bits, length, value);
}

export function moveForm(match: Match): Primitive | undefined {
  const type = typesOf(match)[0];
  if (type === undefined || type === "pred" || type === "b128") return undefined;
  const shape = shapeOf(match);
  const bits = TYPES[type].bits;
  // A special register may be wider than what is read of it.
  if (bits === 16 && match.operands[1]?.operand.kind === "special") {
    const evaluate: Evaluate = (_, value) => [op("v128.and", value, word(0xffff))];
    return vectorPrimitive({ ...shape, name: "mov:16 of 32", evaluate });
  }
  if (shape.sources.length === 1 && shape.results.length === 1) {
    return vectorPrimitive({ ...shape, name: `mov:${bits}`, evaluate: (_, value) => [value] });
  }
  return vectorPrimitive({ ...shape, evaluate: moved(match) });
}

/** Global addresses are the same in both views. */
export function addressForm(match: Match): Primitive | undefined {
  return chose(match, "global")
    ? vectorPrimitive({ ...shapeOf(match), name: "mov:64", evaluate: (_, value) => [value] })
    : undefined;
}

export function selectForm(match: Match): Primitive | undefined {
  return vectorPrimitive({ ...shapeOf(match), evaluate: (_, a, b, c) => [select(c, a, b)] });
}

/** a where c >= 0, else b; c is an integer or a single. */
export function signSelectForm(match: Match): Primitive | undefined {
  const [type, by] = typesOf(match);
  if (type === undefined) return undefined;
  return vectorPrimitive({
    ...shapeOf(match),
    evaluate: (scratch, a, b, c) => {
      const tested = has(match, "ftz") ? flushed(scratch, c) : c;
      const words = by === "f32"
        ? op("f32x4.ge", tested, word(0))
        : op("i32x4.ge_s", tested, word(0));
      const mask = TYPES[type].bits === 64 ? op("i64x2.extend_low_i32x4_s", words) : words;
      return [select(mask, a, b)];
    },
  });
}

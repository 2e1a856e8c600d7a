/**
 * Small integers as halves, two at a time: the ends of numbers that are beside each other (bytes.ts), of which one subtraction
 * of pairs takes what is above them. `cvt` takes an instruction for each, of which a multiprocessor does a quarter as many.
 * Of differences each operand has the same above it. Results are exact.
 */
import type { Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { isPointer } from "../../ir/types.ts";
import type { Operand } from "../../ptx/func.ts";
import { SCALARS } from "../../support/scalar.ts";
import type { LowerContext } from "../context.ts";
import { permuteBytes, whole } from "../element.ts";
import { int } from "../emitter.ts";
import { lowered, memo } from "../values.ts";

/** What has integers from 0 to `most` as the ends of its fraction, in a type of two bytes. */
interface Above {
  readonly bits: number;
  readonly most: bigint;
  readonly subtract: string;
}

/** 1024, and 128. */
const ABOVE: Readonly<Record<"float16" | "bfloat16", Above>> = {
  float16: { bits: 0x6400, most: 1023n, subtract: "sub.rn.f16x2" },
  bfloat16: { bits: 0x4300, most: 127n, subtract: "sub.rn.bf16x2" },
};
/** In both halves of a word. */
const TWICE = 0x00010001n;

/** Lets two neighbours in registers of a conversion of integers, or of their differences, be converted at once. */
export function convertInPairs(cx: LowerContext, result: Value, value: Value): void {
  const { element, layout } = result.type;
  const from = value.type.element;
  const isPair = element === "float16" ||
    (element === "bfloat16" && cx.emitter.target.bfloat16Pairs);
  const isWord = !isPointer(from) && SCALARS[from].class === "int" && SCALARS[from].bits === 32;
  if (!isPair || !isWord || layout === undefined || layout.register.length === 0) return;
  const above = ABOVE[element];
  const difference = madeBy(value, "sub");
  const { left, right } = difference === undefined
    ? { left: value, right: undefined }
    : operandsOf(difference);
  const [first, second] = [left, right].map((one) => one && endsOf(cx, one, above));
  if (first === undefined || (right !== undefined && second === undefined)) return;
  const e = cx.emitter;
  const least = int(BigInt(above.bits) * TWICE);
  cx.values.set(
    result,
    memo(cx, (register) => {
      const even = register & ~1;
      const less = second === undefined ? e.inRegister(least, "b32") : second(even);
      const word = e.pure(above.subtract, "b32", [first(even), less]);
      return { kind: "piece", word, byte: (register & 1) * 2, bytes: 2 };
    }),
  );
}

/** Two neighbours as the ends of what is above them; undefined where they may be too large. */
function endsOf(
  cx: LowerContext,
  value: Value,
  { bits, most }: Above,
): ((even: number) => Operand) | undefined {
  const bounds = boundsOf(value);
  if (bounds === undefined || bounds.least < 0n || bounds.most > most) return undefined;
  const e = cx.emitter;
  // What a constant leaves of numbers is taken of both at once.
  const and = madeBy(value, "and");
  const mask = and === undefined ? undefined : constantOf(operandsOf(and).right);
  const source = and !== undefined && typeof mask === "bigint" ? operandsOf(and).left : value;
  return (even) => {
    const [low, high] = [even, even + 1].map((register) =>
      e.inRegister(whole(e, lowered(cx, source)(register), source.type.element), "b32")
    );
    const both = permuteBytes(e, low ?? int(0), high ?? int(0), [0, 1, 4, 5]);
    const ends = typeof mask === "bigint"
      ? e.pure("and.b32", "b32", [both, int(mask * TWICE)])
      : both;
    return e.pure("or.b32", "b32", [ends, int(BigInt(bits) * TWICE)]);
  };
}

interface Bounds {
  readonly least: bigint;
  readonly most: bigint;
}

/** Between which numbers those of a tile are, as far as a few operations show. */
function boundsOf(value: Value): Bounds | undefined {
  const { def } = value;
  if (def === undefined) return undefined;
  const constant = constantOf(value);
  if (constant !== undefined) {
    return typeof constant === "bigint" ? { least: constant, most: constant } : undefined;
  }
  const [first, second] = def.operands;
  if (first === undefined) return undefined;
  if (hasTrait(def, "reshapes") || def.name === "convert_layout") return boundsOf(first);
  if (def.name === "and") {
    const mask = constantOf(second);
    return typeof mask === "bigint" && mask >= 0n ? { least: 0n, most: mask } : undefined;
  }
  const [a, b] = def.name === "add" && second !== undefined
    ? [boundsOf(first), boundsOf(second)]
    : [];
  return a && b && { least: a.least + b.least, most: a.most + b.most };
}

/**
 * Arithmetic on two halves that are beside each other in a word, by one instruction: what was loaded, or converted, in words is
 * computed in words. Results are those of the two elements alone.
 */
import type { OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { registerCount } from "../layout/tiles.ts";
import type { Operand } from "../ptx/func.ts";
import type { LowerContext } from "./context.ts";
import { type Ref, whole } from "./element.ts";
import { type Emitter, operandKey } from "./emitter.ts";
import { lowered, memo } from "./values.ts";

type PairOp = "add" | "sub" | "mul";

/** Bits that the numbers of two registers differ in: neighbours along k, and of rows, whose bytes are beside each other. */
const BITS = [1, 2] as const;

/** Bytes of an element. */
const HALF = 2;

/** The word of two elements in this order. */
function wordOf([low, high]: readonly [Ref, Ref]): Operand | undefined {
  return low.kind === "piece" && high.kind === "piece" && low.word === high.word &&
      low.bytes === HALF && low.byte === 0 && high.bytes === HALF && high.byte === HALF
    ? low.word
    : undefined;
}

/** A word that has an element twice, if both are the same one. */
function doubled(
  e: Emitter,
  [low, high]: readonly [Ref, Ref],
  type: Value["type"],
): Operand | undefined {
  const [a, b] = [low, high].map((ref) => whole(e, ref, type.element));
  if (a === undefined || b === undefined || operandKey(a) !== operandKey(b)) return undefined;
  const element = e.inRegister(a, "b16");
  return e.pure("mov.b32", "b32", [{ kind: "vector", elements: [element, element] }]);
}

/** Computes pairs at once where one operand has them in words, and the other one has too or is the same for both. */
export function inPairs(cx: LowerContext, op: OpOf<PairOp>): void {
  const e = cx.emitter;
  const { left, right } = operandsOf(op);
  const result = resultOf(op);
  const { element, shape } = result.type;
  const type = element === "float16"
    ? "f16x2"
    : element === "bfloat16" && e.target.bfloat16Pairs
    ? "bf16x2"
    : undefined;
  if (type === undefined || shape.length === 0 || registerCount(result) < 2) return;
  const each = lowered(cx, result);
  const pairOf = (value: Value, low: number, bit: number): [Ref, Ref] => {
    const refs = lowered(cx, value);
    return [refs(low), refs(low | bit)];
  };
  const wordFrom = (low: number, bit: number): Operand | undefined => {
    const [a, b] = [pairOf(left, low, bit), pairOf(right, low, bit)];
    const [x, y] = [wordOf(a), wordOf(b)];
    const first = x ?? (y && doubled(e, a, left.type));
    const second = y ?? (x && doubled(e, b, right.type));
    return first && second && e.pure(`${op.name}.rn.${type}`, "b32", [first, second]);
  };
  const bits = BITS.filter((bit) => bit < registerCount(result));
  cx.values.set(
    result,
    memo(cx, (register): Ref => {
      // Nothing else is asked for where no operand is in a word.
      const isInWord = [left, right].some((value) => lowered(cx, value)(register).kind === "piece");
      if (!isInWord) return each(register);
      for (const bit of bits) {
        const word = wordFrom(register & ~bit, bit);
        if (word === undefined) continue;
        return { kind: "piece", word, byte: (register & bit) === 0 ? 0 : HALF, bytes: HALF };
      }
      return each(register);
    }),
  );
}

/**
 * Arithmetic on two halves that are beside each other in a word, by one instruction: what was loaded, or converted, in words is
 * computed in words. Results are those of the two elements alone.
 */
import type { OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { registerCount } from "../layout/tiles.ts";
import type { Operand } from "../ptx/func.ts";
import type { LowerContext } from "./context.ts";
import { type Part, type Ref, whole } from "./element.ts";
import { type Emitter, operandKey } from "./emitter.ts";
import { lowered, memo } from "./values.ts";

type PairOp = "add" | "sub" | "mul";

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
  const pairOf = (value: Value, low: number): [Ref, Ref] => {
    const refs = lowered(cx, value);
    return [refs(low), refs(low + 1)];
  };
  const wordFrom = (low: number): Operand | undefined => {
    const [a, b] = [pairOf(left, low), pairOf(right, low)];
    const [x, y] = [wordOf(a), wordOf(b)];
    const first = x ?? (y && doubled(e, a, left.type));
    const second = y ?? (x && doubled(e, b, right.type));
    return first && second && e.pure(`${op.name}.rn.${type}`, "b32", [first, second]);
  };
  cx.values.set(
    result,
    memo(cx, (register): Ref => {
      const word = wordFrom(register & ~1);
      const part = (of: Operand): Part => ({
        kind: "piece",
        word: of,
        byte: (register & 1) * HALF,
        bytes: HALF,
      });
      return word === undefined ? each(register) : part(word);
    }),
  );
}

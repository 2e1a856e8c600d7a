/**
 * Elements as whole words, for shuffles and shared memory: halves as floats, bool as 0 or 1, narrow integers
 * extended. Nothing is lost either way.
 */
import type { Operand } from "../../ptx/func.ts";
import { type Element, isPointer } from "../../ir/types.ts";
import type { ScalarName } from "../../support/scalar.ts";
import { convertScalar } from "./convert.ts";
import { bankOf } from "../element.ts";
import { type Emitter, int, isInteger } from "../emitter.ts";

/** Banks that shuffles and exchanges move. */
export type WordBank = "b32" | "b64";

/** The type that elements are as words. */
export function wordType(element: Element): ScalarName {
  if (isPointer(element)) return "uint64";
  if (element === "bool") return "uint32";
  return bankOf(element) === "b16" ? "float32" : element;
}

export function wordBank(element: Element): WordBank {
  return bankOf(wordType(element)) === "b64" ? "b64" : "b32";
}

/** An element as a word. */
export function toWord(e: Emitter, value: Operand, element: Element): Operand {
  if (isPointer(element)) return value;
  if (element === "bool") {
    return isInteger(value) ? value : e.pure("selp.b32", "b32", [int(1), int(0), value]);
  }
  return convertScalar(e, value, element, wordType(element));
}

/** The element of a word. */
export function fromWord(e: Emitter, word: Operand, element: Element): Operand {
  if (isPointer(element)) return word;
  if (element === "bool") return e.pure("setp.ne.s32", "pred", [e.inRegister(word, "b32"), int(0)]);
  return convertScalar(e, word, wordType(element), element);
}

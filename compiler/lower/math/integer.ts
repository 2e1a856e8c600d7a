/** Functions on integers: bits, high halves of products, absolute values, and the random words of Philox. */
import type { Operand } from "../../ptx/func.ts";
import { type Element, isPointer } from "../../ir/types.ts";
import type { IntegerFunction } from "../../support/math_functions.ts";
import { SCALARS } from "../../support/scalar.ts";
import { type Emitter, int } from "../emitter.ts";
import { philox } from "./philox.ts";

/** A formula of one operand leaves the second one out. */
type IntegerFormula = (e: Emitter, element: Element, x: Operand, y: Operand) => Operand;
type Unary = (e: Emitter, element: Element, x: Operand) => Operand;

/** 32 or 64: the width of the register that holds the element. */
function widthOf(element: Element): 32 | 64 {
  return !isPointer(element) && SCALARS[element].bits === 64 ? 64 : 32;
}

const bankOf = (element: Element): "b32" | "b64" => `b${widthOf(element)}`;
const signOf = (element: Element): "s" | "u" =>
  !isPointer(element) && SCALARS[element].signed ? "s" : "u";

/** Counting instructions give 32 bits. */
const counting = (name: string): Unary => (e, element, x) =>
  e.pure(`${name}.b${widthOf(element)}`, "b32", [x]);

const reversed: Unary = (e, element, x) =>
  e.pure(`brev.b${widthOf(element)}`, bankOf(element), [x]);

/** Functions of tile IR on integers; the words of Philox are what `rand` and the like are built from. */
export type IntegerOperation = IntegerFunction | `philox${0 | 1 | 2 | 3}`;

export const INTEGER_MATH: Readonly<Record<IntegerOperation, IntegerFormula>> = {
  abs: (e, element, x) => e.pure(`abs.s${widthOf(element)}`, bankOf(element), [x]),
  popc: counting("popc"),
  clz: counting("clz"),
  brev: reversed,
  // One more than the zeros below the lowest one; 0 has 32 or 64 of them and gives 0.
  ffs: (e, element, x) => {
    const zeros = counting("clz")(e, element, reversed(e, element, x));
    const isNone = e.pure("setp.eq.s32", "pred", [zeros, int(widthOf(element))]);
    return e.pure("selp.b32", "b32", [int(0), e.add("b32", zeros, int(1)), isNone]);
  },
  mulhi: (e, element, x, y) =>
    e.pure(`mul.hi.${signOf(element)}${widthOf(element)}`, bankOf(element), [x, y]),
  philox0: (e, _, key, counter) => philox(e, key, counter, 0),
  philox1: (e, _, key, counter) => philox(e, key, counter, 1),
  philox2: (e, _, key, counter) => philox(e, key, counter, 2),
  philox3: (e, _, key, counter) => philox(e, key, counter, 3),
};

export function isIntegerOperation(name: string): name is IntegerOperation {
  return Object.hasOwn(INTEGER_MATH, name);
}

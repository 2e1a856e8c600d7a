/** Functions on integers: bits, high halves of products, absolute values, and the random words of Philox. */
import type { Operand } from "../../ptx/func.ts";
import { type Element, isPointer } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import type { IntegerFunction } from "../../support/math_functions.ts";
import { SCALARS } from "../../support/scalar.ts";
import { type Emitter, int } from "../emitter.ts";
import { philox } from "./philox.ts";

type IntegerFormula = (e: Emitter, element: Element, args: readonly Operand[]) => Operand;

/** 32 or 64: the width of the register that holds the element. */
function widthOf(element: Element): 32 | 64 {
  return !isPointer(element) && SCALARS[element].bits === 64 ? 64 : 32;
}

const bankOf = (element: Element): "b32" | "b64" => `b${widthOf(element)}`;
const signOf = (element: Element): "s" | "u" =>
  !isPointer(element) && SCALARS[element].signed ? "s" : "u";
const arg = (args: readonly Operand[], index: number): Operand =>
  must(args[index], `argument ${index}`);

/** Counting instructions give 32 bits. */
const counting = (name: string): IntegerFormula => (e, element, args) =>
  e.pure(`${name}.b${widthOf(element)}`, "b32", [arg(args, 0)]);

const reversed: IntegerFormula = (e, element, args) =>
  e.pure(`brev.b${widthOf(element)}`, bankOf(element), [arg(args, 0)]);

/** Functions of tile IR on integers; the words of Philox are what `rand` and the like are built from. */
export type IntegerOperation = IntegerFunction | `philox${0 | 1 | 2 | 3}`;

export const INTEGER_MATH: Readonly<Record<IntegerOperation, IntegerFormula>> = {
  abs: (e, element, args) => e.pure(`abs.s${widthOf(element)}`, bankOf(element), [arg(args, 0)]),
  popc: counting("popc"),
  clz: counting("clz"),
  brev: reversed,
  // One more than the zeros below the lowest one; 0 has 32 or 64 of them and gives 0.
  ffs: (e, element, args) => {
    const zeros = counting("clz")(e, element, [reversed(e, element, args)]);
    const isNone = e.pure("setp.eq.s32", "pred", [zeros, int(widthOf(element))]);
    return e.pure("selp.b32", "b32", [int(0), e.add("b32", zeros, int(1)), isNone]);
  },
  mulhi: (e, element, args) =>
    e.pure(`mul.hi.${signOf(element)}${widthOf(element)}`, bankOf(element), [
      arg(args, 0),
      arg(args, 1),
    ]),
  philox0: (e, _, args) => philox(e, arg(args, 0), arg(args, 1), 0),
  philox1: (e, _, args) => philox(e, arg(args, 0), arg(args, 1), 1),
  philox2: (e, _, args) => philox(e, arg(args, 0), arg(args, 1), 2),
  philox3: (e, _, args) => philox(e, arg(args, 0), arg(args, 1), 3),
};

export function isIntegerOperation(name: string): name is IntegerOperation {
  return Object.hasOwn(INTEGER_MATH, name);
}

/** The same bits in another type: registers of narrow elements differ in size and in what fills them up. */
import type { Operand } from "../../ptx/func.ts";
import { type Element, isPointer } from "../../ir/types.ts";
import { SCALARS } from "../../support/scalar.ts";
import { bankOf } from "../element.ts";
import { type Emitter, int } from "../emitter.ts";

export function bitcastElement(e: Emitter, value: Operand, from: Element, to: Element): Operand {
  const source = e.inRegister(value, bankOf(from));
  if (isPointer(to) || to === "bool" || bankOf(to) === "b64") return source;
  const { bits, signed, class: kind } = SCALARS[to];
  if (bits === 32) return source;
  if (bankOf(to) === "b16") {
    return bankOf(from) === "b16" ? source : e.pure("cvt.u16.u32", "b16", [source]);
  }
  const word = bankOf(from) === "b16" ? e.pure("cvt.u32.u16", "b32", [source]) : source;
  // Narrow integers are extended by their own sign, float8 with zeros.
  const extract = signed && kind === "int" ? "bfe.s32" : "bfe.u32";
  return e.pure(extract, "b32", [word, int(0), int(bits)]);
}

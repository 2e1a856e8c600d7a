/** The registers of a body that is emitted, with what is known of them. */
import type { Operand, Register } from "../ptx/func.ts";

/** Storage classes of registers; all arithmetic types share them (PTX ISA 9.0, 5.2.2 operand type checking). */
export type Bank = "pred" | "b16" | "b32" | "b64";

/** What names of registers begin with. */
export const PREFIX: Readonly<Record<Bank, string>> = { pred: "p", b16: "h", b32: "r", b64: "rd" };

/** An operand as a base and a constant. */
export interface Sum {
  readonly base: Operand;
  readonly constant: bigint;
}

/** Floats of 16 bits. */
export type HalfName = "float16" | "bfloat16";

/** A register of the body that is emitted. What is known of it is asked for again and again, so it holds that. */
export class BodyRegister implements Register {
  readonly kind = "register";
  /** What it is the sum of; undefined: itself and nothing. */
  sum: Sum | undefined = undefined;
  /** The float that it was rounded from, and to which type. */
  rounded: { readonly from: Operand; readonly to: HalfName } | undefined = undefined;

  constructor(
    readonly type: Bank,
    /** Unique in the body; the last one is given when the body is complete (`name_registers.ts`). */
    public name: string,
    readonly index: number,
    /** Index of the scope where it gets its value. */
    public depth: number,
  ) {}
}

/** The registers of a body that is emitted, with what is known of them. */
import type { Operand, Register } from "../ptx/func.ts";

/** Storage classes of registers; all arithmetic types share them (PTX ISA 9.0, 5.2.2 operand type checking). */
export type Bank = "pred" | "b16" | "b32" | "b64";

/** An operand as a base and a constant. */
export interface Sum {
  readonly base: Operand;
  readonly constant: bigint;
}

/** Floats of 16 bits. */
export type HalfName = "float16" | "bfloat16";

/** What is known of a register. */
export interface Facts {
  /** Index of the scope where it gets its value. */
  depth: number;
  /** What it is the sum of; undefined: itself and nothing. */
  sum: Sum | undefined;
  /** The float that it was rounded from, and to which type. */
  rounded: { readonly from: Operand; readonly to: HalfName } | undefined;
}

/** A register of the body that is emitted. What is known of it is asked for again and again, so it holds that. */
export class BodyRegister implements Register {
  readonly kind = "register";

  constructor(
    readonly type: Bank,
    readonly name: string,
    readonly index: number,
    readonly facts: Facts,
  ) {}
}

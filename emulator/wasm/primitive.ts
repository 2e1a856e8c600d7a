/**
 * Primitives: WebAssembly functions that execute one form of instruction for a whole warp. Parameters are the offsets
 * of its rows in the memory, and the mask of the lanes that take part; lanes that do not keep what they have. The
 * code of a primitive is written into the module that calls it, as a function that takes the arguments and the mask.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import type { Code } from "./code.ts";

/** An i32 that the caller passes, in terms of `HandlerContext`. */
export type Argument =
  /** Where the row of an operand is. */
  | { readonly kind: "row"; readonly operand: Operand; readonly type: TypeName }
  /** Where the word of a predicate is. */
  | { readonly kind: "predicate"; readonly operand: Operand }
  /** What its bits are to be xored with: 0 or -1. */
  | { readonly kind: "invert"; readonly operand: Operand }
  /** Where the row of the base of an address is. */
  | { readonly kind: "base"; readonly operand: Operand }
  /** The constant part of an address; all of it where the base is no register. */
  | { readonly kind: "offset"; readonly operand: Operand }
  /** The register file itself. */
  | { readonly kind: "register file" };

export interface Primitive {
  /** Primitives of the same name have the same code. */
  readonly name: string;
  /** Parameters before the mask. */
  readonly arguments: readonly Argument[];
  /** Whether it leaves an i32: not 0 where it has done nothing, and the handler must act instead. */
  readonly declines: boolean;
  readonly emit: (code: Code) => void;
}

/** A row of a primitive. */
export interface Row {
  readonly kind: "row";
  readonly operand: Operand;
  readonly type: TypeName;
  /** 8, 16, 32 or 64: of the register, or of the type where there is none. */
  readonly bits: number;
}

export interface PredicateOperand {
  readonly kind: "predicate";
  readonly operand: Operand;
}

/** Bits of the register or literal that represents a value. */
export function operandBits(operand: Operand, type: TypeName): number {
  return TYPES[operand.kind === "register" ? operand.type : type].bits;
}

export function row(operand: Operand, type: TypeName): Row {
  return { kind: "row", operand, type, bits: operandBits(operand, type) };
}

export function predicate(operand: Operand): PredicateOperand {
  return { kind: "predicate", operand };
}

/** Parameters of a primitive: results, then sources; predicates among the sources come with what to xor. */
export function argumentsOf(
  results: readonly (Row | PredicateOperand)[],
  sources: readonly (Row | PredicateOperand)[],
): Argument[] {
  const plain = ({ kind, operand, ...rest }: Row | PredicateOperand): Argument =>
    kind === "row" && "type" in rest
      ? { kind, operand, type: rest.type }
      : { kind: "predicate", operand };
  return [
    ...results.map(plain),
    ...sources.flatMap((source) =>
      source.kind === "row"
        ? [plain(source)]
        : [plain(source), { kind: "invert", operand: source.operand } as const]
    ),
  ];
}

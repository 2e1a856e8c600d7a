/** A kernel's parameters as contracts see them. */
import type { ParamAttributes, TypedKernel, TypedParam } from "../check/tree/typed.ts";
import { elementBytes, type Type } from "../check/tree/types.ts";
import { bug } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";

export interface KernelParam {
  readonly name: string;
  readonly type: Type;
  readonly isPointer: boolean;
  /** Allowed in contract expressions. */
  readonly isInteger: boolean;
  /** The type itself, or the pointee; `void` counts as bytes, a pointee that is a pointer as an address. */
  readonly scalar: ScalarName;
  readonly attributes: ParamAttributes;
  readonly span: Span;
}

export interface KernelParams {
  readonly name: string;
  readonly params: readonly KernelParam[];
}

/** The parameters of a checked kernel. */
export function kernelParams(kernel: TypedKernel): KernelParams {
  return { name: kernel.name, params: kernel.params.map(kernelParam) };
}

function kernelParam({ variable, attributes }: TypedParam): KernelParam {
  const { name, type, span } = variable;
  const isPointer = type.kind === "pointer";
  const scalar = scalarOf(type);
  const isInteger = !isPointer && scalar !== "bool" && SCALARS[scalar].class === "int";
  return { name, type, isPointer, isInteger, scalar, attributes, span };
}

function scalarOf(type: Type): ScalarName {
  if (type.kind === "scalar") return type.name;
  if (type.kind !== "pointer") return bug(`A kernel parameter is a ${type.kind}`);
  if (type.pointee.kind === "void") return "uint8";
  return type.pointee.kind === "scalar" ? type.pointee.name : "uint64";
}

/** Whether a tuning key may have it. */
export function mayBeKey({ isPointer, isInteger, scalar }: KernelParam): boolean {
  return isInteger || (!isPointer && scalar === "bool");
}

/** Bytes of what a pointer points to; addresses are multiples of it (language.md 3.2). */
export function naturalAlignment(param: KernelParam): number {
  return elementBytes({ kind: "scalar", name: param.scalar });
}

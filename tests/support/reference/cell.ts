/**
 * One element of a value as the reference knows it: what it is, and how far a kernel may be from it where the
 * language leaves an order, an accuracy or a contraction open. An element that nothing defines is unknown.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { SCALARS } from "../../../compiler/support/scalar.ts";
import { type FloatName, isFloatName, largestOf, roundTo, spacing } from "./formats.ts";

/** A buffer of the host. */
export interface Memory {
  readonly name: string;
  readonly element: ScalarName;
  readonly cells: Cell[];
}

export type Cell = IntCell | FloatCell | PointerCell;

/** Integers and bool, in the range of their type. */
export interface IntCell {
  readonly kind: "int";
  readonly value: bigint;
  readonly known: boolean;
}

export interface FloatCell {
  readonly kind: "float";
  readonly value: number;
  /** The kernel's value lies within this distance; Infinity for an unknown one, 0 for exactly this one. */
  readonly error: number;
  /**
   * How much further it may be as an operand of a sum: a product may be fused into the sum and then is not
   * rounded (language.md, 9.2).
   */
  readonly slack: number;
  /** Set for an element of `@`: it may be accumulated term by term into what it is added to. */
  readonly terms?: Terms;
}

/** What an element of a matrix product was summed from. */
export interface Terms {
  readonly count: number;
  /** Sum of the magnitudes. */
  readonly magnitude: number;
  /** Every term is a multiple of this power of two. */
  readonly grain: number;
  /** Bits that the summation keeps. */
  readonly bits: number;
}

export interface PointerCell {
  readonly kind: "pointer";
  /** Undefined for null and for what is not known. */
  readonly memory: Memory | undefined;
  /** Position in elements. */
  readonly index: bigint;
  readonly known: boolean;
}

/** The elements of a value in row-major order; a scalar has one. */
export type Cells = readonly Cell[];

export const integer = (value: bigint): IntCell => ({ kind: "int", value, known: true });
export const boolean = (value: boolean): IntCell => integer(value ? 1n : 0n);
export const UNKNOWN_INT: IntCell = { kind: "int", value: 0n, known: false };
export const UNKNOWN_FLOAT: FloatCell = { kind: "float", value: 0, error: Infinity, slack: 0 };
export const NULL: PointerCell = { kind: "pointer", memory: undefined, index: 0n, known: true };

/** A float that is exactly this value. */
export const exact = (value: number): FloatCell => ({ kind: "float", value, error: 0, slack: 0 });

export function isExact(cell: FloatCell): boolean {
  return cell.error === 0;
}

/** The error of an operation on inexact operands: one that underflows stays one, for the sign of a zero may depend on it. */
export const notZero = (error: number): number => error === 0 ? Number.MIN_VALUE : error;

/**
 * The result of a correctly rounded operation whose real result is `value`, give or take `error`. A kernel
 * rounds something within that distance; so both roundings count.
 */
export function rounded(value: number, error: number, type: FloatName): FloatCell {
  if (error === 0) return exact(roundTo(value, type));
  const total = error + spacing(Math.abs(value) + error, type);
  if (!Number.isFinite(value) || !(Math.abs(value) + total <= largestOf(type))) {
    return UNKNOWN_FLOAT;
  }
  return { kind: "float", value, error: total, slack: 0 };
}

/** What an element is before anything is assigned to it. */
export function unknown(element: ScalarName | "pointer"): Cell {
  if (element === "pointer") return { ...NULL, known: false };
  return isFloatName(element) ? UNKNOWN_FLOAT : UNKNOWN_INT;
}

/** What a lane without mask loads. */
export function zero(element: ScalarName | "pointer"): Cell {
  if (element === "pointer") return NULL;
  return isFloatName(element) ? exact(0) : integer(0n);
}

export function isKnown(cell: Cell): boolean {
  return cell.kind === "float" ? cell.error !== Infinity : cell.known;
}

/** The low bits, read by the type's signedness. */
export function wrap(value: bigint, type: ScalarName): IntCell {
  const { bits, signed } = SCALARS[type];
  return integer(signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
}

/** Either of two elements: known only where they agree. */
export function either(a: Cell, b: Cell): Cell {
  if (a.kind === "float" && b.kind === "float") {
    const same = isExact(a) && isExact(b) && Object.is(a.value, b.value);
    return same ? a : UNKNOWN_FLOAT;
  }
  if (a.kind === "int" && b.kind === "int") {
    return a.known && b.known && a.value === b.value ? a : UNKNOWN_INT;
  }
  if (a.kind === "pointer" && b.kind === "pointer") {
    const same = a.known && b.known && a.memory === b.memory && a.index === b.index;
    return same ? a : { ...NULL, known: false };
  }
  throw new TypeError("elements of two kinds");
}

/** The reference cannot say which way the program goes: rounding decides. */
export class Undecided extends Error {}

/** A construct that the reference does not interpret. */
export class NotInterpreted extends Error {}

/** The program did what no program may do. */
export class Misbehaved extends Error {}

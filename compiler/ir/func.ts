/** The tile IR: SSA values, operations and regions as plain data, and the builder that makes them. */
import type { Span } from "../support/source.ts";
import type { IrType } from "./types.ts";
import type { TileOp } from "./ops.ts";

export type AttrValue = number | bigint | string | boolean | readonly number[] | readonly string[];
export type Attrs = Readonly<Record<string, AttrValue>>;

export interface Value {
  readonly id: number;
  type: IrType;
  /** For dumps: the source variable, if one was assigned this value. */
  name?: string;
  /** The operation that made it; absent for parameters of functions and regions. */
  def?: Op;
}

export interface Op {
  readonly name: TileOp;
  operands: Value[];
  readonly results: Value[];
  attrs: Attrs;
  readonly regions: Region[];
  readonly span: Span;
}

/** A single basic block; control flow is structured. */
export interface Region {
  readonly params: Value[];
  ops: Op[];
}

/** What is known of a kernel parameter: attributes, pragmas and the instance's specialisation together. */
export interface ParamFacts {
  readonly multipleof: number; // 1: nothing known. Elements for integers, bytes for pointers (alignment)
  readonly noalias: boolean;
  readonly readonly: boolean;
  readonly writeonly: boolean;
}

export interface Func {
  readonly name: string;
  readonly params: readonly Value[];
  readonly paramFacts: readonly ParamFacts[];
  readonly body: Region;
  nextId: number;
}

export function newFunc(name: string): Func & { params: Value[]; paramFacts: ParamFacts[] } {
  return { name, params: [], paramFacts: [], body: { params: [], ops: [] }, nextId: 0 };
}

export function newValue(func: Func, type: IrType, name?: string): Value {
  return name === undefined ? { id: func.nextId++, type } : { id: func.nextId++, type, name };
}

/** Makes an operation without inserting it. */
export function newOp(
  func: Func,
  name: TileOp,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: Attrs = {},
  regions: Region[] = [],
): Op {
  const op: Op = { name, operands: [...operands], results: [], attrs, regions, span };
  for (const type of resultTypes) {
    const value = newValue(func, type);
    value.def = op;
    op.results.push(value);
  }
  return op;
}

/** The tile IR: SSA values, operations and regions as plain data, and the builder that makes them. */
import type { Span } from "../support/source.ts";
import type { TensorMap } from "./tensor_map.ts";
import type { IrType } from "./types.ts";
import type { AttrsOf, BareOp, TileOp } from "./ops.ts";
import { bug } from "../support/bug.ts";

export type AttrValue = number | bigint | string | boolean | readonly number[] | readonly string[];
/** Attributes of any operation, by name. Those of one whose name is known are typed: `op.attrs.axis`. */
export type Attrs = Readonly<Record<string, AttrValue | undefined>>;

export interface Value {
  readonly id: number;
  type: IrType;
  /** For dumps: the source variable, if one was assigned this value. */
  name?: string;
  /** Values of the function as it was built, by id, that this one equals; only where someone wants to look at them. */
  sources?: readonly number[];
  /** The operation that made it; absent for parameters of functions and regions. */
  def?: Op;
}

interface OpParts<N extends TileOp> {
  readonly name: N;
  /** As a list; `operandsOf` of op.ts has them by name. */
  operands: Value[];
  readonly results: Value[];
  readonly attrs: AttrsOf<N>;
  readonly regions: Region[];
  readonly span: Span;
}

/** An operation of one name, or of one of several. */
export type OpOf<N extends TileOp> = { readonly [K in N]: OpParts<K> }[N];
/** Any operation; comparing its name narrows it. */
export type Op = OpOf<TileOp>;

export function isOp<N extends TileOp>(op: Op | undefined, name: N): op is Op & OpOf<N> {
  return op?.name === name;
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
  /** Of integers: what is known beyond the type; inclusive. */
  readonly least?: number;
  readonly most?: number;
}

export interface Func {
  readonly name: string;
  params: readonly Value[];
  paramFacts: readonly ParamFacts[];
  body: Region;
  /** What `tensor_load` copies from, by its attribute `map`. */
  maps: readonly TensorMap[];
  /** Bytes of shared memory that a program uses, once that is decided. */
  sharedBytes?: number;
  nextId: number;
}

export function newFunc(name: string): Func & { params: Value[]; paramFacts: ParamFacts[] } {
  return { name, params: [], paramFacts: [], body: { params: [], ops: [] }, maps: [], nextId: 0 };
}

export function newValue(func: Func, type: IrType, name?: string): Value {
  return name === undefined ? { id: func.nextId++, type } : { id: func.nextId++, type, name };
}

/** A value that takes the place of an equal one has its name and its sources too. */
export function takeNames(to: Value, from: Value): void {
  if (from.name !== undefined) to.name ??= from.name;
  if (from.sources !== undefined) to.sources = [...to.sources ?? [], ...from.sources];
}

/** Makes an operation without inserting it. */
export function newOp<N extends BareOp>(
  func: Func,
  name: N,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
): OpOf<N>;
export function newOp<N extends TileOp>(
  func: Func,
  name: N,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: AttrsOf<N>,
  regions?: Region[],
): OpOf<N>;
export function newOp<N extends TileOp>(
  func: Func,
  name: N,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: Attrs = {},
  regions: Region[] = [],
): OpOf<N> {
  const op = newUncheckedOp(func, name, operands, resultTypes, span, attrs, regions);
  return isOp(op, name) ? op : bug(`made ${op.name} for ${name}`);
}

/** As {@linkcode newOp}, for attributes that are known at run time only, such as those of a dump. The verifier checks them. */
export function newUncheckedOp(
  func: Func,
  name: TileOp,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: Attrs,
  regions: Region[] = [],
): Op {
  const op = { name, operands: [...operands], results: [], attrs, regions, span } as Op;
  for (const type of resultTypes) {
    const value = newValue(func, type);
    value.def = op;
    op.results.push(value);
  }
  return op;
}

/** Gives attributes of an operation other values. */
export function setAttrs<N extends TileOp>(op: OpOf<N>, attrs: Partial<AttrsOf<N>>): void {
  Object.assign(op, { attrs: { ...op.attrs, ...attrs } });
}

/** State of the builder: the function, the operations of the current region, the value of each variable. */
import { must } from "../support/bug.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { ScalarValue } from "../support/arith.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import type { TypedHelper, Variable } from "../check/tree/typed.ts";
import {
  type Attrs,
  type Func,
  newUncheckedOp,
  newValue,
  type Op,
  type Region,
  type Value,
} from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import type { AttrsOf, BareOp, TileOp } from "../ir/ops.ts";
import { type Element, type IrType, isPointer } from "../ir/types.ts";
import type { OnHeap } from "../support/on_heap.ts";
import {
  type Copying,
  MAX_CONTROL_DEPTH,
  MAX_OPERATIONS,
  tooDeep,
  tooManyOperations,
} from "./limits.ts";
import type { NameRecorder } from "./names.ts";
import { irType } from "./types.ts";

/** Builds a statement or an expression, with its value if it has one. */
export type Building = OnHeap<Value | undefined>;
/** A part of that. */
export type BuildStep<T> = Generator<Building, T, Value | undefined>;

export interface Context {
  readonly func: Func;
  readonly reporter: Reporter;
  /** The region that is being filled. */
  region: Region;
  /** The current value of each variable in scope, by `Variable.id`. */
  values: Values;
  /** The id of the last variable that the builder made; those are negative. And how much there is already. */
  readonly made: { last: number; operations: number };
  /** Set where operations are copies. */
  copying: Copying | undefined;
  /** Branches and loops around the region. */
  depth: number;
  readonly checkPromises: boolean;
  /** Notes what variables are called and hold, for someone who wants to look at them. */
  readonly names: NameRecorder | undefined;
  /** Builds the body of a helper where it is called; gives the value that it returns. */
  readonly buildBody: (cx: Context, helper: TypedHelper) => BuildStep<Value | undefined>;
}

/** Values of variables by their ids: those of a region over those of the regions around it. */
export class Values {
  readonly #own = new Map<number, Value>();
  readonly #outer: Values | undefined;

  constructor(outer?: Values) {
    this.#outer = outer;
  }

  get(id: number): Value | undefined {
    const own = this.#own.get(id);
    if (own !== undefined) return own;
    for (let at = this.#outer; at !== undefined; at = at.#outer) {
      const found = at.#own.get(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  set(id: number, value: Value): void {
    this.#own.set(id, value);
  }

  /** Those of a region inside. */
  inner(): Values {
    return new Values(this);
  }
}

/** Appends an operation with one result. */
export function emit(
  cx: Context,
  name: BareOp,
  operands: readonly Value[],
  type: IrType,
  span: Span,
): Value;
export function emit<N extends TileOp>(
  cx: Context,
  name: N,
  operands: readonly Value[],
  type: IrType,
  span: Span,
  attrs: AttrsOf<N>,
): Value;
export function emit(
  cx: Context,
  name: TileOp,
  operands: readonly Value[],
  type: IrType,
  span: Span,
  attrs: Attrs = {},
): Value {
  return resultOf(insert(cx, name, operands, [type], span, attrs, []));
}

/** Appends an operation. */
export function append(
  cx: Context,
  name: BareOp,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
): Op;
export function append<N extends TileOp>(
  cx: Context,
  name: N,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: AttrsOf<N>,
  regions?: Region[],
): Op;
export function append(
  cx: Context,
  name: TileOp,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: Attrs = {},
  regions: Region[] = [],
): Op {
  return insert(cx, name, operands, resultTypes, span, attrs, regions);
}

function insert(
  cx: Context,
  name: TileOp,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: Attrs,
  regions: Region[],
): Op {
  countOperation(cx);
  const at = cx.names?.spanOf(span) ?? span;
  const op = newUncheckedOp(cx.func, name, operands, resultTypes, at, attrs, regions);
  cx.region.ops.push(op);
  return op;
}

/** Counts an operation, or a step that may leave none: copies of nothing take time too. */
export function countOperation(cx: Context): void {
  cx.made.operations++;
  if (cx.copying !== undefined && cx.made.operations > MAX_OPERATIONS) {
    throw tooManyOperations(cx.copying);
  }
}

export function emitConstant(cx: Context, value: ScalarValue, type: IrType, span: Span): Value {
  return emit(cx, "constant", [], type, span, { value });
}

/** 0, 0.0 or the null pointer in every element. */
export function emitZero(cx: Context, type: IrType, span: Span): Value {
  return emitConstant(cx, zeroOf(type.element), type, span);
}

function zeroOf(element: Element): ScalarValue {
  return !isPointer(element) && SCALARS[element].class === "float" ? 0 : 0n;
}

export function valueOf(cx: Context, variable: Variable): Value {
  return must(cx.values.get(variable.id), `value of variable ${variable.name}`);
}

/** Gives a variable its value; the first variable to hold a value names it in dumps. */
export function setVariable(cx: Context, variable: Variable, value: Value): void {
  value.name ??= variable.name;
  cx.names?.declare(variable);
  cx.values.set(variable.id, value);
}

/**
 * Runs `build` with an empty region current, whose parameters hold the variables `carried`; whatever it
 * assigns is forgotten afterwards, except what it returns.
 */
export function* inRegion(
  cx: Context,
  carried: readonly Variable[],
  span: Span,
  build: () => BuildStep<void>,
): BuildStep<Region> {
  const { region: outer, values, depth } = cx;
  if (depth >= MAX_CONTROL_DEPTH) throw tooDeep(cx.copying, span);
  const params = carried.map((variable) => newValue(cx.func, irType(variable.type), variable.name));
  const region: Region = { params, ops: [] };
  Object.assign(cx, { region, values: values.inner(), depth: depth + 1 });
  carried.forEach((variable, index) =>
    cx.values.set(variable.id, must(params[index], "parameter"))
  );
  yield* build();
  Object.assign(cx, { region: outer, values, depth });
  return region;
}

/** The current values of several variables. */
export function valuesOf(cx: Context, variables: readonly Variable[]): Value[] {
  return variables.map((variable) => valueOf(cx, variable));
}

/** Lets variables hold the results of an operation, in order. */
export function setAll(
  cx: Context,
  variables: readonly Variable[],
  results: readonly Value[],
): void {
  variables.forEach((variable, index) =>
    setVariable(cx, variable, must(results[index], "carried result"))
  );
}

/** Where the builder stands: the function, the operations of the current region, the value of each variable. */
import { must } from "../support/bug.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { ScalarValue } from "../support/arith.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import type { Variable } from "../check/typed.ts";
import {
  type Attrs,
  type Func,
  newOp,
  newValue,
  type Op,
  type Region,
  type Value,
} from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import { type Element, type IrType, isPointer } from "../ir/types.ts";
import { irType } from "./types.ts";

export interface Context {
  readonly func: Func;
  readonly reporter: Reporter;
  /** The region that is being filled. */
  region: Region;
  /** The current value of each variable in scope, by `Variable.id`. */
  values: Map<number, Value>;
  /** The id of the last variable that the builder made; those are negative. */
  readonly made: { last: number };
  readonly checkPromises: boolean;
}

/** Appends an operation with one result. */
export function emit(
  cx: Context,
  name: TileOp,
  operands: readonly Value[],
  type: IrType,
  span: Span,
  attrs: Attrs = {},
): Value {
  return must(append(cx, name, operands, [type], span, attrs).results[0], "result");
}

/** Appends an operation. */
export function append(
  cx: Context,
  name: TileOp,
  operands: readonly Value[],
  resultTypes: readonly IrType[],
  span: Span,
  attrs: Attrs = {},
  regions: Region[] = [],
): Op {
  const op = newOp(cx.func, name, operands, resultTypes, span, attrs, regions);
  cx.region.ops.push(op);
  return op;
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
  cx.values.set(variable.id, value);
}

/**
 * Runs `build` with an empty region current, whose parameters hold the variables `carried`; whatever it
 * assigns is forgotten afterwards, except what it returns.
 */
export function inRegion(cx: Context, carried: readonly Variable[], build: () => void): Region {
  const outer = { region: cx.region, values: cx.values };
  const params = carried.map((variable) => newValue(cx.func, irType(variable.type), variable.name));
  cx.region = { params, ops: [] };
  cx.values = new Map(outer.values);
  carried.forEach((variable, index) =>
    cx.values.set(variable.id, must(params[index], "parameter"))
  );
  build();
  const { region } = cx;
  Object.assign(cx, outer);
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

/** Built-ins on whole tiles: making, shapes, reductions, scans, order (language.md, 7.4). */
import type { Span } from "../../support/source.ts";
import { spellType, type TileType } from "../tree/types.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { shapeText } from "../expressions/broadcast.ts";
import { constantArgument, reportArgument, typeArgument } from "../expressions/check_argument.ts";
import type { BuiltinCall } from "./builtins.ts";
import { builtinNode } from "./builtin_node.ts";
import { checkValue } from "../expressions/check_expr.ts";
import { checkPowerOfTwo, checkTile, constantInteger } from "../check_type.ts";
import {
  applyPermutation,
  applyReductions,
  checkTranspose,
  makeRange,
  REDUCTIONS,
} from "../expressions/check_tile.ts";
import {
  convertTo,
  isArithmetic,
  isInteger,
  promote,
  stretch,
  unify,
} from "../expressions/convert.ts";
import { unifyPointers } from "../expressions/check_operators.ts";
import { constant, reshape, type Value } from "../tree/nodes.ts";
import {
  elementCount,
  elementOf,
  sameShape,
  scalarType,
  tileType,
  typeOf,
} from "../tree/value_types.ts";

/** `zeros(T[S])`, `full(T[S], v)`. */
export function checkMake(cx: Context, call: BuiltinCall): TypedExpr | undefined {
  const [first, fill] = call.args;
  if (first?.kind !== "type") {
    return reportArgument(cx, call, first?.expr.span ?? call.span, "a type such as `float[16]`");
  }
  const type = typeArgument(cx, first.type);
  const span = call.span;
  const value = fill === undefined
    ? constant(0n, scalarType("int32"), span)
    : fill.kind === "expr"
    ? checkValue(cx, fill.expr)
    : reportArgument(cx, call, fill.type.span, "a value, not a type");
  return type && value && convertTo(cx, value, type);
}

/** `arange(lo, hi)` is `lo ... hi`. */
export function checkRangeCall(
  cx: Context,
  call: BuiltinCall,
  [lo, hi]: readonly Value[],
): Value | undefined {
  return lo && hi && makeRange(cx, lo, hi, call.span);
}

type TileValue = Value & { readonly type: TileType };

function isTile(value: Value): value is TileValue {
  return value.type.kind === "tile";
}

/** The argument as a tile value; E7002 otherwise. */
function tileArgument(
  cx: Context,
  call: BuiltinCall,
  value: Value | undefined,
): TileValue | undefined {
  if (value === undefined || isTile(value)) return value;
  return reportArgument(cx, call, value.span, "a tile", value);
}

/** A constant axis of a tile, `extra` more than it has for insertions. */
function axisArgument(
  cx: Context,
  value: Value,
  tile: { readonly type: TileType },
  extra = 0,
): number | undefined {
  return constantArgument(cx, value, "the axis", 0, tile.type.shape.length - 1 + extra);
}

export function checkShapeCall(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): Value | undefined {
  const [first, ...rest] = values;
  const tile = tileArgument(cx, call, first);
  if (tile === undefined) return undefined;
  const { span } = call;
  const [axisValue] = rest;
  switch (call.builtin.canonical) {
    case "trans":
      return checkTranspose(cx, tile, span);
    case "permute": {
      const order = allDefined(rest.map((value) => axisArgument(cx, value, tile)));
      return order && applyPermutation(cx, tile, order, span);
    }
    case "expand_dims": {
      const axis = axisValue && axisArgument(cx, axisValue, tile, 1);
      if (axis === undefined) return undefined;
      const shape = [...tile.type.shape];
      shape.splice(axis, 0, 1);
      return checkTile(cx, tile.type.element, shape, span) && reshape(tile, shape, span);
    }
    case "flip": {
      const axis = axisValue && axisArgument(cx, axisValue, tile);
      return axis === undefined ? undefined : builtinNode(call, [tile], tile.type, [`${axis}`]);
    }
    default: {
      const shape = allDefined(rest.map((value) => extentArgument(cx, value)));
      const type = shape && checkTile(cx, tile.type.element, shape, span);
      if (shape === undefined || type === undefined) return undefined;
      return call.builtin.canonical === "reshape"
        ? reshapeTo(cx, tile, shape, span)
        : stretch(cx, tile, type, span);
    }
  }
}

function reshapeTo(
  cx: Context,
  tile: TileValue,
  shape: readonly number[],
  span: Span,
): Value | undefined {
  if (elementCount(shape) === elementCount(tile.type.shape)) return reshape(tile, shape, span);
  const counts = `${elementCount(tile.type.shape)} elements vs ${elementCount(shape)}`;
  const message = `cannot reshape ${spellType(tile.type)} to ${shapeText(shape)}: ${counts}`;
  cx.reporter.error("E5160", span, message);
  return undefined;
}

function extentArgument(cx: Context, value: Value): number | undefined {
  const extent = constantInteger(cx, value, value.span, "a tile dimension", "E3020");
  return extent === undefined
    ? undefined
    : checkPowerOfTwo(cx, extent, "the tile dimension is", value.span);
}

function allDefined<T>(values: readonly (T | undefined)[]): readonly T[] | undefined {
  const defined = values.filter((value) => value !== undefined);
  return defined.length === values.length ? defined : undefined;
}

/** `cat`, `join`, `interleave` of two tiles of one shape. They compute nothing, so equal element types stay as they are. */
export function checkCat(
  cx: Context,
  call: BuiltinCall,
  [first, second]: readonly Value[],
): Value | undefined {
  const [left, right] = [tileArgument(cx, call, first), tileArgument(cx, call, second)];
  if (left === undefined || right === undefined) return undefined;
  const pair = !isArithmetic(left) || !isArithmetic(right)
    ? unifyPointers(left, right)
    : sameScalar(left, right)
    ? [left, right]
    : unify(cx, [left, right]);
  const [a, b] = pair ?? [];
  if (a === undefined || b === undefined || !sameShape(left.type.shape, right.type.shape)) {
    const types = `${spellType(left.type)} and ${spellType(right.type)}`;
    cx.reporter.error(
      "E7002",
      call.span,
      `\`${call.builtin.name}\` needs tiles of one type and shape`,
      {
        notes: [{ message: `these are ${types}` }],
      },
    );
    return undefined;
  }
  const shape = [...left.type.shape];
  const last = shape.length - 1;
  switch (call.builtin.canonical) {
    case "cat":
      shape[0] = (shape[0] ?? 1) * 2;
      break;
    case "join":
      shape.push(2);
      break;
    default:
      shape[last] = (shape[last] ?? 1) * 2;
  }
  const type = checkTile(cx, elementOf(a.type), shape, call.span);
  return type && builtinNode(call, [a, b], type);
}

function sameScalar(left: TileValue, right: TileValue): boolean {
  const [a, b] = [left.type.element, right.type.element];
  return a.kind === "scalar" && b.kind === "scalar" && a.name === b.name;
}

/** `split0(x)`, `split1(x)`: the halves of a last axis of 2. */
export function checkSplit(
  cx: Context,
  call: BuiltinCall,
  [first]: readonly Value[],
): Value | undefined {
  const tile = tileArgument(cx, call, first);
  if (tile === undefined) return undefined;
  const { shape, element } = tile.type;
  if (shape.at(-1) !== 2) {
    return reportArgument(cx, call, tile.span, "a tile whose last axis is 2", tile);
  }
  const rest = shape.slice(0, -1);
  return builtinNode(call, [tile], typeOf(element, rest.length === 0 ? undefined : rest));
}

/** The item of a subscript that a reduction call is equivalent to. */
const ITEM_OF: Readonly<Record<string, string>> = {
  sum: "+",
  prod: "*",
  any: "any",
  all: "all",
  xor_sum: "xor",
  reduce_max: "max",
  reduce_min: "min",
  max: "max",
  min: "min",
  argmax: "argmax",
  argmin: "argmin",
  cumsum: "+",
  cumprod: "*",
  cummax: "max",
  cummin: "min",
};

/** `sum(x)` and its like over all axes, `sum(x, axis)` over one. */
export function checkReduction(
  cx: Context,
  call: BuiltinCall,
  [first, axisValue]: readonly Value[],
): Value | undefined {
  const tile = tileArgument(cx, call, first);
  if (tile === undefined) return undefined;
  const name = ITEM_OF[call.builtin.canonical] ?? "";
  const { span } = call;
  if (axisValue !== undefined) {
    const axis = axisArgument(cx, axisValue, tile);
    return axis === undefined ? undefined : applyReductions(cx, tile, [{ name, axis, span }], span);
  }
  return applyReductions(cx, tile, tile.type.shape.map((_, axis) => ({ name, axis, span })), span);
}

/** `argmax`, `argmin`; without an axis the index counts in row-major order. */
export function checkArgExtreme(
  cx: Context,
  call: BuiltinCall,
  [first, axisValue]: readonly Value[],
): Value | undefined {
  const tile = tileArgument(cx, call, first);
  if (tile === undefined) return undefined;
  if (axisValue !== undefined) return checkReduction(cx, call, [tile, axisValue]);
  const flat = reshape(tile, [elementCount(tile.type.shape)], tile.span);
  const name = call.builtin.canonical;
  return applyReductions(cx, flat, [{ name, axis: 0, span: call.span }], call.span);
}

/** `cumsum(x, axis)` and its like: element type as the reduction. */
export function checkScan(
  cx: Context,
  call: BuiltinCall,
  [first, axisValue]: readonly Value[],
): Value | undefined {
  const tile = tileArgument(cx, call, first);
  const axis = tile && axisValue && axisArgument(cx, axisValue, tile);
  if (tile === undefined || axis === undefined) return undefined;
  if (!isArithmetic(tile)) return reportArgument(cx, call, tile.span, "a tile of numbers", tile);
  const operand = promote(cx, tile);
  const operator = REDUCTIONS.get(ITEM_OF[call.builtin.canonical] ?? "")?.operator;
  return operator && builtinNode(call, [operand], operand.type, [`${axis}`]);
}

/** `sort(x [, axis [, descending]])` and `bitonic_merge` alike. */
export function checkSort(
  cx: Context,
  call: BuiltinCall,
  [first, axisValue, descendingValue]: readonly Value[],
): Value | undefined {
  const tile = tileArgument(cx, call, first);
  if (tile === undefined) return undefined;
  if (!isArithmetic(tile)) return reportArgument(cx, call, tile.span, "a tile of numbers", tile);
  const axis = axisValue === undefined
    ? tile.type.shape.length - 1
    : axisArgument(cx, axisValue, tile);
  const descending = descendingValue === undefined
    ? 0
    : constantArgument(cx, descendingValue, "the order", 0, 1);
  if (axis === undefined || descending === undefined) return undefined;
  return builtinNode(call, [tile], tile.type, [`${axis}`, descending === 1 ? "down" : "up"]);
}

/** `gather(x, index, axis)`. */
export function checkGather(
  cx: Context,
  call: BuiltinCall,
  [first, indexValue, axisValue]: readonly Value[],
): Value | undefined {
  const [tile, index] = [tileArgument(cx, call, first), tileArgument(cx, call, indexValue)];
  if (tile === undefined || index === undefined || axisValue === undefined) return undefined;
  if (!isInteger(index) || index.type.shape.length !== tile.type.shape.length) {
    return reportArgument(cx, call, index.span, "an integer tile of the rank of x", index);
  }
  const axis = axisArgument(cx, axisValue, tile);
  if (axis === undefined) return undefined;
  const others = (shape: readonly number[]): readonly number[] =>
    shape.filter((_, at) => at !== axis);
  if (!sameShape(others(tile.type.shape), others(index.type.shape))) {
    return reportArgument(cx, call, index.span, "equal extents besides the axis", index);
  }
  return builtinNode(call, [tile, index], tileType(tile.type.element, index.type.shape), [
    `${axis}`,
  ]);
}

/** `histogram(x, bins)`: `int[bins]`. */
export function checkHistogram(
  cx: Context,
  call: BuiltinCall,
  [first, binsValue]: readonly Value[],
): Value | undefined {
  const tile = tileArgument(cx, call, first);
  if (tile === undefined || binsValue === undefined) return undefined;
  if (!isInteger(tile)) return reportArgument(cx, call, tile.span, "an integer tile", tile);
  const bins = extentArgument(cx, binsValue);
  const type = bins === undefined
    ? undefined
    : checkTile(cx, scalarType("int32"), [bins], binsValue.span);
  return type && builtinNode(call, [tile], type);
}

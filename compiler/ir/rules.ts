/** What the verifier asks of single operations beyond their row in TILE_OPS. */
import { must } from "../support/bug.ts";
import { convertScalar } from "../support/arith.ts";
import { indexBits, product } from "../linear/linear.ts";
import { spaceOf } from "../linear/f2.ts";
import { SCALARS } from "../support/scalar.ts";
import { intAttr, intsAttr, isSharedAccess, scalarAttr, stringAttr } from "./attrs.ts";
import type { Op, Value } from "./func.ts";
import type { TileOp } from "./ops.ts";
import { bytesOf, type Element, type IrType, isPointer, sameElement, sameShape } from "./types.ts";
import { terminatorOf } from "./walk.ts";

/** Says what is wrong, or nothing. */
type Rule = (op: Op) => string | undefined;

function operand(op: Op, index: number): IrType {
  return must(op.operands[index], `operand ${index} of ${op.name}`).type;
}

function result(op: Op): IrType {
  return must(op.results[0], `result of ${op.name}`).type;
}

function unless(holds: boolean, message: string): string | undefined {
  return holds ? undefined : message;
}

const sameType = (a: IrType, b: IrType): boolean =>
  sameElement(a.element, b.element) && sameShape(a.shape, b.shape);

function sameTypes(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length &&
    a.every((value, index) => b[index] !== undefined && sameType(value.type, b[index].type));
}

/** Element kept; the shape by a rule of its own. */
function shapeRule(
  fits: (from: readonly number[], to: readonly number[], op: Op) => boolean,
): Rule {
  return (op) => {
    const [from, to] = [operand(op, 0), result(op)];
    if (!sameElement(from.element, to.element)) return "changes the element type";
    return unless(
      fits(from.shape, to.shape, op),
      `cannot make [${to.shape.join(", ")}] of [${from.shape.join(", ")}]`,
    );
  };
}

const gridAxis: Rule = (op) =>
  result(op).element !== "int32" || result(op).shape.length > 0
    ? "is a scalar int32"
    : unless([0, 1, 2].includes(intAttr(op, "axis")), "axis is 0, 1 or 2");

const conversion = (allowed: (from: Element, to: Element) => boolean): Rule => (op) =>
  !sameShape(operand(op, 0).shape, result(op).shape) ? "changes the shape" : unless(
    allowed(operand(op, 0).element, result(op).element),
    "is no conversion of the language",
  );

/** Whether a type can hold a constant: integers by range, floats by being rounded already. */
function isConstantOf(value: number | bigint, element: Element): boolean {
  if (isPointer(element)) return typeof value === "bigint";
  const isInt = SCALARS[element].class === "int";
  return isInt === (typeof value === "bigint") && Object.is(convertScalar(value, element), value);
}

/** Values between pointers, 64-bit integers and bool; any between arithmetic types. */
function isConversion(from: Element, to: Element): boolean {
  if (!isPointer(from) && !isPointer(to)) return true;
  if (isPointer(from)) return isPointer(to) || to === "int64" || to === "uint64" || to === "bool";
  return from === "int64" || from === "uint64";
}

export const RULES: Readonly<Partial<Record<TileOp, Rule>>> = {
  constant: (op) =>
    unless(
      isConstantOf(scalarAttr(op, "value"), result(op).element),
      "the value is not of the type",
    ),
  constant_buffer: (op) => {
    const { element, shape } = result(op);
    const isPlace = isPointer(element) && element.space === "constant" && shape.length === 0;
    return unless(isPlace && intAttr(op, "bytes") > 0, "is no place in constant memory");
  },
  program_id: gridAxis,
  num_programs: gridAxis,
  range: (op) => {
    const { element, shape } = result(op);
    if (isPointer(element) || SCALARS[element].class !== "int" || shape.length !== 1) {
      return "is a 1-D tile of integers";
    }
    return unless(isConstantOf(scalarAttr(op, "lo"), element), "the start is not of the type");
  },
  select: (op) =>
    unless(
      sameType(operand(op, 1), operand(op, 2)) && sameType(operand(op, 1), result(op)),
      "sides and result differ",
    ),
  convert: conversion(isConversion),
  bitcast: conversion((from, to) => bitsOf(from) === bitsOf(to)),
  offset: (op) => {
    const [{ element: pointer }, { element: count }] = [operand(op, 0), operand(op, 1)];
    if (isPointer(pointer) && pointer.pointee === "void") return "moves a pointer to void";
    return unless(
      !isPointer(count) && SCALARS[count].class === "int",
      "the count is not an integer",
    );
  },
  difference: (op) =>
    unless(
      sameType(result(op), { element: "int64", shape: operand(op, 0).shape }),
      "is int64 of the same shape",
    ),
  math: (op) =>
    unless(
      op.operands.length > 0 &&
        op.operands.every(({ type }) => sameShape(type.shape, result(op).shape)),
      "operands and result differ in shape",
    ),
  assume_multiple: (op) => unless(intAttr(op, "n") >= 1, "promises less than 1"),

  splat: shapeRule((from, to) => from.length === 0 && to.length > 0),
  expand_dims: shapeRule((from, to, op) => {
    const axis = intAttr(op, "axis");
    return axis >= 0 && axis <= from.length && from.length > 0 &&
      sameShape(to, from.toSpliced(axis, 0, 1));
  }),
  broadcast: shapeRule((from, to) =>
    from.length === to.length && from.every((extent, axis) => extent === to[axis] || extent === 1)
  ),
  reshape: shapeRule((from, to) => from.length > 0 && product(from) === product(to)),
  permute: shapeRule((from, to, op) => {
    const order = intsAttr(op, "order");
    return sameShape(order.toSorted((a, b) => a - b), [...from.keys()]) &&
      sameShape(to, order.map((axis) => from[axis] ?? 0));
  }),
  convert_layout: shapeRule(sameShape),

  load: (op) => {
    const [pointer, mask, other] = op.operands;
    if (mask !== undefined && !sameShape(mask.type.shape, result(op).shape)) {
      return "the mask has another shape";
    }
    if (other !== undefined && !sameType(other.type, result(op))) {
      return "the fill value has another type";
    }
    return unless(
      pointer?.type.element !== undefined && pointsTo(pointer.type.element) !== "void",
      "loads void",
    );
  },
  store: (op) => {
    const [pointer, value, mask] = op.operands;
    if (mask !== undefined && !sameShape(mask.type.shape, operand(op, 0).shape)) {
      return "the mask has another shape";
    }
    return unless(
      pointer !== undefined && value !== undefined &&
        sameElement(pointsTo(pointer.type.element), value.type.element),
      "stores another type than the pointer's",
    );
  },

  reduce: (op) => {
    const { shape } = operand(op, 0);
    const axis = intAttr(op, "axis");
    return unless(
      axis >= 0 && axis < shape.length && sameShape(result(op).shape, shape.toSpliced(axis, 1)),
      "the result is the operand without the axis",
    );
  },
  scan: (op) => alongAxis(op),
  exchange: (op) => {
    const extent = operand(op, 0).shape[intAttr(op, "axis")] ?? 0;
    return alongAxis(op) ??
      unless(intAttr(op, "mask") < extent, "exchanges with what is not there");
  },
  gather: (op) => {
    const [from, at, to] = [operand(op, 0), operand(op, 1), result(op)];
    const axis = intAttr(op, "axis");
    if (!sameElement(from.element, to.element) || !sameShape(at.shape, to.shape)) {
      return "the result is of the operand's elements and the index's shape";
    }
    return alongAxis(op) ??
      unless(
        sameShape(from.shape.toSpliced(axis, 1), at.shape.toSpliced(axis, 1)),
        "operand and index differ beside the axis",
      );
  },
  histogram: (op) =>
    unless(
      result(op).element === "int32" && result(op).shape.length === 1,
      "is a 1-D tile of int32",
    ),
  atomic: (op) => atomicValues(op, op.operands.slice(1, 2)),
  atomic_cas: (op) => atomicValues(op, op.operands.slice(1)),
  dot: (op) => {
    const [a, b, sum] = [operand(op, 0).shape, operand(op, 1).shape, operand(op, 2)];
    if (a.length < 2 || a.length !== b.length || a[1] !== b[0]) return "inner extents differ";
    const shape = [a[0] ?? 0, b[1] ?? 0, ...a.slice(2)];
    if (!sameShape(a.slice(2), b.slice(2)) || !sameShape(shape, result(op).shape)) {
      return "extents differ";
    }
    return unless(sameType(sum, result(op)), "the accumulator has another type");
  },
  shared_buffer: (op) => {
    const { element, shape, shared } = result(op);
    if (shared === undefined || !sameShape(shared.shape, shape)) return "is no buffer of its shape";
    const bits = indexBits(shape);
    const isInvertible = shared.columns.length === bits && spaceOf(shared.columns).size === bits;
    if (!isInvertible || shared.vectorBits > bits) return "does not give each element one offset";
    if (intAttr(op, "slots") < 1 || intAttr(op, "offset") < 0) return "has no slot";
    return unless(
      intAttr(op, "slot_bytes") >= product(shape) * bytesOf(element),
      "has slots that are smaller than the tile",
    );
  },
  async_copy: (op) => {
    const [pointer, buffer, slot, go, isThere] = op.operands.map(({ type }) => type);
    const mask = op.operands[5]?.type;
    if (pointer === undefined || buffer === undefined) return "has no operands";
    if (mask !== undefined && !sameShape(mask.shape, pointer.shape)) {
      return "the mask has another shape";
    }
    if ([slot, go, isThere].some((type) => type?.shape.length !== 0)) {
      return "slot or conditions are tiles";
    }
    const [part, parts] = [intAttr(op, "part"), intAttr(op, "parts")];
    if (part < 0 || part >= parts) return "is no part of the copy";
    const to = pointsTo(pointer.element);
    return unless(
      sameElement(to, buffer.element) && sameShape(pointer.shape, buffer.shape),
      "copies another tile than the buffer's",
    );
  },
  wait_group: (op) => unless(intAttr(op, "pending") >= 0, "waits for less than no group"),
  local_store: (op) => {
    if (operand(op, 2).shape.length > 0) return "the slot is a tile";
    return unless(
      sameType(operand(op, 0), operand(op, 1)),
      "stores another tile than the buffer's",
    );
  },
  local_load: (op) => accessOf(op) ?? unless(sameType(result(op), operand(op, 0)), OTHER_TILE),
  local_load_slice: (op) => {
    const [{ element, shape }, part] = [operand(op, 0), result(op)];
    const axis = shape.findIndex((extent, d) => extent !== part.shape[d]);
    const extent = part.shape[axis];
    if (extent === undefined || !sameShape(part.shape, shape.with(axis, extent))) {
      return "the slice differs from the tile in another number of axes than one";
    }
    const isInside = (intAttr(op, "slice") + 1) * extent <= (shape[axis] ?? 0);
    return accessOf(op) ?? unless(
      isInside && intAttr(op, "slice") >= 0 && sameElement(part.element, element),
      OTHER_TILE,
    );
  },
  rotate: (op) => turnedBy(op, 1),
  rotated_range: (op) => turnedBy(op, 0),

  if: (op) => {
    if (operand(op, 0).shape.length > 0) return "the condition is a tile";
    return op.regions.flatMap((region) => {
      const end = terminatorOf(region);
      if (region.params.length > 0) return ["a region has parameters"];
      return sameTypes(end.operands, op.results) ? [] : ["yields other types than its results"];
    }).at(0);
  },
  while: (op) => {
    const [test, body] = op.regions;
    if (test === undefined || body === undefined) return "has no regions";
    const [condition, end] = [terminatorOf(test), terminatorOf(body)];
    if (!sameTypes(op.operands, test.params)) {
      return "operands and parameters of the first region differ";
    }
    if (!sameTypes(condition.operands.slice(1), op.results)) {
      return "results and carried values differ";
    }
    if (!sameTypes(op.results, body.params)) {
      return "results and parameters of the second region differ";
    }
    return unless(
      sameTypes(end.operands, test.params),
      "yields other types than it carries",
    );
  },
  condition: (op) => unless(operand(op, 0).shape.length === 0, "the condition is a tile"),
};

const OTHER_TILE = "loads another tile than the buffer's";

/** How a tile is read from a slot. */
function accessOf(op: Op): string | undefined {
  if (operand(op, 1).shape.length > 0) return "the slot is a tile";
  return unless(
    isSharedAccess(stringAttr(op, "access")),
    "the access is no way of reading shared memory",
  );
}

/** One amount for each row along the axis. */
function turnedBy(op: Op, index: number): string | undefined {
  const { shape } = result(op);
  const axis = intAttr(op, "axis");
  return unless(
    axis >= 0 && axis < shape.length && sameShape(operand(op, index).shape, shape.with(axis, 1)),
    "the amounts do not have the shape of the rows",
  );
}

function alongAxis(op: Op): string | undefined {
  const axis = intAttr(op, "axis");
  return unless(axis >= 0 && axis < operand(op, 0).shape.length, "has no such axis");
}

/** Values of the pointee's type, and a mask of the pointer's shape. */
function atomicValues(op: Op, values: readonly Value[]): string | undefined {
  if (!values.every(({ type }) => sameType(type, result(op)))) return "values and result differ";
  const mask = op.name === "atomic" ? op.operands[2] : undefined;
  return unless(
    mask === undefined || sameShape(mask.type.shape, result(op).shape),
    "the mask has another shape",
  );
}

const bitsOf = (element: Element): number => element === "bool" ? 1 : 8 * bytesOf(element);

function pointsTo(element: Element): Element | "void" {
  return isPointer(element) ? element.pointee : element;
}

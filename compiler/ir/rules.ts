/** What the verifier demands of single operations beyond their row in TILE_OPS. */
import { convertScalar } from "../support/arith.ts";
import { indexBits, product } from "../linear/linear.ts";
import { spaceOf } from "../linear/f2.ts";
import { operandCountOf } from "../support/math_functions.ts";
import { SCALARS } from "../support/scalar.ts";
import { branchOf, loopOf } from "./flow.ts";
import type { Op, OpOf, Value } from "./func.ts";
import { operandsOf, regionsOf, resultOf } from "./op.ts";
import type { OpWhere, TileOp } from "./ops.ts";
import { bytesOf, type Element, type IrType, isPointer, sameElement, sameShape } from "./types.ts";

/** Says what is wrong, or nothing. */
export type Rule<N extends TileOp> = (op: OpOf<N>) => string | undefined;

const result = (op: Op): IrType => resultOf(op).type;

function unless(holds: boolean, message: string): string | undefined {
  return holds ? undefined : message;
}

const sameType = (a: IrType, b: IrType): boolean =>
  sameElement(a.element, b.element) && sameShape(a.shape, b.shape);

function sameTypes(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length &&
    a.every((value, index) => b[index] !== undefined && sameType(value.type, b[index].type));
}

type ShapeOp = OpWhere<{ readonly reshapes: true }> | "slice" | "convert_layout";

/** Element kept; the shape by a rule of its own. */
function reshaped(
  op: OpOf<ShapeOp>,
  fits: (from: readonly number[], to: readonly number[]) => boolean,
): string | undefined {
  const [from, to] = [operandsOf(op).value.type, result(op)];
  if (!sameElement(from.element, to.element)) return "changes the element type";
  return unless(
    fits(from.shape, to.shape),
    `cannot make [${to.shape.join(", ")}] of [${from.shape.join(", ")}]`,
  );
}

const gridAxis: Rule<"program_id" | "num_programs" | "program_step"> = (op) =>
  result(op).element !== "int32" || result(op).shape.length > 0
    ? "is a scalar int32"
    : unless([0, 1, 2].includes(op.attrs.axis), "axis is 0, 1 or 2");

const conversion =
  (allowed: (from: Element, to: Element) => boolean): Rule<"convert" | "bitcast"> => (op) => {
    const [from, to] = [operandsOf(op).value.type, result(op)];
    return !sameShape(from.shape, to.shape)
      ? "changes the shape"
      : unless(allowed(from.element, to.element), "is no conversion of the language");
  };

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

export const RULES: { readonly [N in TileOp]?: Rule<N> } = {
  constant: (op) =>
    unless(
      isConstantOf(op.attrs.value, result(op).element),
      "the value is not of the type",
    ),
  constant_buffer: (op) => {
    const { element, shape } = result(op);
    const isAddress = isPointer(element) && element.space === "constant" && shape.length === 0;
    return unless(isAddress && op.attrs.bytes > 0, "is no address in constant memory");
  },
  program_id: gridAxis,
  num_programs: gridAxis,
  program_step: gridAxis,
  range: (op) => {
    const { element, shape } = result(op);
    if (isPointer(element) || SCALARS[element].class !== "int" || shape.length !== 1) {
      return "is a 1-D tile of integers";
    }
    return unless(isConstantOf(op.attrs.lo, element), "the start is not of the type");
  },
  select: (op) => {
    const { then, otherwise } = operandsOf(op);
    return unless(
      sameType(then.type, otherwise.type) && sameType(then.type, result(op)),
      "sides and result differ",
    );
  },
  convert: conversion(isConversion),
  bitcast: conversion((from, to) => bitsOf(from) === bitsOf(to)),
  offset: (op) => {
    const { pointer: { type: { element: pointer } }, count: { type: { element: count } } } =
      operandsOf(op);
    if (isPointer(pointer) && pointer.pointee === "void") return "moves a pointer to void";
    return unless(
      !isPointer(count) && SCALARS[count].class === "int",
      "the count is not an integer",
    );
  },
  difference: (op) =>
    unless(
      sameType(result(op), { element: "int64", shape: operandsOf(op).left.type.shape }),
      "is int64 of the same shape",
    ),
  math: (op) => {
    const count = operandCountOf(op.attrs.function);
    if (count === undefined) return `has no function "${op.attrs.function}"`;
    if (op.operands.length !== count) return `takes ${count} operands for "${op.attrs.function}"`;
    return unless(
      op.operands.every(({ type }) => sameShape(type.shape, result(op).shape)),
      "operands and result differ in shape",
    );
  },
  round_tf32: (op) =>
    unless(result(op).element === "float32", "rounds other elements than float32"),
  assume_multiple: (op) => unless(op.attrs.n >= 1, "promises less than 1"),

  splat: (op) => reshaped(op, (from, to) => from.length === 0 && to.length > 0),
  expand_dims: (op) =>
    reshaped(op, (from, to) => {
      const { axis } = op.attrs;
      return axis >= 0 && axis <= from.length && from.length > 0 &&
        sameShape(to, from.toSpliced(axis, 0, 1));
    }),
  broadcast: (op) =>
    reshaped(
      op,
      (from, to) =>
        from.length === to.length &&
        from.every((extent, axis) => extent === to[axis] || extent === 1),
    ),
  reshape: (op) => reshaped(op, (from, to) => from.length > 0 && product(from) === product(to)),
  permute: (op) =>
    reshaped(op, (from, to) => {
      const { order } = op.attrs;
      return sameShape(order.toSorted((a, b) => a - b), [...from.keys()]) &&
        sameShape(to, order.map((axis) => from[axis] ?? 0));
    }),
  slice: (op) => {
    const { axis, first } = op.attrs;
    return reshaped(op, (from, to) => {
      const [whole = 0, part = 0] = [from[axis], to[axis]];
      return sameShape(to, from.with(axis, part)) && first % part === 0 && first + part <= whole;
    });
  },
  convert_layout: (op) => reshaped(op, sameShape),

  load: (op) => {
    const { pointer, mask, other } = operandsOf(op);
    if (mask !== undefined && !sameShape(mask.type.shape, result(op).shape)) {
      return "the mask has another shape";
    }
    if (other !== undefined && !sameType(other.type, result(op))) {
      return "the fill value has another type";
    }
    return wordsOf(op) ?? unless(pointsTo(pointer.type.element) !== "void", "loads void");
  },
  tensor_load: (op) => {
    const { pointer, coordinates } = operandsOf(op);
    if (coordinates.some(({ type }) => type.element !== "int32" || type.shape.length > 0)) {
      return "coordinates are scalars of int32";
    }
    return unless(
      sameElement(pointsTo(pointer.type.element), result(op).element) &&
        pointer.type.shape.length === 0,
      "the tensor is one of other elements",
    );
  },
  store: (op) => {
    const { pointer, value, mask } = operandsOf(op);
    if (mask !== undefined && !sameShape(mask.type.shape, pointer.type.shape)) {
      return "the mask has another shape";
    }
    return wordsOf(op) ?? unless(
      sameElement(pointsTo(pointer.type.element), value.type.element),
      "stores another type than the pointer's",
    );
  },

  reduce: (op) => {
    const { shape } = operandsOf(op).value.type;
    const { axis } = op.attrs;
    return unless(
      axis >= 0 && axis < shape.length && sameShape(result(op).shape, shape.toSpliced(axis, 1)),
      "the result is the operand without the axis",
    );
  },
  scan: alongAxis,
  exchange: (op) => {
    const { axis, mask } = op.attrs;
    const extent = operandsOf(op).value.type.shape[axis] ?? 0;
    return alongAxis(op) ??
      unless(mask < extent, "exchanges with what is not there");
  },
  gather: (op) => {
    const { value: { type: from }, index: { type: at } } = operandsOf(op);
    const to = result(op);
    const { axis } = op.attrs;
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
  atomic: (op) => {
    const { value, mask } = operandsOf(op);
    return atomicValues(op, [value]) ??
      unless(
        mask === undefined || sameShape(mask.type.shape, result(op).shape),
        "the mask has another shape",
      );
  },
  atomic_cas: (op) => {
    const { expected, value } = operandsOf(op);
    return atomicValues(op, [expected, value]);
  },
  dot: (op) => {
    const { a: { type: { shape: a } }, b: { type: { shape: b } }, sum } = operandsOf(op);
    if (a.length < 2 || a.length !== b.length || a[1] !== b[0]) return "inner extents differ";
    const shape = [a[0] ?? 0, b[1] ?? 0, ...a.slice(2)];
    if (!sameShape(a.slice(2), b.slice(2)) || !sameShape(shape, result(op).shape)) {
      return "extents differ";
    }
    return unless(sameType(sum.type, result(op)), "the accumulator has another type");
  },
  shared_buffer: (op) => {
    const { element, shape, shared } = result(op);
    const { slots, offset, slot_bytes } = op.attrs;
    if (shared === undefined || !sameShape(shared.shape, shape)) return "is no buffer of its shape";
    // A block of several has its own elements only.
    const bits = shared.columns.length;
    const isInvertible = bits <= indexBits(shape) && spaceOf(shared.columns).size === bits;
    if (!isInvertible || shared.vectorBits > bits) return "does not give each element one offset";
    if (slots < 1 || offset < 0) return "has no slot";
    return unless(
      (op.attrs.overlaps === true ? slots : 1) * slot_bytes >= 2 ** bits * bytesOf(element),
      "has slots that are smaller than the tile",
    );
  },
  async_copy: (op) => {
    const { pointer, buffer, slot, when, inside, mask } = operandsOf(op);
    const { part, parts } = op.attrs;
    if (mask !== undefined && !sameShape(mask.type.shape, pointer.type.shape)) {
      return "the mask has another shape";
    }
    if ([slot, when, inside].some(({ type }) => type.shape.length > 0)) {
      return "slot or conditions are tiles";
    }
    if (part < 0 || part >= parts) return "is no part of the copy";
    return unless(
      sameElement(pointsTo(pointer.type.element), buffer.type.element) &&
        sameShape(pointer.type.shape, buffer.type.shape),
      "copies another tile than the buffer's",
    );
  },
  copy_rows: (op) => {
    const { pointer, buffer, slot, when, before, count, rows } = operandsOf(op);
    const { shape } = pointer.type;
    if ([slot, when, before].some(({ type }) => type.shape.length > 0)) {
      return "slot or conditions are tiles";
    }
    if (!sameShape(count.type.shape, shape) || !sameShape(rows.type.shape, shape)) {
      return "count or mask have another shape";
    }
    return unless(
      sameElement(pointsTo(pointer.type.element), buffer.type.element) &&
        sameShape(shape, buffer.type.shape),
      "copies another tile than the buffer's",
    );
  },
  wait_group: (op) => unless(op.attrs.pending >= 0, "waits for less than no group"),
  warp_group_dot: (op) => {
    const { sum, a, a_slot, b, b_slot } = operandsOf(op);
    const { a_depth, b_depth, anew } = op.attrs;
    if (anew === true && sum.def !== undefined) return "the sum is not carried by a loop";
    if (a_slot.type.shape.length + b_slot.type.shape.length > 0) return "the slot is a tile";
    if (a.type.shape.length !== 2 || b.type.shape.length !== 2) return "multiplies no matrices";
    if (![0, 1].includes(a_depth) || ![0, 1].includes(b_depth)) return "k is no axis of a matrix";
    if (a.type.shape[a_depth] !== b.type.shape[b_depth]) return "inner extents differ";
    return unless(
      sameShape([a.type.shape[1 - a_depth] ?? 0, b.type.shape[1 - b_depth] ?? 0], sum.type.shape),
      "extents differ",
    );
  },
  register_group_dot: (op) => {
    const { sum, a, b, b_slot } = operandsOf(op);
    const { b_depth } = op.attrs;
    if (b_slot.type.shape.length > 0) return "the slot is a tile";
    if (a.type.shape.length !== 2 || b.type.shape.length !== 2) return "multiplies no matrices";
    if (![0, 1].includes(b_depth)) return "k is no axis of a matrix";
    if (a.type.shape[1] !== b.type.shape[b_depth]) return "inner extents differ";
    return unless(
      sameShape([a.type.shape[0] ?? 0, b.type.shape[1 - b_depth] ?? 0], sum.type.shape),
      "extents differ",
    );
  },
  wait_dots: (op) => unless(op.attrs.pending >= 0, "waits for less than no group"),
  mbarrier_init: (op) =>
    barriersOf(op) ?? unless(op.attrs.arrivals >= 1, "expects less than one arrival"),
  mbarrier_arrive: (op) => barriersOf(op),
  mbarrier_end: (op) => barriersOf(op),
  mbarrier_expect: (op) =>
    barriersOf(op) ?? unless(op.attrs.bytes >= 0, "expects less than nothing"),
  mbarrier_wait: (op) =>
    barriersOf(op) ??
      unless(operandsOf(op).others.every(({ type }) => sameType(type, BARRIER)), NO_BARRIER),
  tensor_copy: (op) => barriersOf(op),
  send_program: (op) => mailOf(op),
  receive_program: (op) => mailOf(op),
  local_store: (op) => {
    const { value, buffer, slot } = operandsOf(op);
    if (slot.type.shape.length > 0) return "the slot is a tile";
    return unless(sameType(value.type, buffer.type), "stores another tile than the buffer's");
  },
  local_load: (op) =>
    slotOf(op) ?? unless(sameType(result(op), operandsOf(op).buffer.type), OTHER_TILE),
  local_rows: (op) => {
    const { buffer, start } = operandsOf(op);
    if (!sameShape(start.type.shape, buffer.type.shape)) return "the starts have another shape";
    return slotOf(op) ?? unless(sameType(result(op), buffer.type), OTHER_TILE);
  },
  local_load_slice: (op) => {
    const [{ element, shape }, part] = [operandsOf(op).buffer.type, result(op)];
    const { slice } = op.attrs;
    const axis = shape.findIndex((extent, d) => extent !== part.shape[d]);
    const extent = part.shape[axis];
    if (extent === undefined || !sameShape(part.shape, shape.with(axis, extent))) {
      return "the slice differs from the tile in another number of axes than one";
    }
    const isInside = slice >= 0 && (slice + 1) * extent <= (shape[axis] ?? 0);
    return slotOf(op) ?? unless(isInside && sameElement(part.element, element), OTHER_TILE);
  },
  rotate: rotatedBy,
  rotated_range: rotatedBy,

  if: (op) => {
    const { condition, then, otherwise, thenValues, otherwiseValues } = branchOf(op);
    if (condition.type.shape.length > 0) return "the condition is a tile";
    if (then.params.length + otherwise.params.length > 0) return "a region has parameters";
    return unless(
      sameTypes(thenValues, op.results) && sameTypes(otherwiseValues, op.results),
      "yields other types than its results",
    );
  },
  once: (op) =>
    unless(operandsOf(op).when.type.shape.length === 0, "the condition is a tile") ??
      unless(regionsOf(op).body.params.length === 0, "the region has parameters"),
  produce: (op) => unless(regionsOf(op).body.params.length === 0, "the region has parameters"),
  while: (op) => {
    const { test, body, initial, repeated, leaving } = loopOf(op);
    if (!sameTypes(initial, test.params)) {
      return "operands and parameters of the first region differ";
    }
    if (!sameTypes(leaving, op.results)) {
      return "results and carried values differ";
    }
    if (!sameTypes(op.results, body.params)) {
      return "results and parameters of the second region differ";
    }
    return unless(sameTypes(repeated, test.params), "yields other types than it carries");
  },
  condition: (op) =>
    unless(operandsOf(op).continues.type.shape.length === 0, "the condition is a tile"),
};

const BARRIER: IrType = { element: "uint64", shape: [1] };

const NO_BARRIER = "waits at what is no barrier";

/** A ring of barriers, and scalars beside it. */
function barriersOf(
  op: OpOf<
    | "mbarrier_init"
    | "mbarrier_end"
    | "mbarrier_expect"
    | "mbarrier_arrive"
    | "mbarrier_wait"
    | "tensor_copy"
  >,
): string | undefined {
  const { barriers } = operandsOf(op);
  const scalars = op.operands.filter(({ type }) => type.shared === undefined);
  return !sameType(barriers.type, BARRIER) ? NO_BARRIER : unless(
    scalars.every(({ type }) => type.shape.length === 0),
    "slot or coordinates are tiles",
  );
}

/** Slots that have a barrier each, and scalars beside them. */
function mailOf(op: OpOf<"send_program" | "receive_program">): string | undefined {
  const { mail } = operandsOf(op);
  const scalars = op.operands.filter((value) => value !== mail);
  return unless(sameType(mail.type, BARRIER), NO_BARRIER) ??
    unless(scalars.every(({ type }) => type.shape.length === 0), "slot or number are tiles");
}

const OTHER_TILE = "loads another tile than the buffer's";

function slotOf(op: OpOf<"local_load" | "local_load_slice" | "local_rows">): string | undefined {
  return unless(operandsOf(op).slot.type.shape.length === 0, "the slot is a tile");
}

/** What says where an access may be by words. */
function wordsOf(op: OpOf<"load" | "store">): string | undefined {
  const { pointer, inside, rows } = operandsOf(op);
  if ((op.attrs.words === undefined) !== (inside === undefined)) {
    return "an axis of words without a condition, or the other way about";
  }
  if (inside !== undefined && inside.type.shape.length > 0) return "the condition is a tile";
  return unless(
    rows === undefined || sameShape(rows.type.shape, pointer.type.shape),
    "the mask of rows has another shape",
  );
}

/** One amount for each row along the axis. */
function rotatedBy(op: OpOf<"rotate" | "rotated_range">): string | undefined {
  const { shape } = result(op);
  const { axis } = op.attrs;
  return unless(
    axis >= 0 && axis < shape.length &&
      sameShape(operandsOf(op).amount.type.shape, shape.with(axis, 1)),
    "the amounts do not have the shape of the rows",
  );
}

function alongAxis(op: OpOf<"scan" | "exchange" | "gather">): string | undefined {
  const { axis } = op.attrs;
  return unless(axis >= 0 && axis < operandsOf(op).value.type.shape.length, "has no such axis");
}

/** Values of the pointee's type. */
function atomicValues(op: Op, values: readonly Value[]): string | undefined {
  return unless(
    values.every(({ type }) => sameType(type, result(op))),
    "values and result differ",
  );
}

const bitsOf = (element: Element): number => element === "bool" ? 1 : 8 * bytesOf(element);

function pointsTo(element: Element): Element | "void" {
  return isPointer(element) ? element.pointee : element;
}

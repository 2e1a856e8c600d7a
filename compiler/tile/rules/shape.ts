/** Changes of shape: what is one value everywhere stays a scalar, what repeats is computed once. */
import { intsAttr } from "../../ir/attrs.ts";
import type { Op, Value } from "../../ir/func.ts";
import { sameShape, scalarType } from "../../ir/types.ts";
import type { Rewriter } from "../rewrite.ts";
import { ELEMENTWISE, isUniform, madeBy, respread, resultOf, type Rule, scalarOf } from "./rule.ts";

export const SHAPE_RULES: readonly Rule[] = [
  {
    name: "uniform-operands",
    doc: "op of tiles that are each one value everywhere → splat of op on scalars",
    ops: ELEMENTWISE,
    apply: (op, rw) => {
      const { type } = resultOf(op);
      if (type.shape.length === 0 || op.operands.length === 0 || !op.operands.every(isUniform)) {
        return undefined;
      }
      const scalars = op.operands.map((value) => scalarOf(value, op, rw));
      const scalar = rw.emit(op.name, scalars, scalarType(type.element), op.span, op.attrs);
      return rw.emit("splat", [scalar], type, op.span);
    },
  },
  {
    name: "broadcast-operands",
    doc: "op of tiles stretched from one smaller shape (or uniform) → op at that shape, stretched",
    ops: ELEMENTWISE,
    apply: (op, rw) => {
      const { type } = resultOf(op);
      const inner = (value: Value): Value | undefined => madeBy(value, "broadcast")?.operands[0];
      const shape = op.operands.map(inner).find((value) => value !== undefined)?.type.shape;
      if (shape === undefined) return undefined;
      const fits = (value: Value): boolean =>
        sameShape((inner(value) ?? value).type.shape, shape) || isUniform(value);
      if (!op.operands.every(fits)) return undefined;
      const small = op.operands.map((value) => inner(value) ?? respread(value, shape, op, rw));
      const result = rw.emit(op.name, small, { element: type.element, shape }, op.span, op.attrs);
      return rw.emit("broadcast", [result], type, op.span);
    },
  },
  {
    name: "shape-of-uniform",
    doc: "broadcast, expand_dims, reshape, permute of a splat → splat (or the scalar)",
    ops: ["broadcast", "expand_dims", "reshape", "permute"],
    apply: (op, rw) => {
      const [operand] = op.operands;
      return madeBy(operand, "splat") && operand &&
        respread(operand, resultOf(op).type.shape, op, rw);
    },
  },
  {
    name: "shape-kept",
    doc: "broadcast, reshape to the same shape, permute in order → the operand",
    ops: ["broadcast", "reshape", "permute"],
    apply: (op) => {
      const [operand] = op.operands;
      if (operand === undefined || !sameShape(operand.type.shape, resultOf(op).type.shape)) {
        return undefined;
      }
      const moves = op.name === "permute" &&
        intsAttr(op, "order").some((axis, index) => axis !== index);
      return moves ? undefined : operand;
    },
  },
  {
    name: "broadcast-twice",
    doc: "broadcast of broadcast → one",
    ops: ["broadcast"],
    apply: (op, rw) => ofInner(op, "broadcast", rw),
  },
  {
    name: "reshape-twice",
    doc: "reshape of reshape or expand_dims → one reshape",
    ops: ["reshape"],
    apply: (op, rw) => ofInner(op, "reshape", rw) ?? ofInner(op, "expand_dims", rw),
  },
  {
    name: "permute-twice",
    doc: "^(^x) → one permutation",
    ops: ["permute"],
    apply: (op, rw) => {
      const inner = madeBy(op.operands[0], "permute");
      const source = inner?.operands[0];
      if (inner === undefined || source === undefined) return undefined;
      const first = intsAttr(inner, "order");
      const order = intsAttr(op, "order").flatMap((axis) => first[axis] ?? []);
      return rw.emit("permute", [source], resultOf(op).type, op.span, { order });
    },
  },
  {
    name: "permute-of-broadcast",
    doc: "^(stretched x) → stretched ^x, which moves fewer elements",
    ops: ["permute"],
    apply: (op, rw) => {
      const source = madeBy(op.operands[0], "broadcast")?.operands[0];
      if (source === undefined) return undefined;
      const { type } = resultOf(op);
      const shape = intsAttr(op, "order").map((axis) => source.type.shape[axis] ?? 1);
      const moved = rw.emit(
        "permute",
        [source],
        { element: type.element, shape },
        op.span,
        op.attrs,
      );
      return rw.emit("broadcast", [moved], type, op.span);
    },
  },
  {
    name: "permute-of-extents-1",
    doc: "a permutation that keeps the order of the axes longer than 1 → reshape",
    ops: ["permute"],
    apply: (op, rw) => {
      const [operand] = op.operands;
      if (operand === undefined) return undefined;
      const long = intsAttr(op, "order").filter((axis) => (operand.type.shape[axis] ?? 1) > 1);
      const ordered = long.every((axis, index) => index === 0 || axis > (long[index - 1] ?? 0));
      return ordered ? rw.emit("reshape", [operand], resultOf(op).type, op.span) : undefined;
    },
  },
  {
    name: "reshape-to-expand-dims",
    doc: "a reshape that inserts one extent of 1 → expand_dims, of which more is known",
    ops: ["reshape"],
    apply: (op, rw) => {
      const [operand] = op.operands;
      const { type } = resultOf(op);
      const shape = operand?.type.shape ?? [];
      if (operand === undefined || type.shape.length !== shape.length + 1) return undefined;
      const axis = type.shape.findIndex((extent, index) =>
        extent === 1 && sameShape(shape.toSpliced(index, 0, 1), type.shape)
      );
      return axis < 0 ? undefined : rw.emit("expand_dims", [operand], type, op.span, { axis });
    },
  },
  {
    name: "uniform-offset-first",
    doc:
      "(p + tile) + u → (p + u) + tile, where p and u are uniform: one scalar addition for the whole tile. " +
      "Each count still widens alone",
    ops: ["offset"],
    apply: (op, rw) => {
      const [pointer, count] = op.operands;
      const inner = madeBy(pointer, "offset");
      const [base, tile] = inner?.operands ?? [];
      if (count === undefined || base === undefined || tile === undefined) return undefined;
      if (!isUniform(count) || !isUniform(base) || isUniform(tile)) return undefined;
      const { type } = resultOf(op);
      return rw.emit(
        "offset",
        [rw.emit("offset", [base, count], type, op.span), tile],
        type,
        op.span,
      );
    },
  },
];

/** The same operation on the operand of its operand, which is of kind `inner`. */
function ofInner(
  op: Op,
  inner: "broadcast" | "reshape" | "expand_dims",
  rw: Rewriter,
): Value | undefined {
  const source = madeBy(op.operands[0], inner)?.operands[0];
  return source && rw.emit(op.name, [source], resultOf(op).type, op.span, op.attrs);
}

/** Changes of shape: what is one value everywhere stays a scalar, what repeats is computed once. */
import type { OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { sameShape, scalarType } from "../../ir/types.ts";
import type { Rewriter } from "../rewrite.ts";
import { ELEMENTWISE, isUniform, respread, type Rule, rule, scalarOf } from "./rule.ts";

export const SHAPE_RULES: readonly Rule[] = [
  rule({
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
  }),
  rule({
    name: "broadcast-operands",
    doc: "op of tiles stretched from one smaller shape (or uniform) → op at that shape, stretched",
    ops: ELEMENTWISE,
    apply: (op, rw) => {
      const { type } = resultOf(op);
      const inner = (value: Value): Value | undefined => {
        const broadcast = madeBy(value, "broadcast");
        return broadcast && operandsOf(broadcast).value;
      };
      const shape = op.operands.map(inner).find((value) => value !== undefined)?.type.shape;
      if (shape === undefined) return undefined;
      const fits = (value: Value): boolean =>
        sameShape((inner(value) ?? value).type.shape, shape) || isUniform(value);
      if (!op.operands.every(fits)) return undefined;
      const small = op.operands.map((value) => inner(value) ?? respread(value, shape, op, rw));
      const result = rw.emit(op.name, small, { element: type.element, shape }, op.span, op.attrs);
      return rw.emit("broadcast", [result], type, op.span);
    },
  }),
  rule({
    name: "shape-of-uniform",
    doc: "broadcast, expand_dims, reshape, permute of a splat → splat (or the scalar)",
    ops: ["broadcast", "expand_dims", "reshape", "permute"],
    apply: (op, rw) => {
      const { value } = operandsOf(op);
      return madeBy(value, "splat") && respread(value, resultOf(op).type.shape, op, rw);
    },
  }),
  rule({
    name: "shape-kept",
    doc: "broadcast, reshape to the same shape, permute in order → the operand",
    ops: ["broadcast", "reshape", "permute"],
    apply: (op) => {
      const { value } = operandsOf(op);
      if (!sameShape(value.type.shape, resultOf(op).type.shape)) return undefined;
      const moves = op.name === "permute" && op.attrs.order.some((axis, index) => axis !== index);
      return moves ? undefined : value;
    },
  }),
  rule({
    name: "broadcast-twice",
    doc: "broadcast of broadcast → one",
    ops: ["broadcast"],
    apply: (op, rw) => ofInner(op, "broadcast", rw),
  }),
  rule({
    name: "reshape-twice",
    doc: "reshape of reshape or expand_dims → one reshape",
    ops: ["reshape"],
    apply: (op, rw) => ofInner(op, "reshape", rw) ?? ofInner(op, "expand_dims", rw),
  }),
  rule({
    name: "permute-twice",
    doc: "^(^x) → one permutation",
    ops: ["permute"],
    apply: (op, rw) => {
      const inner = madeBy(operandsOf(op).value, "permute");
      if (inner === undefined) return undefined;
      const order = op.attrs.order.flatMap((axis) => inner.attrs.order[axis] ?? []);
      const source = operandsOf(inner).value;
      return rw.emit("permute", [source], resultOf(op).type, op.span, { order });
    },
  }),
  rule({
    name: "permute-of-broadcast",
    doc: "^(stretched x) → stretched ^x, which moves fewer elements",
    ops: ["permute"],
    apply: (op, rw) => {
      const inner = madeBy(operandsOf(op).value, "broadcast");
      if (inner === undefined) return undefined;
      const source = operandsOf(inner).value;
      const { type } = resultOf(op);
      const shape = op.attrs.order.map((axis) => source.type.shape[axis] ?? 1);
      const moved = rw.emit(
        "permute",
        [source],
        { element: type.element, shape },
        op.span,
        op.attrs,
      );
      return rw.emit("broadcast", [moved], type, op.span);
    },
  }),
  rule({
    name: "permute-of-extents-1",
    doc: "a permutation that keeps the order of the axes longer than 1 → reshape",
    ops: ["permute"],
    apply: (op, rw) => {
      const { value } = operandsOf(op);
      const long = op.attrs.order.filter((axis) => (value.type.shape[axis] ?? 1) > 1);
      const ordered = long.every((axis, index) => index === 0 || axis > (long[index - 1] ?? 0));
      return ordered ? rw.emit("reshape", [value], resultOf(op).type, op.span) : undefined;
    },
  }),
  rule({
    name: "reshape-to-expand-dims",
    doc: "a reshape that inserts one extent of 1 → expand_dims, of which more is known",
    ops: ["reshape"],
    apply: (op, rw) => {
      const { value } = operandsOf(op);
      const { type } = resultOf(op);
      const { shape } = value.type;
      if (type.shape.length !== shape.length + 1) return undefined;
      const axis = type.shape.findIndex((extent, index) =>
        extent === 1 && sameShape(shape.toSpliced(index, 0, 1), type.shape)
      );
      return axis < 0 ? undefined : rw.emit("expand_dims", [value], type, op.span, { axis });
    },
  }),
  rule({
    name: "uniform-offset-first",
    doc:
      "(p + tile) + u → (p + u) + tile, where p and u are uniform: one scalar addition for the whole tile. " +
      "Each count still widens alone",
    ops: ["offset"],
    apply: (op, rw) => {
      const { pointer, count } = operandsOf(op);
      const inner = madeBy(pointer, "offset");
      if (inner === undefined) return undefined;
      const { pointer: base, count: tile } = operandsOf(inner);
      if (!isUniform(count) || !isUniform(base) || isUniform(tile)) return undefined;
      const { type } = resultOf(op);
      return rw.emit(
        "offset",
        [rw.emit("offset", [base, count], type, op.span), tile],
        type,
        op.span,
      );
    },
  }),
];

/** The same operation on the operand of its operand, which is of kind `inner`. */
function ofInner(
  op: OpOf<"broadcast" | "reshape">,
  name: "broadcast" | "reshape" | "expand_dims",
  rw: Rewriter,
): Value | undefined {
  const inner = madeBy(operandsOf(op).value, name);
  return inner && rw.emit(op.name, [operandsOf(inner).value], resultOf(op).type, op.span);
}

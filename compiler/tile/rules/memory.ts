/** Loads, stores and branches whose condition is known. */
import { zip } from "../../support/zip.ts";
import { branchOf } from "../../ir/flow.ts";
import { constantOf, madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { isFloat } from "../../ir/types.ts";
import { isZero, type Rule, rule } from "./rule.ts";

export const MEMORY_RULES: readonly Rule[] = [
  rule({
    name: "load-all",
    doc: "a load under a mask of true → a load without",
    ops: ["load"],
    apply: (op, rw) => {
      const { pointer, mask } = operandsOf(op);
      if (constantOf(mask) !== 1n) return undefined;
      return rw.emit("load", [pointer], resultOf(op).type, op.span, op.attrs);
    },
  }),
  rule({
    name: "load-none",
    doc: "a load under a mask of false → the fill value, or zero",
    ops: ["load"],
    apply: (op, rw) => {
      const { mask, other } = operandsOf(op);
      if (constantOf(mask) !== 0n) return undefined;
      const { type } = resultOf(op);
      return other ?? rw.constant(isFloat(type.element) ? 0 : 0n, type, op.span);
    },
  }),
  rule({
    name: "load-zero-fill",
    doc: "a load that fills with zero → one without fill value, which does the same",
    ops: ["load"],
    apply: (op, rw) => {
      const { pointer, mask, other } = operandsOf(op);
      if (mask === undefined || !isZero(constantOf(other))) return undefined;
      return rw.emit("load", [pointer, mask], resultOf(op).type, op.span, op.attrs);
    },
  }),
  rule({
    name: "select-of-load",
    doc:
      "m ? (load under m) : fill → the load, where it fills with the same (zero if it says nothing)",
    ops: ["select"],
    apply: (op) => {
      const { condition, then, otherwise } = operandsOf(op);
      const load = madeBy(then, "load");
      if (load === undefined) return undefined;
      const { mask, other } = operandsOf(load);
      if (mask !== condition) return undefined;
      const fits = other === undefined ? isZero(constantOf(otherwise)) : other === otherwise;
      return fits ? then : undefined;
    },
  }),
  rule({
    name: "store-all",
    doc: "a store under a mask of true → a store without",
    ops: ["store"],
    apply: (op, rw) => {
      const { pointer, value, mask } = operandsOf(op);
      if (constantOf(mask) !== 1n) return undefined;
      rw.append("store", [pointer, value], op.span, op.attrs);
      return [];
    },
  }),
  rule({
    name: "store-none",
    doc: "a store under a mask of false → nothing",
    ops: ["store"],
    apply: (op) => constantOf(operandsOf(op).mask) === 0n ? [] : undefined,
  }),
  rule({
    name: "if-known",
    doc: "if true {a} {b} → a",
    ops: ["if"],
    apply: (op, rw) => {
      const { condition, then, otherwise } = branchOf(op);
      const value = constantOf(condition);
      return value === undefined ? undefined : rw.inline(value === 1n ? then : otherwise);
    },
  }),
  rule({
    name: "if-of-values",
    doc: "if c {yield a} {yield b} → c ? a : b",
    ops: ["if"],
    apply: (op, rw) => {
      const { condition, then, otherwise, thenValues, otherwiseValues } = branchOf(op);
      if (then.ops.length > 1 || otherwise.ops.length > 1) return undefined;
      return zip(op.results, zip(thenValues, otherwiseValues)).map(([{ type }, sides]) => {
        const mask = type.shape.length === 0
          ? condition
          : rw.emit("splat", [condition], { element: "bool", shape: type.shape }, op.span);
        return rw.emit("select", [mask, ...sides], type, op.span);
      });
    },
  }),
];

/** Loads, stores and branches whose condition is known. */
import { must } from "../../support/bug.ts";
import { constantOf } from "../../ir/attrs.ts";
import type { Value } from "../../ir/func.ts";
import { isFloat } from "../../ir/types.ts";
import { terminatorOf } from "../../ir/walk.ts";
import { isZero, madeBy, resultOf, type Rule } from "./rule.ts";

const known = (value: Value | undefined): bigint | number | undefined => value && constantOf(value);

export const MEMORY_RULES: readonly Rule[] = [
  {
    name: "load-all",
    doc: "a load under a mask of true → a load without",
    ops: ["load"],
    apply: (op, rw) => {
      const [pointer, mask] = op.operands;
      if (pointer === undefined || known(mask) !== 1n) return undefined;
      return rw.emit("load", [pointer], resultOf(op).type, op.span, op.attrs);
    },
  },
  {
    name: "load-none",
    doc: "a load under a mask of false → the fill value, or zero",
    ops: ["load"],
    apply: (op, rw) => {
      const [_pointer, mask, other] = op.operands;
      if (known(mask) !== 0n) return undefined;
      const { type } = resultOf(op);
      return other ?? rw.constant(isFloat(type.element) ? 0 : 0n, type, op.span);
    },
  },
  {
    name: "load-zero-fill",
    doc: "a load that fills with zero → one without fill value, which does the same",
    ops: ["load"],
    apply: (op, rw) => {
      const [pointer, mask, other] = op.operands;
      if (pointer === undefined || mask === undefined || !isZero(known(other))) return undefined;
      return rw.emit("load", [pointer, mask], resultOf(op).type, op.span, op.attrs);
    },
  },
  {
    name: "select-of-load",
    doc:
      "m ? (load under m) : fill → the load, where it fills with the same (zero if it says nothing)",
    ops: ["select"],
    apply: (op) => {
      const [condition, then, otherwise] = op.operands;
      const [_pointer, mask, fill] = madeBy(then, "load")?.operands ?? [];
      if (mask === undefined || mask !== condition) return undefined;
      const fits = fill === undefined ? isZero(known(otherwise)) : fill === otherwise;
      return fits ? then : undefined;
    },
  },
  {
    name: "store-all",
    doc: "a store under a mask of true → a store without",
    ops: ["store"],
    apply: (op, rw) => {
      const [pointer, value, mask] = op.operands;
      if (pointer === undefined || value === undefined || known(mask) !== 1n) return undefined;
      rw.append("store", [pointer, value], op.span, op.attrs);
      return [];
    },
  },
  {
    name: "store-none",
    doc: "a store under a mask of false → nothing",
    ops: ["store"],
    apply: (op) => known(op.operands[2]) === 0n ? [] : undefined,
  },
  {
    name: "if-known",
    doc: "if true {a} {b} → a",
    ops: ["if"],
    apply: (op, rw) => {
      const value = known(op.operands[0]);
      const region = op.regions[value === 1n ? 0 : 1];
      return value === undefined || region === undefined ? undefined : rw.inline(region);
    },
  },
  {
    name: "if-of-values",
    doc: "if c {yield a} {yield b} → c ? a : b",
    ops: ["if"],
    apply: (op, rw) => {
      const [condition] = op.operands;
      const [then, otherwise] = op.regions.map((region) =>
        region.ops.length === 1 ? terminatorOf(region).operands : undefined
      );
      if (condition === undefined || then === undefined || otherwise === undefined) {
        return undefined;
      }
      return op.results.map(({ type }, index) => {
        const [a, b] = [then[index], otherwise[index]];
        const mask = type.shape.length === 0
          ? condition
          : rw.emit("splat", [condition], { element: "bool", shape: type.shape }, op.span);
        return rw.emit(
          "select",
          [mask, must(a, "then value"), must(b, "else value")],
          type,
          op.span,
        );
      });
    },
  },
];

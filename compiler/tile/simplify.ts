/** Constant folding and the algebraic rules, in one sweep: each operation until nothing fits any more. */
import { resultOf } from "../ir/op.ts";
import type { TileOp } from "../ir/ops.ts";
import { FOLDABLE, foldOp } from "./fold.ts";
import type { PlainPass } from "./pass.ts";
import { type Rewrite, sweep } from "./rewrite.ts";
import { ALGEBRA_RULES } from "./rules/algebra.ts";
import { FLOAT_RULES } from "./rules/float_facts.ts";
import { MEMORY_RULES } from "./rules/memory.ts";
import type { Rule } from "./rules/rule.ts";
import { SHAPE_RULES } from "./rules/shape.ts";

/** Folding as a rule like the others. */
const FOLD: Rule = {
  name: "fold",
  doc: "an operation on constants → its result",
  ops: FOLDABLE,
  apply: (op, rw) => {
    const value = foldOp(op);
    return value === undefined ? undefined : rw.constant(value, resultOf(op).type, op.span);
  },
};

/** The first that fits is applied; its result is looked at again. */
export const RULES: readonly Rule[] = [
  FOLD,
  ...ALGEBRA_RULES,
  ...FLOAT_RULES,
  ...SHAPE_RULES,
  ...MEMORY_RULES,
];

export const simplify: PlainPass = simplifyWith(RULES);

/** Some rules as a pass. */
export function simplifyWith(rules: readonly Rule[]): PlainPass {
  const byOp = new Map<TileOp, Rule[]>();
  for (const rule of rules) {
    for (const name of rule.ops) {
      const list = byOp.get(name);
      if (list === undefined) byOp.set(name, [rule]);
      else list.push(rule);
    }
  }
  const rewrite: Rewrite = (op, rw) => {
    for (const rule of byOp.get(op.name) ?? []) {
      const result = rule.apply(op, rw);
      if (result !== undefined) return isList(result) ? result : [result];
    }
    return undefined;
  };
  return {
    name: "simplify",
    doc: "constant folding and the algebraic rules (`compiler/tile/rules`)",
    run: (func) => sweep(func, rewrite),
  };
}

function isList<T extends object>(result: T | readonly T[]): result is readonly T[] {
  return Array.isArray(result);
}

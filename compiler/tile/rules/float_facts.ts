/**
 * Floats of which enough is known that an operation has one result, to the last bit.
 *
 * Loops that scale a sum whenever a maximum grows begin with a sum of 0 and the lowest number. Where such a loop runs
 * once, what it scales and adds to is 0.
 */
import type { Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, pairOf } from "../../ir/op.ts";
import { isFloat } from "../../ir/types.ts";
import { isZero, type Rule, rule } from "./rule.ts";

export const FLOAT_RULES: readonly Rule[] = [
  rule({
    name: "plus-zero",
    doc: "x + 0.0 → x, where x is e to some power, so not -0.0",
    ops: ["add"],
    apply: (op) => {
      const [a, b] = pairOf(op);
      return isFloat(a.type.element) && isZero(constantOf(b)) && isPower(a) ? a : undefined;
    },
  }),
  rule({
    name: "times-zero",
    doc: "x * 0.0 → 0.0, where x is e to the power c - max(c, y), so from 0 to 1",
    ops: ["mul"],
    apply: (op) => {
      const [a, b] = pairOf(op);
      return isFloat(a.type.element) && isZero(constantOf(b)) && isShrinking(a) ? b : undefined;
    },
  }),
];

/** What a value is spread from. */
function spreadFrom(value: Value): Value {
  let at = value;
  for (;;) {
    const spread = madeBy(at, "broadcast") ?? madeBy(at, "splat") ?? madeBy(at, "expand_dims");
    if (spread === undefined) return at;
    at = operandsOf(spread).value;
  }
}

/** The power of e that a value is. */
function exponentOf(value: Value): Value | undefined {
  const math = madeBy(spreadFrom(value), "math");
  return math?.attrs.function === "exp" ? spreadFrom(math.operands[0] ?? value) : undefined;
}

const isPower = (value: Value): boolean => exponentOf(value) !== undefined;

/** A maximum is no NaN where one operand is none (language.md 7.4), so the exponent is none, and at most 0. */
function isShrinking(value: Value): boolean {
  const difference = madeBy(exponentOf(value), "sub");
  if (difference === undefined) return false;
  const [from, most] = pairOf(difference);
  const lowest = constantOf(from);
  const max = madeBy(spreadFrom(most), "max");
  return typeof lowest === "number" && Number.isFinite(lowest) && max !== undefined &&
    pairOf(max).some((one) => constantOf(one) === lowest);
}

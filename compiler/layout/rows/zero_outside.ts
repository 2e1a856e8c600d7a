/**
 * Which values are zero in all elements of the middle that are not its own (row_parts.ts): a sum needs no choice between them
 * and zero. Zero is what masks leave there, and what some operations make of zeros.
 */
import type { Op, Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, pairOf, resultOf } from "../../ir/op.ts";
import { isFloat } from "../../ir/types.ts";
import { isZero } from "../../tile/rules/rule.ts";

/** Their result is zero, not -0, where all operands are. */
const KEEPING: ReadonlySet<string> = new Set(["add", "sub", "mul", "convert"]);

/** What a sum of x + 0.0 adds up: the sum is -0.0 only where all that it adds is, so it is enough to add 0.0 to it. */
export function withoutZero(value: Value): Value {
  const sum = madeBy(value, "add");
  if (sum === undefined || !isFloat(value.type.element)) return value;
  const [x, zero] = pairOf(sum);
  return isZero(constantOf(zero)) ? x : value;
}

export class ZeroOutside {
  readonly #known = new Set<Value>();

  has(value: Value): boolean {
    return this.#known.has(value) || isZero(constantOf(value));
  }

  add(value: Value): void {
    this.#known.add(value);
  }

  /** Looks at an element-wise operation; `isMask` says of which conditions no other elements are part. */
  note(op: Op, isMask: (condition: Value) => boolean): void {
    if (this.#isZero(op, isMask)) this.add(resultOf(op));
  }

  #isZero(op: Op, isMask: (condition: Value) => boolean): boolean {
    if (op.name === "select") {
      const { condition, then, otherwise } = operandsOf(op);
      return this.has(otherwise) && (this.has(then) || isMask(condition));
    }
    const keeps = KEEPING.has(op.name) || (op.name === "math" && op.attrs.function === "fma");
    return keeps && op.operands.every((value) => this.has(value));
  }
}

/**
 * Which values are the same number in all elements of the middle that are not its own (row_parts.ts), so that a reduction needs
 * no choice between them and what changes nothing: zero in sums, minus infinity in maxima. Such numbers are what masks leave
 * there, and what some operations make of them; so the powers of softmax are zero there:
 *
 *     x = load p, mask, -inf        -inf
 *     top = max(-3.4e38, max of x)  never below a number
 *     exp(x - top)                  exp(-inf), zero
 */
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, pairOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { isFloat } from "../../ir/types.ts";
import { usersOf } from "../../ir/walk.ts";
import { numberOf, rowsOf } from "../../tile/powers.ts";
import { isZero } from "../../tile/rules/rule.ts";

/** What a value is outside. */
type Outside = "zero" | "lowest";

/** Their result is zero, not -0, where all operands are. */
const KEEPING: ReadonlySet<string> = new Set(["add", "sub", "mul", "convert"]);

/** What a sum of x + 0.0 adds up: the sum is -0.0 only where all that it adds is, so it is enough to add 0.0 to it. */
export function withoutZero(value: Value): Value {
  const sum = madeBy(value, "add");
  if (sum === undefined || !isFloat(value.type.element)) return value;
  const [x, zero] = pairOf(sum);
  return isZero(constantOf(zero)) ? x : value;
}

export class OutsideValues {
  readonly #axis: number;
  readonly #users: ReadonlyMap<Value, readonly Op[]>;
  readonly #known = new Map<Value, Outside>();

  /** `axis`: along which rows lie. */
  constructor(func: Func, axis: number) {
    this.#axis = axis;
    this.#users = usersOf(func);
  }

  /** Whether what is outside changes nothing in a reduction of a value. */
  isNeutral(reduction: OpOf<"reduce">, value: Value): boolean {
    const { operator } = reduction.attrs;
    if (operator === "add") return this.of(value) === "zero";
    return operator === "max" && this.of(value) === "lowest" &&
      this.#hidesLowest(resultOf(reduction));
  }

  /** Whether all that becomes of a value is a maximum with a number, which is the same of NaN and of minus infinity. */
  #hidesLowest(value: Value): boolean {
    return (this.#users.get(value) ?? []).every((user) =>
      isMaximumOfNumber(user) || hasTrait(user, "reshapes") && this.#hidesLowest(resultOf(user))
    );
  }

  of(value: Value): Outside | undefined {
    const constant = numberOf(value);
    if (constant === -Infinity && isFloat(value.type.element)) return "lowest";
    return isZero(constantOf(value)) ? "zero" : this.#known.get(value);
  }

  /** What a load gives where its mask holds nowhere: zero, or `other`. */
  noteLoad(load: OpOf<"load">): void {
    const { other } = operandsOf(load);
    this.#note(resultOf(load), other === undefined ? "zero" : this.of(other));
  }

  /** Looks at an element-wise operation; `isMask` says of which conditions no other elements are part. */
  note(op: Op, isMask: (condition: Value) => boolean): void {
    if (this.#isZero(op, isMask)) this.#note(resultOf(op), "zero");
    else if (this.#isLowest(op)) this.#note(resultOf(op), "lowest");
  }

  #note(value: Value, outside: Outside | undefined): void {
    if (outside !== undefined) this.#known.set(value, outside);
  }

  #isZero(op: Op, isMask: (condition: Value) => boolean): boolean {
    if (op.name === "select") {
      const { condition, then, otherwise } = operandsOf(op);
      return this.of(otherwise) === "zero" && (this.of(then) === "zero" || isMask(condition));
    }
    if (op.name === "math" && op.attrs.function !== "fma") {
      const isPower = op.attrs.function === "exp" || op.attrs.function === "exp2";
      return isPower && this.of(operandsOf(op).value) === "lowest";
    }
    const keeps = KEEPING.has(op.name) || op.name === "math";
    return keeps && op.operands.every((value) => this.of(value) === "zero");
  }

  #isLowest(op: Op): boolean {
    switch (op.name) {
      case "convert":
        return isFloat(resultOf(op).type.element) && this.#areLowest(op.operands);
      case "sub": {
        const { left, right } = operandsOf(op);
        return this.of(left) === "lowest" && this.#isAboveLowest(right);
      }
      case "mul": {
        const [left, right] = pairOf(op);
        return this.of(left) === "lowest" && isPositive(right) ||
          this.of(right) === "lowest" && isPositive(left);
      }
      default:
        return op.name === "max" && isFloat(resultOf(op).type.element) &&
          this.#areLowest(op.operands);
    }
  }

  #areLowest(values: readonly Value[]): boolean {
    return values.every((value) => this.of(value) === "lowest");
  }

  /** Whether a value is a number for each row that is a maximum of a constant one, so neither minus infinity nor NaN. */
  #isAboveLowest(value: Value): boolean {
    const { def } = rowsOf(value, this.#axis);
    return def !== undefined && isMaximumOfNumber(def);
  }
}

const isMaximumOfNumber = ({ name, operands }: Op): boolean =>
  name === "max" && operands.some((one) => Math.abs(numberOf(one) ?? NaN) < Infinity);

const isPositive = (value: Value): boolean => {
  const factor = numberOf(value) ?? NaN;
  return factor > 0 && factor < Infinity;
};

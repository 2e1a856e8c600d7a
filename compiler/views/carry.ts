/** What loops carry for coordinates. */
import { loopOf } from "../ir/flow.ts";
import { type Func, newOp, newValue, type OpOf, type Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import type { BareOp } from "../ir/ops.ts";
import { type IrType, scalarType } from "../ir/types.ts";

const UINT32: IrType = scalarType("uint32");
const BOOL: IrType = scalarType("bool");

/** Lets a loop carry one more value; gives its parameter in the body. `nextOf` makes the next one, at the end of the body. */
export function carry(
  func: Func,
  loop: OpOf<"while">,
  initial: Value,
  nextOf: (value: Value) => Value,
): Value {
  const { type } = initial;
  const { test, body, condition, end } = loopOf(loop);
  const tested = newValue(func, type);
  const value = newValue(func, type);
  loop.operands.push(initial);
  test.params.push(tested);
  condition.operands.push(tested);
  body.params.push(value);
  end.operands.push(nextOf(value));
  const result = newValue(func, type);
  result.def = loop;
  loop.results.push(result);
  return value;
}

/** What divisions of one number, that a loop carries, give in an iteration, and by how much the quotient grows after it. */
export interface CountedDigit {
  readonly quotient: Value;
  readonly growth: Growth;
}

/** So much, the same in all iterations, and one more where there is something carried from below. */
export interface Growth {
  readonly by: Value;
  readonly carried: Value | undefined;
}

/**
 * Counts the quotient of a number that grows along, by what it grows: divisions take longer. All are unsigned. The quotient and
 * what is left of it before the loop, the divisor, and `growth.by` divided are the caller's.
 */
export function countDigit(
  func: Func,
  loop: OpOf<"while">,
  before: { readonly quotient: Value; readonly left: Value },
  divisor: Value,
  by: { readonly quotient: Value; readonly left: Value },
  carriedBelow: Value | undefined,
): CountedDigit {
  const { body } = loopOf(loop);
  const atEnd = (name: BareOp, operands: readonly Value[], type = UINT32): Value => {
    const made = newOp(func, name, operands, [type], loop.span);
    body.ops.splice(-1, 0, made);
    return resultOf(made);
  };
  const grown = (value: Value, step: Value, more: Value | undefined): Value => {
    const sum = atEnd("add", [value, step]);
    return more === undefined ? sum : atEnd("add", [sum, more]);
  };
  const constant = (value: bigint): Value => {
    const made = newOp(func, "constant", [], [UINT32], loop.span, { value });
    body.ops.splice(-1, 0, made);
    return resultOf(made);
  };
  let carried: Value | undefined;
  carry(func, loop, before.left, (left) => {
    const sum = grown(left, by.left, carriedBelow);
    const isOver = atEnd("ge", [sum, divisor], BOOL);
    const zero = constant(0n);
    carried = atEnd("select", [isOver, constant(1n), zero]);
    return atEnd("sub", [sum, atEnd("select", [isOver, divisor, zero])]);
  });
  const quotient = carry(
    func,
    loop,
    before.quotient,
    (value) => grown(value, by.quotient, carried),
  );
  return { quotient, growth: { by: by.quotient, carried } };
}

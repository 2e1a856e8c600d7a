/** Element-wise built-ins with rules of their own: they become operators of the typed tree. */
import { evalUnary } from "../../support/arith.ts";
import { SCALARS } from "../tree/types.ts";
import type { Context } from "../check_context.ts";
import { constantArgument, reportArgument, scalarName } from "../expressions/check_argument.ts";
import type { BuiltinCall } from "./builtins.ts";
import { elementwise, stretchAll } from "./builtin_node.ts";
import { checkReduction } from "./check_builtin_tile.ts";
import { unifyPointers } from "../expressions/check_operators.ts";
import {
  commonOf,
  isArithmetic,
  isInteger,
  promote,
  toBool,
  unify,
} from "../expressions/convert.ts";
import { binary, constant, convert, intConstant, select, type Value } from "../tree/nodes.ts";
import { elementOf } from "../tree/value_types.ts";

/** `min(a, b)`; with one argument the reduction of a tile. */
export function checkMinmax(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): Value | undefined {
  if (values.length === 1) return checkReduction(cx, call, values);
  const wrong = values.find((value) => !isArithmetic(value));
  if (wrong !== undefined) return reportArgument(cx, call, wrong.span, "numbers", wrong);
  const [a, b] = stretchAll(cx, call, unify(cx, values)) ?? [];
  return a && b && binary(call.builtin.canonical === "min" ? "min" : "max", a, b, call.span);
}

/** `abs(x)` of the promoted type. */
export function checkAbs(
  cx: Context,
  call: BuiltinCall,
  [x]: readonly Value[],
): Value | undefined {
  if (x === undefined) return undefined;
  if (!isArithmetic(x)) return reportArgument(cx, call, x.span, "a number", x);
  const value = promote(cx, x);
  const name = scalarName(value);
  if (name === undefined || !SCALARS[name].signed) return value;
  if (value.kind === "constant") {
    const isNegative = value.value < 0 || Object.is(value.value, -0);
    const result = isNegative ? evalUnary("neg", name, value.value) : value.value;
    if (result !== undefined) return constant(result, value.type, call.span);
  }
  return elementwise(cx, call, [value], "same");
}

/** `clamp(x, lo, hi)` is `min(max(x, lo), hi)`. */
export function checkClamp(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): Value | undefined {
  const wrong = values.find((value) => !isArithmetic(value));
  if (wrong !== undefined) return reportArgument(cx, call, wrong.span, "numbers", wrong);
  const [x, lo, hi] = stretchAll(cx, call, unify(cx, values)) ?? [];
  if (x === undefined || lo === undefined || hi === undefined) return undefined;
  return binary("min", binary("max", x, lo, call.span), hi, call.span);
}

/** `cdiv(a, b)`: the quotient, and one more if something is left. */
export function checkCdiv(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): Value | undefined {
  const wrong = values.find((value) => !isInteger(value));
  if (wrong !== undefined) return reportArgument(cx, call, wrong.span, "integers", wrong);
  const [a, b] = stretchAll(cx, call, unify(cx, values)) ?? [];
  if (a === undefined || b === undefined) return undefined;
  const { span } = call;
  return cx.once(a, "dividend", (dividend) =>
    cx.once(b, "divisor", (divisor) => {
      const quotient = binary("div", dividend, divisor, span, cx.foldReporter(span));
      const rest = binary("rem", dividend, divisor, span);
      const zero = convert(intConstant(0, "int32", span), elementOf(a.type));
      const [left, none] = stretchAll(cx, call, [rest, zero]) ?? [];
      if (left === undefined || none === undefined) return quotient;
      const more = convert(binary("ne", left, none, span), elementOf(a.type));
      return binary("add", quotient, more, span);
    }));
}

/** `select(c, a, b)`: both sides are evaluated fully. */
export function checkSelect(
  cx: Context,
  call: BuiltinCall,
  [c, a, b]: readonly Value[],
): Value | undefined {
  if (c === undefined || a === undefined || b === undefined) return undefined;
  const sides = isArithmetic(a) && isArithmetic(b) ? unify(cx, [a, b]) : unifyPointers(a, b);
  if (sides === undefined) {
    return reportArgument(cx, call, call.span, "two numbers or two pointers of one type");
  }
  const [condition, then, otherwise] = stretchAll(cx, call, [toBool(c), ...sides]) ?? [];
  return condition && then && otherwise && select(condition, then, otherwise, call.span);
}

/** `next_pow2(n)`, `ilog2(n)`: of positive constants. */
export function checkConstantOnly(
  cx: Context,
  call: BuiltinCall,
  [n]: readonly Value[],
): Value | undefined {
  const name = n === undefined ? undefined : commonOf(cx, [n]);
  if (n === undefined || name === undefined) return undefined;
  const what = `the argument of \`${call.builtin.name}\``;
  const value = constantArgument(cx, n, what, 1, Number.MAX_SAFE_INTEGER);
  if (value === undefined) return undefined;
  const bits = BigInt(value).toString(2).length - 1; // floor(log2(value))
  const exact = 2n ** BigInt(bits) === BigInt(value);
  const result = call.builtin.canonical === "ilog2" ? bits : 2 ** (exact ? bits : bits + 1);
  return intConstant(result, name, call.span);
}

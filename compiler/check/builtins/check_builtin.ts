/** Calls of built-in functions: the general rules of the BUILTINS table, and the dispatch to the special ones. */
import type * as ast from "../../parse/ast.ts";
import { elementBytes, type ScalarName, SCALARS } from "../tree/types.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import type { Builtin, BuiltinRule, OwnRule } from "./builtins.ts";
import { reportArgument, takeApart, valuesOf } from "../expressions/check_argument.ts";
import type { BuiltinCall } from "./builtins.ts";
import { checkAtomic } from "./check_atomic.ts";
import {
  checkAbs,
  checkCdiv,
  checkClamp,
  checkConstantOnly,
  checkMinmax,
  checkSelect,
} from "./check_builtin_scalar.ts";
import {
  checkArgExtreme,
  checkCat,
  checkGather,
  checkHistogram,
  checkMake,
  checkRangeCall,
  checkReduction,
  checkScan,
  checkShapeCall,
  checkSort,
  checkSplit,
} from "./check_builtin_tile.ts";
import {
  checkBarrier,
  checkCalloc,
  checkDot,
  checkLoadCall,
  checkPrefetch,
  checkProgram,
  checkStoreCall,
} from "./check_builtin_memory.ts";
import {
  checkAssertCall,
  checkAssume,
  checkHint,
  checkPhilox,
  checkPrintf,
  checkRandom,
  checkStaticPrint,
} from "./check_builtin_debug.ts";
import { elementwise, stretchAll } from "./builtin_node.ts";
import {
  commonOf,
  convertElement,
  isArithmetic,
  isInteger,
  unify,
} from "../expressions/convert.ts";
import { binary, type Value } from "../tree/nodes.ts";
import { scalarType } from "../tree/value_types.ts";

/** Checks a special call whose arguments are values. */
export type ValueRule = (
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
) => TypedExpr | undefined;

/** Checks a special call from its syntax: it takes types, strings or names. */
export type SyntaxRule = (cx: Context, call: BuiltinCall) => TypedExpr | undefined;

const OWN: Readonly<Record<OwnRule, SyntaxRule>> = {
  argmaxLike: withValues(checkArgExtreme),
  assert: withValues(checkAssertCall),
  assume: withValues(checkAssume),
  atomic: withValues(checkAtomic),
  barrier: checkBarrier,
  calloc: checkCalloc,
  cat: withValues(checkCat),
  cdiv: withValues(checkCdiv),
  clamp: withValues(checkClamp),
  constantOnly: withValues(checkConstantOnly),
  dot: withValues(checkDot),
  gather: withValues(checkGather),
  hint: withValues(checkHint),
  histogram: withValues(checkHistogram),
  load: withValues(checkLoadCall),
  make: checkMake,
  minmax: withValues(checkMinmax),
  philox: withValues(checkPhilox),
  prefetch: withValues(checkPrefetch),
  printf: checkPrintf,
  program: withValues(checkProgram),
  random: withValues(checkRandom),
  range: withValues(checkRangeCall),
  reduction: withValues(checkReduction),
  scan: withValues(checkScan),
  select: withValues(checkSelect),
  shape: withValues(checkShapeCall),
  sort: withValues(checkSort),
  split: withValues(checkSplit),
  store: withValues(checkStoreCall),
  staticPrint: checkStaticPrint,
};

function withValues(rule: ValueRule): SyntaxRule {
  return (cx, call) => {
    const values = valuesOf(cx, call);
    return values === undefined ? undefined : rule(cx, call, values);
  };
}

const GENERAL: Readonly<Record<Exclude<BuiltinRule["kind"], "own">, ValueRule>> = {
  "float": checkFloat,
  "keep-float": checkKeepFloat,
  "promoted": checkAbs,
  "numbers": checkNumbers,
  "integers": checkIntegers,
};

/** A call of a built-in function by its own name. */
export function checkBuiltin(
  cx: Context,
  builtin: Builtin,
  expr: Extract<ast.Expr, { kind: "call" }>,
): TypedExpr | undefined {
  const call = takeApart(cx, builtin, expr);
  if (call === undefined) return undefined;
  const { rule } = builtin;
  return rule.kind === "own" ? OWN[rule.check](cx, call) : withValues(GENERAL[rule.kind])(cx, call);
}

/** Computed in float or double, whatever the arguments are. */
function checkFloat(cx: Context, call: BuiltinCall, values: readonly Value[]): Value | undefined {
  const wrong = values.find((value) => !isArithmetic(value));
  if (wrong !== undefined) return reportArgument(cx, call, wrong.span, "a number", wrong);
  const name: ScalarName = commonOf(cx, values) === "float64" ? "float64" : "float32";
  const args = values.map((value) => convertElement(cx, value, scalarType(name)));
  const { rule } = call.builtin;
  const result = rule.kind === "float" && rule.result === "bool" ? "bool" : name;
  return elementwise(cx, call, args, result);
}

/** Floats of a common type, kept. */
function checkKeepFloat(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): Value | undefined {
  const common = commonOf(cx, values);
  const wrong = values.find((value) => !isArithmetic(value)) ?? values[0];
  if (wrong === undefined) return undefined;
  if (common === undefined || SCALARS[common].class !== "float") {
    return reportArgument(cx, call, wrong.span, "a float", wrong);
  }
  return elementwise(cx, call, unify(cx, values), common);
}

/** Numbers of a common type. */
function checkNumbers(cx: Context, call: BuiltinCall, values: readonly Value[]): Value | undefined {
  const wrong = values.find((value) => !isArithmetic(value));
  if (wrong !== undefined) return reportArgument(cx, call, wrong.span, "numbers", wrong);
  const common = commonOf(cx, values);
  const { rule } = call.builtin;
  if (common === undefined || rule.kind !== "numbers") return undefined;
  if (SCALARS[common].class === "float") return elementwise(cx, call, unify(cx, values), common);
  const [a, b] = stretchAll(cx, call, unify(cx, values)) ?? [];
  return a && b && binary(rule.operator, a, b, call.span);
}

/** Integers of a common type of 32 or 64 bits. */
function checkIntegers(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): Value | undefined {
  const wrong = values.find((value) => !isInteger(value));
  if (wrong !== undefined) return reportArgument(cx, call, wrong.span, "integers", wrong);
  const common = commonOf(cx, values);
  const { rule } = call.builtin;
  if (common === undefined || rule.kind !== "integers") return undefined;
  const wide = elementBytes(scalarType(common)) === 8;
  const name: ScalarName = rule.result === "signed"
    ? (wide ? "int64" : "int32")
    : rule.result === "unsigned"
    ? (wide ? "uint64" : "uint32")
    : common;
  const args = values.map((value) => convertElement(cx, value, scalarType(name)));
  return elementwise(cx, call, args, rule.result === "int" ? "int32" : name);
}

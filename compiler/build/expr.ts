/**
 * Expressions of the typed tree as operations, in the order the language evaluates them. Calls are replaced by the
 * bodies of helpers, so builders recurse on the heap: helpers may call each other through any number of levels.
 */
import { assertNever, must } from "../support/bug.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import type { TypedExpr } from "../check/tree/typed.ts";
import type { Region, Value } from "../ir/func.ts";
import { bytesOf, isPointer, sameElement, scalarType } from "../ir/types.ts";
import { assignedIn, isCheapAndPure } from "./assigned.ts";
import { builtinRule } from "./builtins.ts";
import {
  append,
  type Building,
  type BuildStep,
  type Context,
  countOperation,
  emit,
  emitConstant,
  emitZero,
  inRegion,
  setAll,
  setVariable,
  valueOf,
  valuesOf,
} from "./context.ts";
import { buildBroadcast, buildReshape } from "./shape.ts";
import { irType, isVolatile } from "./types.ts";

type Of<K extends TypedExpr["kind"]> = Extract<TypedExpr, { kind: K }>;

/** An expression that has a value. */
export function* buildValue(cx: Context, expr: TypedExpr): BuildStep<Value> {
  return must(yield buildExpr(cx, expr), `value of a ${expr.kind}`);
}

function* buildValues(cx: Context, exprs: readonly TypedExpr[]): BuildStep<Value[]> {
  const values: Value[] = [];
  for (const expr of exprs) values.push(yield* buildValue(cx, expr));
  return values;
}

/** Any expression; calls may have no value. */
export function* buildExpr(cx: Context, expr: TypedExpr): Building {
  const { span } = expr;
  switch (expr.kind) {
    case "constant":
      return emitConstant(cx, expr.value, irType(expr.type), span);
    case "variable":
      return valueOf(cx, expr.variable);
    case "binary":
      return yield* buildBinary(cx, expr);
    case "unary":
      return emit(
        cx,
        expr.operator,
        [yield* buildValue(cx, expr.operand)],
        irType(expr.type),
        span,
      );
    case "offset":
    case "difference":
    case "dot":
      return yield* buildPair(cx, expr);
    case "convert":
    case "bitcast":
      return yield* buildConversion(cx, expr);
    case "broadcast":
      return buildBroadcast(cx, yield* buildValue(cx, expr.operand), irType(expr.type).shape, span);
    case "reshape":
      return buildReshape(cx, yield* buildValue(cx, expr.operand), irType(expr.type).shape, span);
    case "permute":
      return emit(cx, "permute", [yield* buildValue(cx, expr.operand)], irType(expr.type), span, {
        order: expr.order,
      });
    case "range":
      return emit(cx, "range", [], irType(expr.type), span, { lo: expr.lo });
    case "reduce": {
      const { axis, operator } = expr;
      return emit(cx, "reduce", [yield* buildValue(cx, expr.operand)], irType(expr.type), span, {
        axis,
        operator,
      });
    }
    case "load":
      return yield* buildLoad(cx, expr);
    case "store":
      return yield* buildStore(cx, expr);
    case "select": {
      const operands = yield* buildValues(cx, [expr.condition, expr.then, expr.else]);
      return emit(cx, "select", operands, irType(expr.type), span);
    }
    case "conditional":
      return yield* buildConditional(cx, expr);
    case "assign": {
      const value = yield* buildValue(cx, expr.value);
      setVariable(cx, expr.variable, value);
      return value;
    }
    case "let":
      cx.values.set(expr.variable.id, yield* buildValue(cx, expr.value));
      return yield buildExpr(cx, expr.body);
    case "comma":
      yield buildExpr(cx, expr.first);
      return yield buildExpr(cx, expr.then);
    case "program-id":
      return emit(cx, "program_id", [], irType(expr.type), span, { axis: expr.axis });
    case "num-programs":
      return emit(cx, "num_programs", [], irType(expr.type), span, { axis: expr.axis });
    case "builtin":
      return yield* buildBuiltin(cx, expr);
    case "call":
      return yield* inlineHelper(cx, expr);
    default:
      assertNever(expr);
  }
}

function* buildBinary(cx: Context, expr: Of<"binary">): BuildStep<Value> {
  const lhs = yield* buildValue(cx, expr.lhs);
  const rhs = yield* buildValue(cx, expr.rhs);
  const isShift = expr.operator === "shl" || expr.operator === "shr";
  const right = isShift ? shiftCount(cx, rhs, lhs, expr.span) : rhs;
  return emit(cx, expr.operator, [lhs, right], irType(expr.type), expr.span);
}

/**
 * A shift's count in the type of what is shifted. Counts are unsigned, so one of a wider type is first limited
 * to the width; extending a narrower negative one leaves it above the width either way.
 */
function shiftCount(cx: Context, count: Value, shifted: Value, span: Span): Value {
  const [from, to] = [count.type.element, shifted.type.element];
  if (sameElement(from, to)) return count;
  const { shape } = count.type;
  let limited = count;
  if (bytesOf(from) > bytesOf(to) && !isPointer(to)) {
    const unsigned = { element: "uint64" as const, shape };
    const width = emitConstant(cx, BigInt(SCALARS[to].bits), unsigned, span);
    limited = emit(
      cx,
      "min",
      [emit(cx, "convert", [count], unsigned, span), width],
      unsigned,
      span,
    );
  }
  return emit(cx, "convert", [limited], { element: to, shape }, span);
}

function* buildPair(cx: Context, expr: Of<"offset" | "difference" | "dot">): BuildStep<Value> {
  const type = irType(expr.type);
  if (expr.kind === "offset") {
    const pointer = yield* buildValue(cx, expr.pointer);
    return emit(cx, "offset", [pointer, yield* buildValue(cx, expr.count)], type, expr.span);
  }
  const operands = [yield* buildValue(cx, expr.lhs), yield* buildValue(cx, expr.rhs)];
  if (expr.kind === "difference") return emit(cx, "difference", operands, type, expr.span);
  const sum = emitZero(cx, type, expr.span);
  return emit(cx, "dot", [...operands, sum], type, expr.span, { mode: expr.mode });
}

/** Conversions that change qualifiers only are none in tile IR. */
function* buildConversion(cx: Context, expr: Of<"convert" | "bitcast">): BuildStep<Value> {
  const operand = yield* buildValue(cx, expr.operand);
  const type = irType(expr.type);
  if (sameElement(operand.type.element, type.element)) return operand;
  return emit(cx, expr.kind, [operand], type, expr.span);
}

function* buildLoad(cx: Context, expr: Of<"load">): BuildStep<Value> {
  const operands = yield* buildValues(
    cx,
    [expr.pointer, expr.mask, expr.other].filter((operand) => operand !== undefined),
  );
  return emit(cx, "load", operands, irType(expr.type), expr.span, { modifiers: modifiersOf(expr) });
}

/** Value, then pointer and mask, then the store (language.md, 5.15). */
function* buildStore(cx: Context, expr: Of<"store">): BuildStep<Value> {
  const value = yield* buildValue(cx, expr.value);
  const pointer = yield* buildValue(cx, expr.pointer);
  const operands = [pointer, value];
  if (expr.mask !== undefined) operands.push(yield* buildValue(cx, expr.mask));
  append(cx, "store", operands, [], expr.span, { modifiers: modifiersOf(expr) });
  return value;
}

function modifiersOf(expr: Of<"load" | "store">): readonly string[] {
  const { modifiers } = expr;
  return isVolatile(expr.pointer.type) && !modifiers.includes("volatile")
    ? [...modifiers, "volatile"]
    : modifiers;
}

/** `c ? a : b` with a scalar c. Sides without effect become a `select`; others run in a branch. */
function* buildConditional(cx: Context, expr: Of<"conditional">): BuildStep<Value> {
  const { span } = expr;
  const type = irType(expr.type);
  const condition = yield* buildValue(cx, expr.condition);
  if (isCheapAndPure(expr.then) && isCheapAndPure(expr.else)) {
    const sides = [yield* buildValue(cx, expr.then), yield* buildValue(cx, expr.else)];
    return emit(
      cx,
      "select",
      [buildBroadcast(cx, condition, type.shape, span), ...sides],
      type,
      span,
    );
  }
  const carried = assignedIn([], [expr.then, expr.else]);
  const regions: Region[] = [];
  for (const side of [expr.then, expr.else]) {
    const build = function* (): BuildStep<void> {
      const value = yield* buildValue(cx, side);
      append(cx, "yield", [value, ...valuesOf(cx, carried)], [], side.span);
    };
    regions.push(yield* inRegion(cx, [], side.span, build));
  }
  const types = [type, ...carried.map((variable) => irType(variable.type))];
  const [value, ...rest] = append(cx, "if", [condition], types, span, {}, regions).results;
  setAll(cx, carried, rest);
  return must(value, "result of a conditional");
}

/** Built-in functions that become hundreds of operations. */
const LONG_BUILTINS: ReadonlySet<string> = new Set(["sort"]);

function* buildBuiltin(cx: Context, expr: Of<"builtin">): BuildStep<Value | undefined> {
  const { name, span } = expr;
  const values = yield* buildValues(cx, expr.args);
  if (!LONG_BUILTINS.has(name)) return builtinRule(name)(cx, expr, values);
  const { copying } = cx;
  cx.copying ??= { kind: "call", name, span };
  const result = builtinRule(name)(cx, expr, values);
  cx.copying = copying;
  return result;
}

/** The body instead of the call. Helpers do not recurse, so their variables are never live twice. */
function* inlineHelper(
  cx: Context,
  { helper, args, span }: Of<"call">,
): BuildStep<Value | undefined> {
  const values = yield* buildValues(cx, args);
  const { copying, names } = cx;
  const frame = names?.enter(helper.params);
  helper.params.forEach((param, index) => cx.values.set(param.id, must(values[index], "argument")));
  cx.copying ??= { kind: "call", name: helper.name, span };
  countOperation(cx);
  const result = yield* cx.buildBody(cx, helper);
  if (frame !== undefined) names?.leave(frame);
  cx.copying = copying;
  return result;
}

/** `true`, for loops without a condition. */
export function buildTrue(cx: Context, span: Span): Value {
  return emitConstant(cx, 1n, scalarType("bool"), span);
}

/** Assignments, compound assignments, `++` and `--` (language.md, 5.12). */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import { spellType } from "../tree/types.ts";
import type { Variable } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { convertImplicitly, convertTo, pointerOf, reportInconvertible } from "./convert.ts";
import {
  applyBinary,
  type ElementwiseOperator,
  offsetPointer,
  one,
  type OperationSpans,
} from "./check_operators.ts";
import {
  checkLvalue,
  loadFrom,
  type Lvalue,
  lvalueType,
  type MemoryLvalue,
} from "./check_lvalue.ts";
import { checkValue } from "./check_expr.ts";
import { hasEffect } from "../analysis/effects.ts";
import { declarationNote } from "../analysis/origin.ts";
import { reshape, type Value } from "../tree/nodes.ts";
import { elementOf, sameShape, shapeOf } from "../tree/value_types.ts";

const COMPOUND: Readonly<Record<Exclude<ast.AssignOperator, "=">, ElementwiseOperator>> = {
  "*=": "*",
  "/=": "/",
  "%=": "%",
  "+=": "+",
  "-=": "-",
  "<<=": "<<",
  ">>=": ">>",
  "&=": "&",
  "^=": "^",
  "|=": "|",
};

/** `lhs = v`, `lhs op= v`. */
export function checkAssign(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "assign" }>,
): Value | undefined {
  const rhs = checkValue(cx, expr.value);
  const target = checkLvalue(cx, expr.target);
  if (rhs === undefined || target === undefined) return undefined;
  const { operator } = expr;
  if (operator === "=") {
    return target.kind === "variable"
      ? assign(cx, target.variable, rhs, expr.span)
      : store(cx, target, rhs, expr.span);
  }
  const compute = (old: Value, value: Value): Value | undefined =>
    applyBinary(cx, COMPOUND[operator], old, value, expr);
  return modify(cx, { target, compute, at: expr, operator, postfix: false }, rhs);
}

function assign(cx: Context, variable: Variable, value: Value, span: Span): Value | undefined {
  const converted = convertTo(cx, value, variable.type, { notes: [declarationNote(variable)] });
  return converted && { kind: "assign", variable, value: converted, type: variable.type, span };
}

/** A store; a scalar pointer under a tile mask was stretched with the mask before. */
export function store(
  cx: Context,
  { pointer, mask }: MemoryLvalue,
  value: Value,
  span: Span,
  modifiers: readonly string[] = [],
): Value | undefined {
  const type = lvalueType(pointer);
  const converted = convertTo(cx, value, type);
  const under = mask === undefined ? {} : { mask };
  return converted && { kind: "store", pointer, ...under, value: converted, modifiers, type, span };
}

/** `++e`, `e--`, …; where the value is not used, both forms are the same. */
export function checkStep(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "step" }>,
  used: boolean,
): Value | undefined {
  const target = checkLvalue(cx, expr.operand);
  if (target === undefined) return undefined;
  const at: OperationSpans = { span: expr.span, operatorSpan: expr.span };
  const text = expr.operator === "++" ? "+" : "-";
  const compute = (old: Value, step: Value): Value | undefined =>
    pointerOf(old) === undefined
      ? applyBinary(cx, text, old, step, at)
      : offsetPointer(cx, old, step, text === "-", at, text);
  const modification: Modification = {
    target,
    compute,
    at,
    operator: expr.operator,
    postfix: used && !expr.prefix,
  };
  return modify(cx, modification, one(expr.span));
}

/** A change of an lvalue by its own old value. */
interface Modification {
  readonly target: Lvalue;
  readonly compute: (old: Value, rhs: Value) => Value | undefined;
  readonly at: OperationSpans;
  /** As written, for messages. */
  readonly operator: string;
  /** The result is the old value. */
  readonly postfix: boolean;
}

type Write = (value: Value) => Value | undefined;

/** `target = compute(target, rhs)`, address and mask evaluated once. */
function modify(cx: Context, modification: Modification, rhs: Value): Value | undefined {
  const { target, at } = modification;
  if (target.kind === "variable") {
    const { variable } = target;
    const { type } = variable;
    const old: Value = { kind: "variable", variable, type, span: target.span };
    const write: Write = (value) => ({ kind: "assign", variable, value, type, span: at.span });
    return update(cx, modification, old, rhs, write);
  }
  // The right side comes first; that shows only where something has effects.
  const { pointer, mask, span } = target;
  const ordered = [rhs, pointer, mask].some((part) => part !== undefined && hasEffect(part));
  const changeAt = (address: Value, value: Value): Value | undefined => {
    const through = (lvalue: MemoryLvalue): Value | undefined => {
      const write: Write = (result) => store(cx, lvalue, result, at.span);
      return update(cx, modification, loadFrom(lvalue, span), value, write);
    };
    if (mask === undefined) return through({ kind: "memory", pointer: address, span });
    return cx.tryOnce(
      mask,
      "mask",
      (lanes) => through({ kind: "memory", pointer: address, mask: lanes, span }),
    );
  };
  const change = (value: Value): Value | undefined =>
    cx.tryOnce(pointer, "address", (address) => changeAt(address, value));
  return ordered ? cx.tryOnce(rhs, "value", change) : change(rhs);
}

function update(
  cx: Context,
  { compute, at, operator, postfix }: Modification,
  old: Value,
  rhs: Value,
  write: Write,
): Value | undefined {
  const change = (from: Value): Value | undefined => {
    const computed = compute(from, rhs);
    const kept = computed && keepShape(cx, old, computed, at, operator);
    if (kept !== undefined && pointerOf(kept) !== undefined && pointerOf(old) === undefined) {
      // `b += p`: the sum is a pointer, and only `=` takes one as a bool (C11 6.5.16.2).
      reportInconvertible(cx, rhs, elementOf(old.type), at.span);
      return undefined;
    }
    const converted = kept && convertImplicitly(cx, kept, elementOf(old.type), at.span);
    return converted && write(converted);
  };
  if (!postfix) return change(old);
  // Bound even if it is a variable: the variable changes before its old value is used.
  const variable = cx.newVariable("old", old.type, old.span);
  const use: Value = { kind: "variable", variable, type: old.type, span: old.span };
  const first = change(use);
  if (first === undefined) return undefined;
  const body: Value = { kind: "comma", first, then: use, type: use.type, span: at.span };
  return { kind: "let", variable, value: old, body, type: body.type, span: at.span };
}

/** E5304: `x op= v` keeps the shape of x; a scalar takes a 1-element tile. */
function keepShape(
  cx: Context,
  old: Value,
  computed: Value,
  at: OperationSpans,
  operator: string,
): Value | undefined {
  const [before, after] = [shapeOf(old.type), shapeOf(computed.type)];
  if (sameShape(before, after)) return computed;
  if (before === undefined && after?.every((extent) => extent === 1)) {
    return reshape(computed, before);
  }
  cx.reporter.error(
    "E5304",
    at.operatorSpan,
    `\`${operator}\` would change ${spellType(old.type)} to ${spellType(computed.type)}`,
    {
      ...(old.kind === "variable" ? { notes: [declarationNote(old.variable)] } : {}),
      hint: "the left side keeps its shape: declare it larger, or reduce the right side",
    },
  );
  return undefined;
}

/** Loads, stores, assignments, `++` and `--` (language.md, 5.10, 5.12). */
import type { Span } from "../support/source.ts";
import type * as ast from "./ast.ts";
import { type ElementType, spellType } from "./types.ts";
import type { TypedExpr, Variable } from "./typed.ts";
import type { Context } from "./check_context.ts";
import { broadcastShapes } from "./broadcast.ts";
import { convertImplicitly, convertTo, pointerOf, stretch, toBool } from "./convert.ts";
import {
  applyBinary,
  broadcastAll,
  checkSized,
  type ElementwiseOperator,
  offsetPointer,
  one,
  type Place,
} from "./check_operators.ts";
import { checkMatmul } from "./check_tile.ts";
import { checkValue } from "./check_expr.ts";
import { hasEffect } from "./effects.ts";
import { declarationNote } from "./origin.ts";
import {
  broadcast,
  elementOf,
  scalarType,
  shapeOf,
  typeOf,
  type Value,
} from "./nodes.ts";

/** What can be assigned to. A place in memory has pointer and mask of one shape. */
type Lvalue =
  | { readonly kind: "variable"; readonly variable: Variable; readonly span: Span }
  | { readonly kind: "memory"; readonly pointer: Value; readonly mask?: Value; readonly span: Span };

/** `*p`, `*?(m) p` as a value. */
export function checkLoad(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "deref" }>,
): Value | undefined {
  const place = checkPlace(cx, expr);
  return place === undefined ? undefined : loadFrom(place, expr.span);
}

type MemoryPlace = Extract<Lvalue, { kind: "memory" }>;

/** A load from a place, giving the pointee. */
export function loadFrom({ pointer, mask }: MemoryPlace, span: Span): Value {
  const type = typeOf(pointeeOf(pointer), shapeOf(pointer.type));
  return {
    kind: "load",
    pointer,
    ...(mask === undefined ? {} : { mask }),
    modifiers: [],
    type,
    span,
  };
}

/** What a pointer that passed {@linkcode checkSized} leads to. */
export function pointeeOf(pointer: Value): ElementType {
  const pointee = pointerOf(pointer)?.pointee;
  return pointee === undefined || pointee.kind === "void" ? scalarType("int32") : pointee;
}

/** Pointer and mask of a dereference, brought to one shape. */
function checkPlace(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "deref" }>,
): MemoryPlace | undefined {
  const mask = expr.mask === undefined ? undefined : checkValue(cx, expr.mask);
  const pointer = checkValue(cx, expr.pointer);
  if (pointer === undefined) return undefined;
  if (pointerOf(pointer) === undefined) {
    const loaded = pointer.kind === "load";
    const message = `\`*\` needs a pointer, not ${spellType(pointer.type)}`;
    cx.reporter.error("E5140", expr.pointer.span, message, {
      ...(loaded && expr.mask !== undefined
        ? { hint: "this is loaded already; write `*?(mask) p` without the second `*`" }
        : {}),
    });
    return undefined;
  }
  if (!checkSized(cx, pointer, expr.pointer.span)) return undefined;
  if (expr.mask === undefined) return { kind: "memory", pointer, span: expr.span };
  if (mask === undefined) return undefined;
  return maskedPlace(cx, pointer, mask, { span: expr.span, operatorSpan: expr.span }, "*?");
}

/** A place under a mask; a mask that is constantly true is none. */
export function maskedPlace(
  cx: Context,
  pointer: Value,
  mask: Value,
  at: Place,
  text: string,
): MemoryPlace | undefined {
  const [test, target] = broadcastAll(cx, [toBool(mask), pointer], at, text) ?? [];
  if (test === undefined || target === undefined) return undefined;
  const always = test.kind === "constant" && test.value === 1n;
  return { kind: "memory", pointer: target, span: at.span, ...(always ? {} : { mask: test }) };
}

/** The target of an assignment (E5301, E5305, E5306). */
function checkLvalue(cx: Context, expr: ast.Expr): Lvalue | undefined {
  switch (expr.kind) {
    case "paren":
      return checkLvalue(cx, expr.inner);
    case "name": {
      const entry = cx.scope.lookup(expr.name);
      if (entry?.kind !== "variable") break;
      if (entry.const) {
        cx.reporter.error("E5305", expr.span, `\`${expr.name}\` is const`, {
          notes: [declarationNote(entry.variable)],
        });
        return undefined;
      }
      return { kind: "variable", variable: entry.variable, span: expr.span };
    }
    case "deref": {
      const place = checkPlace(cx, expr);
      return place === undefined || !checkWritable(cx, place) ? undefined : place;
    }
    case "subscript": {
      const value = checkValue(cx, expr);
      if (value === undefined) return undefined;
      if (value.kind !== "load" || value.span !== expr.span) break;
      const pointer: Value = { ...value.pointer, type: pointerTypeOf(value.pointer) };
      const place: MemoryPlace = { kind: "memory", pointer, span: expr.span };
      return checkWritable(cx, place) ? place : undefined;
    }
    case "error":
      return undefined;
  }
  // A wrong operand is reported as itself first.
  if (expr.kind !== "subscript" && checkValue(cx, expr) === undefined) return undefined;
  cx.reporter.error("E5301", expr.span, "This cannot be assigned to", {
    hint: "the left side is a variable, `*p`, `*?(mask) p` or `p[i]`",
  });
  return undefined;
}

/** E5306. */
export function checkWritable(cx: Context, { pointer, span }: MemoryPlace): boolean {
  const type = pointerOf(pointer);
  if (type === undefined || !(type.const || type.space === "constant")) return true;
  const why = type.space === "constant" ? "constant memory" : "const data";
  cx.reporter.error("E5306", span, `Cannot store through ${spellType(type)}: it points to ${why}`);
  return false;
}

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
  const update = (old: Value, value: Value): Value | undefined =>
    applyBinary(cx, COMPOUND[operator], old, value, expr);
  return modify(cx, target, rhs, update, expr, operator, false);
}

function assign(cx: Context, variable: Variable, value: Value, span: Span): Value | undefined {
  const converted = convertTo(cx, value, variable.type, { notes: [declarationNote(variable)] });
  if (converted === undefined) return undefined;
  return { kind: "assign", variable, value: converted, type: variable.type, span };
}

/** A store; a scalar pointer under a tile mask was stretched with the mask before. */
export function store(
  cx: Context,
  { pointer, mask }: MemoryPlace,
  value: Value,
  span: Span,
  modifiers: readonly string[] = [],
): Value | undefined {
  const type = typeOf(pointeeOf(pointer), shapeOf(pointer.type));
  const converted = convertTo(cx, value, type);
  if (converted === undefined) return undefined;
  return {
    kind: "store",
    pointer,
    ...(mask === undefined ? {} : { mask }),
    value: converted,
    modifiers,
    type,
    span,
  };
}

/**
 * `target = update(target, rhs)` with address and mask evaluated once; `postfix` gives the old value.
 */
function modify(
  cx: Context,
  target: Lvalue,
  rhs: Value,
  update: (old: Value, rhs: Value) => Value | undefined,
  at: Place,
  operator: string,
  postfix: boolean,
): Value | undefined {
  const finish = (old: Value, write: (value: Value) => Value | undefined): Value | undefined => {
    const updated = update(old, rhs);
    if (updated === undefined || !keepsShape(cx, old, updated, at, operator)) return undefined;
    const converted = convertImplicitly(cx, updated, elementOf(old.type), at.span);
    const fitted = converted === undefined
      ? undefined
      : stretch(cx, converted, old.type, at.operatorSpan);
    return fitted === undefined ? undefined : write(fitted);
  };
  const written = (old: Value, write: (value: Value) => Value | undefined): Value | undefined => {
    if (!postfix) return finish(old, write);
    return bind(cx, old, "old", true, (use) => {
      const first = finish(use, write);
      return first === undefined
        ? undefined
        : { kind: "comma", first, then: use, type: use.type, span: at.span };
    });
  };
  if (target.kind === "variable") {
    const { variable } = target;
    const old: Value = { kind: "variable", variable, type: variable.type, span: target.span };
    return written(
      old,
      (value) => ({ kind: "assign", variable, value, type: variable.type, span: at.span }),
    );
  }
  // The right side comes first; where it or the address has effects, its value is taken before them.
  const early = hasEffect(rhs) || hasEffect(target.pointer) ||
    (target.mask !== undefined && hasEffect(target.mask));
  return bind(cx, rhs, "value", early, (operand) => {
    rhs = operand;
    return bind(cx, target.pointer, "address", true, (pointer) => {
      const through = (mask?: Value): Value | undefined => {
        const place: MemoryPlace = {
          kind: "memory",
          pointer,
          span: target.span,
          ...(mask === undefined ? {} : { mask }),
        };
        return written(loadFrom(place, target.span), (value) => store(cx, place, value, at.span));
      };
      return target.mask === undefined
        ? through()
        : bind(cx, target.mask, "mask", true, (mask) => through(mask));
    });
  });
}

/** E5304: `x op= v` keeps the shape of x. */
function keepsShape(
  cx: Context,
  old: Value,
  updated: Value,
  at: Place,
  operator: string,
): boolean {
  const [before, after] = [shapeOf(old.type), shapeOf(updated.type)];
  const common = broadcastShapes(before, after);
  if ("shape" in common && String(after) === String(before)) return true;
  cx.reporter.error(
    "E5304",
    at.operatorSpan,
    `\`${operator}\` would turn ${spellType(old.type)} into ${spellType(updated.type)}`,
    {
      ...(old.kind === "variable" ? { notes: [declarationNote(old.variable)] } : {}),
      hint: "the left side keeps its shape; declare it larger, or reduce the right side",
    },
  );
  return false;
}

/** `once` for bodies that may fail. */
function bind(
  cx: Context,
  value: Value,
  name: string,
  needed: boolean,
  body: (use: Value) => Value | undefined,
): Value | undefined {
  if (!needed) return body(value);
  let failed = false;
  const bound = cx.once(value, name, (use) => {
    const result = body(use);
    failed = result === undefined;
    return result ?? use;
  });
  return failed ? undefined : bound;
}

/** `++e`, `e--`, …; where the value is not used, both forms are the same. */
export function checkStep(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "step" }>,
  used: boolean,
): Value | undefined {
  const target = checkLvalue(cx, expr.operand);
  if (target === undefined) return undefined;
  const at: Place = { span: expr.span, operatorSpan: expr.span };
  const text = expr.operator === "++" ? "+" : "-";
  const update = (old: Value, step: Value): Value | undefined =>
    pointerOf(old) !== undefined
      ? offsetPointer(cx, old, step, text === "-", at, text)
      : applyBinary(cx, text, old, one(cx, old), at);
  const like: Value = target.kind === "variable"
    ? { kind: "variable", variable: target.variable, type: target.variable.type, span: expr.span }
    : target.pointer;
  const step = one(cx, { ...like, type: scalarType("int32") });
  return modify(cx, target, step, update, at, expr.operator, used && !expr.prefix);
}

/** `&*p` is `p`; nothing else has an address (E5001). */
export function checkAddress(cx: Context, operand: ast.Expr, span: Span): TypedExpr | undefined {
  const inner = operand.kind === "paren" ? operand.inner : operand;
  if (inner.kind === "paren") return checkAddress(cx, inner, span);
  if (inner.kind === "deref" && inner.mask === undefined) return checkValue(cx, inner.pointer);
  if (checkValue(cx, operand) === undefined) return undefined;
  cx.reporter.error("E5001", span, "Variables have no address", {
    hint: "a tile or scalar is a value; pass it by value, or store it through a pointer",
  });
  return undefined;
}

/** `p[i]` for a scalar pointer. */
export function loadIndexed(
  cx: Context,
  pointer: Value,
  index: Value,
  span: Span,
): Value | undefined {
  const at: Place = { span, operatorSpan: span };
  const address = offsetPointer(cx, pointer, index, false, at, "[]");
  return address === undefined ? undefined : loadFrom({ kind: "memory", pointer: address, span }, span);
}

function pointerTypeOf(pointer: TypedExpr): Value["type"] {
  return pointer.type.kind === "void" ? scalarType("int32") : pointer.type;
}

/** A value under the shape of a place, for `load`'s fill. */
export function fillFor(cx: Context, place: MemoryPlace, fill: Value): Value | undefined {
  return convertTo(cx, fill, typeOf(pointeeOf(place.pointer), shapeOf(place.pointer.type)));
}

export { broadcast, checkMatmul };

/** Lvalues: locations in memory, and variables (language.md, 5.2, 5.10). */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import { type ElementType, spellType } from "../tree/types.ts";
import type { TypedExpr, Variable } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { pointerOf, toBool } from "./convert.ts";
import { broadcastAll, checkSized, offsetPointer, type OperationSpans } from "./check_operators.ts";
import { checkValue } from "./check_expr.ts";
import { declarationNote } from "../analysis/origin.ts";
import type { Value } from "../tree/nodes.ts";
import { scalarType, shapeOf, typeOf } from "../tree/value_types.ts";

/** What a pointer points to, under an optional mask of the same shape. */
export interface MemoryLvalue {
  readonly kind: "memory";
  readonly pointer: Value;
  readonly mask?: Value;
  readonly span: Span;
}

/** What can be assigned to. */
export type Lvalue =
  | { readonly kind: "variable"; readonly variable: Variable; readonly span: Span }
  | MemoryLvalue;

type Deref = Extract<ast.Expr, { kind: "deref" }>;
type Subscript = Extract<ast.Expr, { kind: "subscript" }>;

/** `*p`, `*?(m) p` as a value. */
export function checkLoad(cx: Context, expr: Deref): Value | undefined {
  const lvalue = checkDeref(cx, expr);
  return lvalue === undefined ? undefined : loadFrom(lvalue, expr.span);
}

/** A load from an lvalue in memory. */
export function loadFrom({ pointer, mask }: MemoryLvalue, span: Span): Value {
  const type = lvalueType(pointer);
  const under = mask === undefined ? {} : { mask };
  return { kind: "load", pointer, ...under, modifiers: [], type, span };
}

/** The type of what a pointer points to; the pointer is not void*. */
export function lvalueType(pointer: Value): Value["type"] {
  const pointee = pointerOf(pointer)?.pointee;
  const element: ElementType = pointee === undefined || pointee.kind === "void"
    ? scalarType("int8")
    : pointee;
  return typeOf(element, shapeOf(pointer.type));
}

/** Pointer and mask of a dereference, brought to one shape. */
function checkDeref(cx: Context, expr: Deref): MemoryLvalue | undefined {
  const mask = expr.mask === undefined ? undefined : checkValue(cx, expr.mask);
  const pointer = checkValue(cx, expr.pointer);
  if (pointer === undefined) return undefined;
  if (pointerOf(pointer) === undefined) {
    const message = `\`*\` needs a pointer, not ${spellType(pointer.type)}`;
    cx.reporter.error("E5140", expr.pointer.span, message, {
      ...(pointer.kind === "load" && expr.mask !== undefined
        ? { hint: "this is a loaded value already; write `*?(mask) p` without the second `*`" }
        : {}),
    });
    return undefined;
  }
  if (!checkSized(cx, pointer, expr.pointer.span)) return undefined;
  if (expr.mask === undefined) return { kind: "memory", pointer, span: expr.span };
  if (mask === undefined) return undefined;
  return maskedLvalue(cx, pointer, mask, { span: expr.span, operatorSpan: expr.span }, "*?");
}

/** An lvalue under a mask; a mask that is constantly true is dropped. */
export function maskedLvalue(
  cx: Context,
  pointer: Value,
  mask: Value,
  at: OperationSpans,
  text: string,
): MemoryLvalue | undefined {
  const [test, target] = broadcastAll(cx, [toBool(mask), pointer], at, text) ?? [];
  if (test === undefined || target === undefined) return undefined;
  const always = test.kind === "constant" && test.value === 1n;
  return { kind: "memory", pointer: target, span: at.span, ...(always ? {} : { mask: test }) };
}

/** `p[i]` for a scalar pointer `p`. */
export function indexedLvalue(
  cx: Context,
  pointer: Value,
  expr: Subscript,
): MemoryLvalue | undefined {
  const [item, ...rest] = expr.items;
  const index = item === undefined ? undefined : indexOf(item);
  if (index === undefined || rest.length > 0) {
    cx.reporter.error("E5110", expr.span, `${spellType(pointer.type)} is a pointer, not a tile`, {
      hint: "load through a tile of pointers: `*(p + i[:, newaxis] * stride + j[newaxis, :])`",
    });
    return undefined;
  }
  const count = checkValue(cx, index);
  if (count === undefined) return undefined;
  const at: OperationSpans = { span: expr.span, operatorSpan: expr.span };
  const address = offsetPointer(cx, pointer, count, false, at, "[]");
  return address === undefined ? undefined : { kind: "memory", pointer: address, span: expr.span };
}

/** An item read as an index; a lone name reads as a reduction first (language.md, Appendix A). */
export function indexOf(item: ast.Item): ast.Expr | undefined {
  if (item.kind === "index") return item.index;
  if (item.kind !== "reduce" || !/^[A-Za-z_]/.test(item.operator)) return undefined;
  return { kind: "name", name: item.operator, span: item.span };
}

/** The target of an assignment (E5301, E5305, E5306). */
export function checkLvalue(cx: Context, expr: ast.Expr): Lvalue | undefined {
  switch (expr.kind) {
    case "paren":
      return checkLvalue(cx, expr.inner);
    case "name": {
      const entry = cx.meaning(expr.name, expr.span);
      if (entry?.kind !== "variable") return refuse(cx, expr);
      if (entry.const) {
        cx.reporter.error("E5305", expr.span, `\`${expr.name}\` is const`, {
          notes: [declarationNote(entry.variable)],
        });
        return undefined;
      }
      return { kind: "variable", variable: entry.variable, span: expr.span };
    }
    case "deref":
      return checkWritable(cx, checkDeref(cx, expr));
    case "subscript": {
      const base = checkValue(cx, expr.base);
      if (base?.type.kind !== "pointer") return base === undefined ? undefined : refuse(cx, expr);
      return checkWritable(cx, indexedLvalue(cx, base, expr));
    }
    default:
      return refuse(cx, expr);
  }
}

function refuse(cx: Context, expr: ast.Expr): undefined {
  // What is wrong with the expression itself comes first.
  if (checkValue(cx, expr) === undefined) return undefined;
  cx.reporter.error("E5301", expr.span, "this cannot be assigned to", {
    hint: "the left side is a variable, `*p`, `*?(mask) p` or `p[i]`",
  });
  return undefined;
}

/** The lvalue if it may be stored to (E5306). */
export function checkWritable(
  cx: Context,
  lvalue: MemoryLvalue | undefined,
): MemoryLvalue | undefined {
  const type = lvalue === undefined ? undefined : pointerOf(lvalue.pointer);
  if (lvalue === undefined || type === undefined) return undefined;
  if (!type.const && type.space === "global") return lvalue;
  const why = type.space === "constant" ? "constant memory" : "const data";
  const message = `cannot store through ${spellType(type)}: it points to ${why}`;
  cx.reporter.error("E5306", lvalue.span, message);
  return undefined;
}

/** `&*p` is `p` and `&p[i]` is `p + i`; nothing else has an address (E5001). */
export function checkAddress(
  cx: Context,
  operand: ast.Expr,
  span: Span,
): TypedExpr | undefined {
  if (operand.kind === "paren") return checkAddress(cx, operand.inner, span);
  if (operand.kind === "deref" && operand.mask === undefined) {
    return checkDeref(cx, operand)?.pointer;
  }
  const base = operand.kind === "subscript" ? checkValue(cx, operand.base) : undefined;
  if (operand.kind === "subscript" && base?.type.kind === "pointer") {
    return indexedLvalue(cx, base, operand)?.pointer;
  }
  cx.reporter.error("E5001", span, "variables have no address", {
    hint: "a tile or scalar is a value: pass it by value, or store it through a pointer",
  });
  return undefined;
}

/** Places in memory and what can be assigned to (language.md, 5.2, 5.10). */
import type { Span } from "../support/source.ts";
import type * as ast from "../parse/ast.ts";
import { type ElementType, spellType } from "./types.ts";
import type { TypedExpr, Variable } from "./typed.ts";
import type { Context } from "./check_context.ts";
import { pointerOf, toBool } from "./convert.ts";
import { broadcastAll, checkSized, offsetPointer, type Place } from "./check_operators.ts";
import { checkValue } from "./check_expr.ts";
import { declarationNote } from "./origin.ts";
import type { Value } from "./nodes.ts";
import { scalarType, shapeOf, typeOf } from "./value_types.ts";

/** Where a pointer leads, under an optional mask of the same shape. */
export interface MemoryPlace {
  readonly kind: "memory";
  readonly pointer: Value;
  readonly mask?: Value;
  readonly span: Span;
}

/** What can be assigned to. */
export type Lvalue =
  | { readonly kind: "variable"; readonly variable: Variable; readonly span: Span }
  | MemoryPlace;

type Deref = Extract<ast.Expr, { kind: "deref" }>;
type Subscript = Extract<ast.Expr, { kind: "subscript" }>;

/** `*p`, `*?(m) p` as a value. */
export function checkLoad(cx: Context, expr: Deref): Value | undefined {
  const place = checkPlace(cx, expr);
  return place === undefined ? undefined : loadFrom(place, expr.span);
}

/** A load from a place, giving the pointee. */
export function loadFrom({ pointer, mask }: MemoryPlace, span: Span): Value {
  const type = placeType(pointer);
  const under = mask === undefined ? {} : { mask };
  return { kind: "load", pointer, ...under, modifiers: [], type, span };
}

/** The type of what a pointer leads to; the pointer is not void*. */
export function placeType(pointer: Value): Value["type"] {
  const pointee = pointerOf(pointer)?.pointee;
  const element: ElementType = pointee === undefined || pointee.kind === "void"
    ? scalarType("int8")
    : pointee;
  return typeOf(element, shapeOf(pointer.type));
}

/** Pointer and mask of a dereference, brought to one shape. */
function checkPlace(cx: Context, expr: Deref): MemoryPlace | undefined {
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

/** `p[i]` for a scalar pointer `p`. */
export function indexedPlace(
  cx: Context,
  pointer: Value,
  expr: Subscript,
): MemoryPlace | undefined {
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
  const at: Place = { span: expr.span, operatorSpan: expr.span };
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
      return checkWritable(cx, checkPlace(cx, expr));
    case "subscript": {
      const base = checkValue(cx, expr.base);
      if (base?.type.kind !== "pointer") return base === undefined ? undefined : refuse(cx, expr);
      return checkWritable(cx, indexedPlace(cx, base, expr));
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

/** The place if it may be stored to (E5306). */
export function checkWritable(
  cx: Context,
  place: MemoryPlace | undefined,
): MemoryPlace | undefined {
  const type = place === undefined ? undefined : pointerOf(place.pointer);
  if (place === undefined || type === undefined) return undefined;
  if (!type.const && type.space === "global") return place;
  const why = type.space === "constant" ? "constant memory" : "const data";
  const message = `cannot store through ${spellType(type)}: it points to ${why}`;
  cx.reporter.error("E5306", place.span, message);
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
    return checkPlace(cx, operand)?.pointer;
  }
  const base = operand.kind === "subscript" ? checkValue(cx, operand.base) : undefined;
  if (operand.kind === "subscript" && base?.type.kind === "pointer") {
    return indexedPlace(cx, base, operand)?.pointer;
  }
  cx.reporter.error("E5001", span, "variables have no address", {
    hint: "a tile or scalar is a value: pass it by value, or store it through a pointer",
  });
  return undefined;
}

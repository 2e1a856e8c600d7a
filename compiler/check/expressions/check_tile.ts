/** Tiles as wholes: ranges, subscripts, `@`, `^` (language.md, 5.6 to 5.9). */
import { sourceText, type Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import { type ScalarName, SCALARS, spellType } from "../tree/types.ts";
import type { ReduceOperator } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { shapeText } from "./broadcast.ts";
import { checkConstant, checkPowerOfTwo, checkTile, constantInteger } from "../check_type.ts";
import { commonOf, isInteger, pointerOf, promote, toBool } from "./convert.ts";
import { declarationNote, originNotes } from "../analysis/origin.ts";
import { checkValue } from "./check_expr.ts";
import { indexedLvalue, indexOf, loadFrom } from "./check_lvalue.ts";
import { convert, permute, reduce, reshape, type Value } from "../tree/nodes.ts";
import { elementOf, scalarType, shapeOf, tileType } from "../tree/value_types.ts";
import { times } from "../../support/times.ts";

/** `lo ... hi`. */
export function checkRange(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "range" }>,
): Value | undefined {
  const [lo, hi] = [checkValue(cx, expr.lo), checkValue(cx, expr.hi)];
  if (lo === undefined || hi === undefined || isFourDots(cx, expr)) return undefined;
  return makeRange(cx, lo, hi, expr.span);
}

/** `0....16` is `0.`, then `...16`: C11 6.4 takes the longest token. */
function isFourDots(
  cx: Context,
  { lo, hi }: Extract<ast.Expr, { kind: "range" }>,
): boolean {
  if (lo.kind !== "number" || !/^\d+\.$/.test(lo.text)) return false;
  const text = lo.text.slice(0, -1);
  cx.reporter.error("E5103", lo.span, `the lower bound of a range is the float \`${lo.text}\``, {
    hint: `a range has three dots: \`${text} ... ${sourceText(hi.span)}\``,
    fix: { span: lo.span, replacement: `${text} ` },
  });
  return true;
}

/** The tile `[lo, lo + 1, …, hi - 1]` of checked bounds. */
export function makeRange(cx: Context, lo: Value, hi: Value, span: Span): Value | undefined {
  if (lo.kind !== "constant" && isInteger(lo) && lo.type.kind !== "tile") {
    cx.reporter.error("E5103", lo.span, "the bounds of a range must be constants", {
      hint: "add a variable base to the range: `base + 0 ... N`",
      ...(lo.kind === "variable" ? { notes: [declarationNote(lo.variable)] } : {}),
    });
    return undefined;
  }
  const from = constantInteger(cx, lo, lo.span, "the lower bound of a range", "E5103");
  const to = constantInteger(cx, hi, hi.span, "the upper bound of a range", "E5103");
  const name = commonOf(cx, [lo, hi]);
  if (from === undefined || to === undefined || name === undefined) return undefined;
  if (to <= from) {
    cx.reporter.error("E5104", span, `the range ${from} ... ${to} is empty`);
    return undefined;
  }
  const length = checkPowerOfTwo(cx, to - from, "the length of this range is", span);
  const type = length === undefined ? undefined : checkTile(cx, scalarType(name), [length], span);
  return type && { kind: "range", lo: from, hi: to, type, span };
}

/** `x[item, …]`. */
export function checkSubscript(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "subscript" }>,
): Value | undefined {
  const base = checkValue(cx, expr.base);
  if (base === undefined) return undefined;
  if (base.type.kind === "pointer") {
    const lvalue = indexedLvalue(cx, base, expr);
    return lvalue && loadFrom(lvalue, expr.span);
  }
  if (base.type.kind !== "tile") {
    cx.reporter.error("E5110", expr.span, `${spellType(base.type)} is a scalar and has no axes`, {
      ...(base.kind === "variable" ? { notes: [declarationNote(base.variable)] } : {}),
    });
    return undefined;
  }
  const items = expr.items.filter((item) => item.kind !== "newaxis");
  if (!checkItems(cx, items)) return undefined;
  const rank = base.type.shape.length;
  if (items.length !== rank) {
    cx.reporter.error(
      "E5111",
      expr.span,
      `${spellType(base.type)} has ${axes(rank)}, and the subscript has ${items.length} ` +
        "besides newaxis",
      { hint: "write one `:`, reduction or `^k` per axis" },
    );
    return undefined;
  }
  if (expr.items.some((item) => item.kind === "axis")) return permuteItems(cx, base, expr);
  return keepAndReduce(cx, base, expr);
}

function axes(count: number): string {
  return count === 1 ? "1 axis" : `${count} axes`;
}

/** Items that no tile takes: E5113, E5114, E5115. */
function checkItems(cx: Context, items: readonly ast.Item[]): boolean {
  let fine = true;
  for (const item of items) {
    if (item.kind === "reduce" && REDUCTIONS.has(item.operator)) continue;
    if (item.kind === "all" || item.kind === "newaxis" || item.kind === "axis") continue;
    fine = false;
    if (item.kind === "reduce" && item.operator === "-") {
      cx.reporter.error(
        "E5114",
        item.span,
        "`-` is not a reduction: its result depends on the order",
        {
          hint: "sum with `+`, then negate",
        },
      );
      continue;
    }
    const name = indexOf(item);
    const known = item.kind === "index" || cx.scope.lookup(item.operator) !== undefined;
    if (!known || name === undefined) {
      const written = item.kind === "reduce" ? item.operator : "";
      cx.reporter.error("E5115", item.span, `\`${written}\` is not a reduction`, {
        hint: `the reductions are ${[...REDUCTIONS.keys()].join(" ")}`,
      });
    } else if (item.kind !== "index" || checkValue(cx, item.index) !== undefined) {
      cx.reporter.error("E5113", item.span, "the elements of a tile cannot be indexed", {
        hint: "load what is needed from memory, or use `gather(x, index, axis)`",
      });
    }
  }
  return fine;
}

function permuteItems(
  cx: Context,
  base: Value,
  expr: Extract<ast.Expr, { kind: "subscript" }>,
): Value | undefined {
  const order: number[] = [];
  for (const item of expr.items) {
    if (item.kind !== "axis") {
      cx.reporter.error("E5112", item.span, "`^k` does not mix with other items", {
        hint: "permute first, then subscript the result: `(x[^1, ^0])[:, +]`",
      });
      return undefined;
    }
    const axis = checkConstant(cx, item.axis, "the axis after `^`", "E5112");
    if (axis === undefined) return undefined;
    order.push(Number(axis));
  }
  return applyPermutation(cx, base, order, expr.span);
}

/** Result axis d is axis `order[d]`; anything but a permutation is E5112. */
export function applyPermutation(
  cx: Context,
  base: Value,
  order: readonly number[],
  span: Span,
): Value | undefined {
  const rank = shapeOf(base.type)?.length ?? 0;
  if (
    order.length === rank &&
    times(rank, (k) => k).every((k) => order.includes(k))
  ) {
    return permute(base, order, span);
  }
  cx.reporter.error(
    "E5112",
    span,
    `${order.join(", ")} is not a permutation of the axes 0 to ${rank - 1}`,
  );
  return undefined;
}

interface Reduction {
  readonly operator: ReduceOperator;
  /** What the operand is converted to first, and what comes out. */
  readonly operand: "promoted" | "bool";
  readonly result: "same" | "int";
}

/** By the spelling of the item. */
export const REDUCTIONS: ReadonlyMap<string, Reduction> = new Map([
  ["+", { operator: "add", operand: "promoted", result: "same" }],
  ["max", { operator: "max", operand: "promoted", result: "same" }],
  ["min", { operator: "min", operand: "promoted", result: "same" }],
  ["*", { operator: "mul", operand: "promoted", result: "same" }],
  ["&", { operator: "and", operand: "promoted", result: "same" }],
  ["|", { operator: "or", operand: "promoted", result: "same" }],
  ["xor", { operator: "xor", operand: "promoted", result: "same" }],
  ["any", { operator: "or", operand: "bool", result: "same" }],
  ["all", { operator: "and", operand: "bool", result: "same" }],
  ["argmax", { operator: "argmax", operand: "promoted", result: "int" }],
  ["argmin", { operator: "argmin", operand: "promoted", result: "int" }],
]);

/** Half and bfloat16 sums are made in float and rounded once (5.7). */
const SUMMED_IN_FLOAT: ReadonlySet<ScalarName> = new Set(["float16", "bfloat16"]);
const INTEGER_ONLY: ReadonlySet<string> = new Set(["&", "|", "xor"]);

function keepAndReduce(
  cx: Context,
  base: Value,
  expr: Extract<ast.Expr, { kind: "subscript" }>,
): Value | undefined {
  const reductions: { readonly name: string; readonly axis: number; readonly span: Span }[] = [];
  let axis = 0;
  for (const item of expr.items) {
    if (item.kind === "newaxis") continue;
    if (item.kind === "reduce") reductions.push({ name: item.operator, axis, span: item.span });
    axis++;
  }
  const reduced = applyReductions(cx, base, reductions, expr.span);
  if (reduced === undefined) return undefined;
  const kept = [...(shapeOf(reduced.type) ?? [])];
  const shape = expr.items.flatMap((item) =>
    item.kind === "newaxis" ? [1] : item.kind === "all" ? [kept.shift() ?? 1] : []
  );
  if (shape.length === 0) return reduced;
  const element = elementOf(reduced.type);
  return checkTile(cx, element, shape, expr.span) && reshape(reduced, shape, expr.span);
}

/** Reductions of source axes, left to right; the axes are those of `base`. */
export function applyReductions(
  cx: Context,
  base: Value,
  reductions: readonly { readonly name: string; readonly axis: number; readonly span: Span }[],
  span: Span,
): Value | undefined {
  let value = base;
  let narrow: ScalarName | undefined;
  for (const [index, { name, axis, span: at }] of reductions.entries()) {
    const row = REDUCTIONS.get(name);
    if (row === undefined) return undefined;
    if (pointerOf(value) !== undefined) {
      cx.reporter.error("E5116", at, `pointers cannot be reduced with \`${name}\``);
      return undefined;
    }
    if (INTEGER_ONLY.has(name) && !isInteger(value)) {
      cx.reporter.error("E5024", at, `\`${name}\` does not reduce ${spellType(value.type)}`);
      return undefined;
    }
    if (narrow !== undefined && row.operator !== "add") {
      value = convert(value, scalarType(narrow));
      narrow = undefined;
    }
    let operand = row.operand === "bool" ? toBool(value) : promote(cx, value);
    const element = elementOf(operand.type);
    if (row.operator === "add" && element.kind === "scalar" && SUMMED_IN_FLOAT.has(element.name)) {
      narrow = element.name;
      operand = convert(operand, scalarType("float32"));
    }
    // Every reduction before this one has removed an axis to its left.
    const result = row.result === "int" ? scalarType("int32") : elementOf(operand.type);
    value = reduce(row.operator, operand, axis - index, result, span);
  }
  return narrow === undefined ? value : convert(value, scalarType(narrow), span);
}

/** `^x`: the axes rotate left by one. */
export function checkTranspose(cx: Context, operand: Value, span: Span): Value | undefined {
  if (operand.type.kind !== "tile") {
    cx.reporter.error("E5130", span, `\`^\` transposes a tile, not ${spellType(operand.type)}`, {
      hint: "exclusive or has two operands: `a ^ b`",
    });
    return undefined;
  }
  const rank = operand.type.shape.length;
  if (rank === 1) {
    cx.reporter.warn("W5131", span, "transposing a tile of one axis has no effect", {
      hint: "insert an axis: `x[:, newaxis]` is a column, `x[newaxis, :]` a row",
    });
  }
  return permute(operand, times(rank, (axis) => (axis + 1) % rank), span);
}

/** Result element of `@` by operand element. */
const MATMUL_RESULTS: Readonly<Partial<Record<ScalarName, ScalarName>>> = {
  float16: "float32",
  bfloat16: "float32",
  float32: "float32",
  float64: "float64",
  int8: "int32",
  uint8: "int32",
  float8e4: "float32",
  float8e5: "float32",
};

/** `a @ b` of checked operands. */
export function checkMatmul(
  cx: Context,
  lhs: Value,
  rhs: Value,
  at: { readonly span: Span; readonly operatorSpan: Span },
  explicitMode?: string,
): Value | undefined {
  const error = (
    code: "E5120" | "E5121" | "E5122" | "E5123" | "E5124",
    message: string,
    hint?: string,
    axis = 0,
  ): undefined => {
    const notes = lhs.type.kind === "tile" && rhs.type.kind === "tile"
      ? [
        ...originNotes(
          { lhs: lhs.type.shape, rhs: lhs.type.shape, axis: axis === 0 ? 1 : axis },
          lhs,
        ),
        ...originNotes({ lhs: rhs.type.shape, rhs: rhs.type.shape, axis }, rhs),
      ]
      : [];
    const distinct = notes.filter((note, index) =>
      notes.findIndex((other) => other.message === note.message) === index
    );
    cx.reporter.error(code, at.operatorSpan, message, {
      notes: distinct,
      ...(hint === undefined ? {} : { hint }),
    });
    return undefined;
  };
  const [a, b] = [shapeOf(lhs.type) ?? [], shapeOf(rhs.type) ?? []];
  const [m, k] = a;
  const [depth, n] = b;
  const shapes = `${shapeText(shapeOf(lhs.type))} @ ${shapeText(shapeOf(rhs.type))}`;
  if (
    a.length !== b.length || m === undefined || k === undefined || depth === undefined ||
    n === undefined
  ) {
    const message = `\`@\` needs two tiles of equal rank, at least 2: ${shapes}`;
    return error("E5120", message, "insert axes with newaxis");
  }
  if (k !== depth) {
    const message = `the inner extents of ${shapes} differ: ${k} and ${depth}`;
    return error("E5121", message, depth === m ? "transpose the left operand with `^`" : undefined);
  }
  const batch = a.slice(2);
  const bad = batch.findIndex((extent, axis) => extent !== b[axis + 2]);
  if (bad >= 0) {
    const message = `the batch axes of ${shapes} differ: ${batch[bad]} and ${b[bad + 2]}`;
    return error("E5122", message, "batch axes are the last ones and are not broadcast", bad + 2);
  }
  const [left, right] = [elementOf(lhs.type), elementOf(rhs.type)];
  const result = left.kind === "scalar" ? MATMUL_RESULTS[left.name] : undefined;
  const other = right.kind === "scalar" ? MATMUL_RESULTS[right.name] : undefined;
  const types = `${spellType(left)} and ${spellType(right)}`;
  if (result === undefined || other === undefined) {
    return error("E5124", `\`@\` does not support ${types}`);
  }
  if (left.kind === "scalar" && right.kind === "scalar" && !multiplies(left.name, right.name)) {
    return error("E5123", `\`@\` needs equal element types, not ${types}`, "cast one operand");
  }
  const type = tileType(scalarType(result), [m, n, ...batch]);
  if (checkTile(cx, type.element, type.shape, at.span) === undefined) return undefined;
  // The pragma is about float only; other types have one way to multiply.
  const isFloat = left.kind === "scalar" && left.name === "float32";
  const mode = explicitMode ?? (isFloat ? cx.dotMode : "ieee");
  return { kind: "dot", lhs, rhs, mode, type, span: at.span };
}

/** Equal types, both 8-bit integers, or both 8-bit floats. */
function multiplies(a: ScalarName, b: ScalarName): boolean {
  return a === b ||
    (SCALARS[a].bits === 8 && SCALARS[b].bits === 8 && SCALARS[a].class === SCALARS[b].class);
}

/**
 * Gives every tile value a layout and makes each change of layout an explicit `convert_layout`.
 *
 * Loads and stores anchor the layouts (anchors.ts). Everything computed from indices alone (ranges, pointers,
 * masks) is cheap and is computed again in whatever layout each user wants. Data that was loaded keeps the layout
 * it came in through element-wise operations and permutations, until a store wants another one; only there does
 * it move.
 */
import type { AxisInfo } from "../tile/axis.ts";
import { intsAttr } from "../ir/attrs.ts";
import { TILE_OPS } from "../ir/ops.ts";
import {
  type Func,
  newFunc,
  newOp,
  newValue,
  type Op,
  type Region,
  type Value,
} from "../ir/func.ts";
import type { IrType } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { anchorLayouts } from "./anchors.ts";
import { blockedLayout, orderFrom } from "./blocked.ts";
import {
  invertOrder,
  layoutKey,
  type LinearLayout,
  permuteLayout,
  reshapeLayout,
  sameLayout,
  unbroadcastLayout,
} from "./linear.ts";

interface Scope {
  readonly parent: Scope | undefined;
  /** Laid-out copies by original value and layout. */
  readonly copies: Map<string, Value>;
  readonly out: Op[];
}

const isTile = (value: Value): boolean => value.type.shape.length > 0;

/** A function of equal meaning whose tile types all carry layouts. */
export function assignLayouts(
  func: Func,
  options: { readonly numWarps: number; readonly axisInfo: (value: Value) => AxisInfo },
): Func {
  const { numWarps, axisInfo } = options;
  const anchors = anchorLayouts(func, numWarps, axisInfo);
  const result = newFunc(func.name);
  const naturals = new Map<Value, LinearLayout>();
  const data = new Map<Value, boolean>();

  /** Depends on loaded data, or is carried by control flow: not to be computed twice. */
  const isData = (value: Value): boolean => {
    let known = data.get(value);
    if (known === undefined) {
      const def = value.def;
      known = def === undefined ? isTile(value) : TILE_OPS[def.name].effect !== "pure" ||
        def.name === "dot" || def.name === "reduce" || def.operands.some((operand) =>
          isTile(operand) && isData(operand)
        );
      data.set(value, known);
    }
    return known;
  };

  const plain = (shape: readonly number[]): LinearLayout =>
    blockedLayout({ shape, numWarps, order: orderFrom(shape.length - 1, shape.length), vector: 1 });

  /** The layout data comes in, before anyone asks for another. */
  const natural = (value: Value): LinearLayout => {
    let layout = naturals.get(value);
    if (layout === undefined) {
      layout = computeNatural(value);
      naturals.set(value, layout);
    }
    return layout;
  };
  const computeNatural = (value: Value): LinearLayout => {
    const def = value.def;
    if (def === undefined) return plain(value.type.shape);
    const anchored = anchors.get(def);
    if (anchored !== undefined) return anchored;
    if (def.name === "permute") {
      return permuteLayout(natural(must(def.operands[0], "operand")), intsAttr(def, "order"));
    }
    if (def.name === "reshape" || def.name === "expand_dims") {
      const operand = must(def.operands[0], "operand");
      if (isTile(operand)) return reshapeLayout(natural(operand), value.type.shape);
    }
    if ("elementwise" in TILE_OPS[def.name]) {
      const source = def.operands.find((operand) => isTile(operand) && isData(operand));
      if (source !== undefined) return natural(source);
    }
    return plain(value.type.shape);
  };

  const lookup = (scope: Scope, key: string): Value | undefined => {
    for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
      const found = at.copies.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const keyOf = (value: Value, layout: LinearLayout | undefined): string =>
    layout === undefined ? `${value.id}` : `${value.id}@${layoutKey(layout)}`;

  const laidOut = (type: IrType, layout: LinearLayout | undefined): IrType =>
    layout === undefined
      ? { element: type.element, shape: type.shape }
      : { element: type.element, shape: type.shape, layout };

  const clone = (
    scope: Scope,
    op: Op,
    operands: readonly Value[],
    layout: LinearLayout | undefined,
  ): Value => {
    const original = must(op.results[0], "result");
    const copy = newOp(
      result,
      op.name,
      operands,
      [laidOut(original.type, layout)],
      op.span,
      op.attrs,
    );
    scope.out.push(copy);
    const value = must(copy.results[0], "result");
    if (original.name !== undefined) value.name = original.name;
    return value;
  };

  const convert = (scope: Scope, value: Value, layout: LinearLayout, op: Op): Value => {
    const conversion = newOp(
      result,
      "convert_layout",
      [value],
      [laidOut(value.type, layout)],
      op.span,
    );
    scope.out.push(conversion);
    return must(conversion.results[0], "result");
  };

  /** The layout an operand must have so that the result comes out in `layout` without moving. */
  const operandLayout = (
    op: Op,
    operand: Value,
    layout: LinearLayout | undefined,
  ): LinearLayout | undefined => {
    if (layout === undefined || !isTile(operand)) {
      return isTile(operand) ? natural(operand) : undefined;
    }
    switch (op.name) {
      case "permute":
        return permuteLayout(layout, invertOrder(intsAttr(op, "order")));
      case "broadcast":
        return unbroadcastLayout(layout, operand.type.shape);
      case "reshape":
      case "expand_dims":
        return reshapeLayout(layout, operand.type.shape);
      default:
        return layout;
    }
  };

  /** The copy of a value in a layout (undefined for scalars), made on first use. */
  const get = (scope: Scope, value: Value, layout: LinearLayout | undefined): Value => {
    const key = keyOf(value, layout);
    const known = lookup(scope, key);
    if (known !== undefined) return known;
    const op = must(value.def, "definition of a value used before it exists");
    let copy: Value;
    if (layout !== undefined && isData(value) && !sameLayout(natural(value), layout)) {
      copy = convert(scope, get(scope, value, natural(value)), layout, op);
    } else {
      const operands = op.operands.map((operand) =>
        get(scope, operand, operandLayout(op, operand, layout))
      );
      copy = clone(scope, op, operands, layout);
    }
    scope.copies.set(key, copy);
    return copy;
  };

  const layoutOf = (value: Value): LinearLayout | undefined =>
    isTile(value) ? natural(value) : undefined;

  const region = (source: Region, parent: Scope | undefined): Region => {
    const params = source.params.map((param) =>
      newValue(result, laidOut(param.type, layoutOf(param)), param.name)
    );
    const scope: Scope = { parent, copies: new Map(), out: [] };
    source.params.forEach((param, i) =>
      scope.copies.set(keyOf(param, layoutOf(param)), must(params[i], "parameter"))
    );
    for (const op of source.ops) place(scope, op);
    return { params, ops: scope.out };
  };

  /** Operations that must happen, in order; pure ones appear when something needs them. */
  const place = (scope: Scope, op: Op): void => {
    if (TILE_OPS[op.name].effect === "pure") return;
    const anchored = anchors.get(op);
    // What control flow carries needs one layout on all its ways: the plain one.
    const carried = TILE_OPS[op.name].effect === "control";
    const operands = op.operands.map((operand) =>
      get(
        scope,
        operand,
        isTile(operand)
          ? anchored ?? (carried ? plain(operand.type.shape) : natural(operand))
          : undefined,
      )
    );
    const regions = op.regions.map((inner) => region(inner, scope));
    const types = op.results.map((value) => laidOut(value.type, anchored ?? layoutOf(value)));
    const copy = newOp(result, op.name, operands, types, op.span, op.attrs, regions);
    scope.out.push(copy);
    op.results.forEach((value, i) => {
      scope.copies.set(
        keyOf(value, isTile(value) ? anchored ?? layoutOf(value) : undefined),
        must(copy.results[i], "result"),
      );
    });
  };

  const root: Scope = { parent: undefined, copies: new Map(), out: [] };
  func.params.forEach((param, i) => {
    const copy = newValue(result, param.type, param.name);
    result.params.push(copy);
    result.paramFacts.push(must(func.paramFacts[i], "facts of a parameter"));
    root.copies.set(keyOf(param, undefined), copy);
  });
  for (const op of func.body.ops) place(root, op);
  result.body.ops = root.out;
  return result;
}

/**
 * Gives every tile value a layout and makes each change of layout an explicit `convert_layout`.
 *
 * Loads and stores anchor the layouts (anchors.ts). Everything computed from indices alone (ranges, pointers, masks,
 * what constant memory has there) is cheap and is computed again in whatever layout each user wants. Data that was loaded keeps the layout
 * it came in (natural.ts) through element-wise operations and permutations, until a store wants another one; only
 * there does it move. Data that is spread over more elements (a row's maximum over the row) moves before it is spread.
 * Inside a loop, data from outside moves before the loop.
 */
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
import type { Span } from "../support/source.ts";
import { must } from "../support/bug.ts";
import { type OnHeap, runOnHeap } from "../support/on_heap.ts";
import { layoutKey, type LinearLayout, sameLayout } from "../linear/linear.ts";
import { isRepeatable, isTile, type LayoutOptions, NaturalLayouts } from "./natural.ts";
import { rotateStore } from "./rotate.ts";

/** A region that is being copied. */
interface Scope {
  readonly parent: Scope | undefined;
  readonly isLoop: boolean;
  /** Laid-out copies by original value and layout. */
  readonly copies: Map<string, Value>;
  readonly out: Op[];
}

/** A function of equal meaning whose tile types all carry layouts. */
export function assignLayouts(func: Func, options: LayoutOptions): Func {
  const layouts = new NaturalLayouts(func, options);
  const result = newFunc(func.name);
  /** Where each original value belongs. */
  const homes = new Map<Value, Scope>();

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

  const convert = (
    scope: Scope,
    value: Value,
    layout: LinearLayout,
    span: Span,
  ): Value => {
    const conversion = newOp(
      result,
      "convert_layout",
      [value],
      [laidOut(value.type, layout)],
      span,
    );
    scope.out.push(conversion);
    return must(conversion.results[0], "result");
  };

  /** Where a conversion for a user in `scope` belongs: not inside loops that its operand comes from outside of. */
  const conversionScope = (scope: Scope, home: Scope): Scope => {
    let target = scope;
    for (let at: Scope | undefined = scope; at !== undefined && at !== home; at = at.parent) {
      if (at.isLoop && at.parent !== undefined) target = at.parent;
    }
    return target;
  };

  /** The copy of a value in a layout (undefined for scalars), made on first use. */
  const get = (
    scope: Scope,
    value: Value,
    layout: LinearLayout | undefined,
    user: Op,
  ): Value => runOnHeap(find(scope, value, layout, user));

  function* find(
    scope: Scope,
    value: Value,
    layout: LinearLayout | undefined,
    user: Op,
  ): OnHeap<Value> {
    const key = keyOf(value, layout);
    const known = lookup(scope, key);
    if (known !== undefined) return known;
    const op = value.def;
    // Operations of outer regions land there, before the loop or branch that is being copied.
    const home = must(homes.get(value), "region of a value");
    let target = home;
    let copy: Value;
    const natural = layouts.isData(value) && isTile(value) ? layouts.of(value) : undefined;
    const isElsewhere = layout !== undefined && natural !== undefined &&
      !sameLayout(natural, layout);
    if (isElsewhere && !layouts.isSpread(value)) {
      target = conversionScope(scope, home);
      const source = yield find(target, value, natural, user);
      copy = convert(target, source, layout, op?.span ?? user.span);
    } else {
      const maker = must(op, "definition of a value used before it exists");
      const operands: Value[] = [];
      for (const [index, operand] of maker.operands.entries()) {
        operands.push(
          yield find(home, operand, layouts.ofOperand(maker, index, layout), maker),
        );
      }
      copy = clone(home, maker, operands, layout);
    }
    target.copies.set(key, copy);
    return copy;
  }

  const layoutOf = (value: Value): LinearLayout | undefined =>
    isTile(value) ? layouts.of(value) : undefined;

  /** A copy of a region whose last operation hands its values to `targets`, in their layouts. */
  const region = (
    source: Region,
    parent: Scope,
    isLoop: boolean,
    targets: readonly (Value | undefined)[],
  ): Region => {
    const params = source.params.map((param) =>
      newValue(result, laidOut(param.type, layoutOf(param)), param.name)
    );
    const scope: Scope = { parent, isLoop, copies: new Map(), out: [] };
    source.params.forEach((param, i) => {
      homes.set(param, scope);
      scope.copies.set(keyOf(param, layoutOf(param)), must(params[i], "parameter"));
    });
    fillScope(scope, source.ops, targets);
    return { params, ops: scope.out };
  };

  const fillScope = (
    scope: Scope,
    ops: readonly Op[],
    targets: readonly (Value | undefined)[],
  ): void => {
    for (const op of ops) for (const value of op.results) homes.set(value, scope);
    for (const op of ops) {
      const layout = layouts.ofAccess(op);
      place(scope, rotated(op, scope, layout) ?? op, targets, layout);
    }
  };

  /** A store with its rows turned, where that pays. */
  const rotated = (op: Op, scope: Scope, layout: LinearLayout | undefined): Op | undefined => {
    const rotation = layouts.rotationOf(op);
    const turned = rotation === undefined ? undefined : rotateStore(func, op, rotation);
    if (turned === undefined || layout === undefined) return undefined;
    for (const made of turned.ops) for (const value of made.results) homes.set(value, scope);
    layouts.settle(turned.data, layout);
    return turned.store;
  };

  const regionsOf = (op: Op, scope: Scope): Region[] => {
    const [first, second] = op.regions;
    if (op.name !== "while" || first === undefined || second === undefined) {
      return op.regions.map((inner) => region(inner, scope, false, op.results));
    }
    return [
      region(first, scope, true, [undefined, ...second.params]),
      region(second, scope, true, first.params),
    ];
  };

  /** Operations that must happen, in order; others appear when something needs them. */
  const place = (
    scope: Scope,
    op: Op,
    targets: readonly (Value | undefined)[],
    access: LinearLayout | undefined,
  ): void => {
    if (isRepeatable(op)) return;
    const carriers = op.name === "while"
      ? must(op.regions[0], "test").params
      : op.name === "yield" || op.name === "condition"
      ? targets
      : op.operands;
    const operands = op.operands.map((operand, i) =>
      get(
        scope,
        operand,
        isTile(operand) ? access ?? layoutOf(carriers[i] ?? operand) : undefined,
        op,
      )
    );
    const regions = regionsOf(op, scope);
    const layoutOfResult = (value: Value): LinearLayout | undefined =>
      isTile(value) ? access ?? layoutOf(value) : undefined;
    const types = op.results.map((value) => laidOut(value.type, layoutOfResult(value)));
    const copy = newOp(result, op.name, operands, types, op.span, op.attrs, regions);
    scope.out.push(copy);
    op.results.forEach((value, i) => {
      scope.copies.set(keyOf(value, layoutOfResult(value)), must(copy.results[i], "result"));
    });
  };

  const root: Scope = { parent: undefined, isLoop: false, copies: new Map(), out: [] };
  func.params.forEach((param, i) => {
    const copy = newValue(result, param.type, param.name);
    result.params.push(copy);
    result.paramFacts.push(must(func.paramFacts[i], "facts of a parameter"));
    homes.set(param, root);
    root.copies.set(keyOf(param, undefined), copy);
  });
  fillScope(root, func.body.ops, []);
  result.body.ops = root.out;
  return result;
}

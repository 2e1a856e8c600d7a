/**
 * assignLayouts: gives every tile a layout and makes each layout conversion an explicit `convert_layout`.
 *
 * Loads and stores decide their layouts themselves (anchors.ts). What is computed from indices alone (ranges,
 * pointers, masks, elements of constant buffers) is cheap and is computed again in each layout that a user wants.
 * Loaded data keeps its layout (natural.ts) through element-wise operations and permutations until a store wants
 * another one, and is converted there. Broadcast data (a row's maximum over the row) is converted before it is
 * broadcast. Data from outside a loop is converted before the loop.
 *
 * The pass copies the function in order. Operations with an effect are copied where they are; pure ones when a copy
 * needs them (copies.ts).
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, newFunc, newOp, type Op, type Region, type Value } from "../ir/func.ts";
import { replaceFunc } from "../ir/walk.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { must } from "../support/bug.ts";
import type { LinearLayout } from "../linear/linear.ts";
import { laidOut, LaidOutCopies, newScope, type Scope } from "./copies.ts";
import { isRepeatable, isTile } from "./carried_data.ts";
import { type LayoutOptions, NaturalLayouts } from "./natural.ts";
import { rotateStore } from "./rows/rotate.ts";

export const layoutAssignment: Pass<TargetContext> = {
  name: "assign-layouts",
  doc: "gives every tile a layout; layout conversions become operations",
  run: (func, { target, numWarps, numCtas, axisInfo }) => {
    replaceFunc(func, assignLayouts(func, { target, numWarps, numCtas, axisInfo: axisInfo() }));
    return true;
  },
};

/** A function of equal meaning whose tile types all carry layouts. */
function assignLayouts(func: Func, options: LayoutOptions): Func {
  return new Assignment(func, options).run();
}

/** The values that the values of a terminator become; undefined for the condition of a loop, a scalar. */
type Targets = readonly (Value | undefined)[];

class Assignment {
  readonly #func: Func;
  readonly #result: ReturnType<typeof newFunc>;
  readonly #layouts: NaturalLayouts;
  readonly #copies: LaidOutCopies;

  constructor(func: Func, options: LayoutOptions) {
    this.#func = func;
    this.#result = newFunc(func.name);
    this.#result.maps = func.maps;
    this.#layouts = new NaturalLayouts(func, options);
    this.#copies = new LaidOutCopies(this.#result, this.#layouts);
  }

  run(): Func {
    const scope = newScope(undefined, false);
    for (const [index, param] of this.#func.params.entries()) {
      this.#result.params.push(this.#copies.parameter(scope, param, undefined));
      this.#result.paramFacts.push(must(this.#func.paramFacts[index], "facts of a parameter"));
    }
    this.#fill(scope, this.#func.body.ops, []);
    this.#result.body.ops = scope.ops;
    return this.#result;
  }

  /** The layout of a value that is not computed again for its users. */
  #layoutOf(value: Value): LinearLayout | undefined {
    return isTile(value) ? this.#layouts.of(value) : undefined;
  }

  #fill(scope: Scope, ops: readonly Op[], targets: Targets): void {
    for (const op of ops) this.#copies.define(scope, op.results);
    for (const op of ops) {
      if (isRepeatable(op)) continue;
      const access = this.#layouts.ofAccess(op);
      this.#copy(scope, this.#rotated(scope, op, access) ?? op, targets, access);
    }
  }

  /** A store with its rows rotated, where that pays. */
  #rotated(scope: Scope, op: Op, access: LinearLayout | undefined): Op | undefined {
    if (op.name !== "store") return undefined;
    const rotation = this.#layouts.stores.rotationOf(op);
    const rotated = rotation === undefined ? undefined : rotateStore(this.#func, op, rotation);
    if (rotated === undefined || access === undefined) return undefined;
    for (const made of rotated.ops) this.#copies.define(scope, made.results);
    this.#layouts.settle(rotated.data, access);
    return rotated.store;
  }

  /** Copies an operation that is done once, where it is. An access has all its tiles in one layout. */
  #copy(scope: Scope, op: Op, targets: Targets, access: LinearLayout | undefined): void {
    const receivers = receiversOf(op, targets);
    const operands = op.operands.map((value, index) => {
      const layout = isTile(value)
        ? access ?? this.#layoutOf(receivers[index] ?? value)
        : undefined;
      return this.#copies.copyFor({ scope, value, layout, span: op.span });
    });
    const regions = this.#regionsOf(scope, op);
    const layouts = op.results.map((value) =>
      isTile(value) ? access ?? this.#layoutOf(value) : undefined
    );
    const types = op.results.map((value, index) => laidOut(value.type, layouts[index]));
    const copy = newOp(this.#result, op.name, operands, types, op.span, op.attrs, regions);
    scope.ops.push(copy);
    for (const [index, value] of op.results.entries()) {
      this.#copies.record(scope, value, layouts[index], must(copy.results[index], "result"));
    }
  }

  #regionsOf(scope: Scope, op: Op): Region[] {
    if (op.name !== "while") {
      return op.regions.map((region) => this.#region(scope, region, false, op.results));
    }
    const { test, body } = loopOf(op);
    return [
      this.#region(scope, test, true, [undefined, ...body.params]),
      this.#region(scope, body, true, test.params),
    ];
  }

  /** A copy of a region; the values of its terminator get the layouts of `targets`. */
  #region(parent: Scope, source: Region, isLoop: boolean, targets: Targets): Region {
    const scope = newScope(parent, isLoop);
    const params = source.params.map((param) =>
      this.#copies.parameter(scope, param, this.#layoutOf(param))
    );
    this.#fill(scope, source.ops, targets);
    return { params, ops: scope.ops };
  }
}

/** The values whose layouts the operands take: what they become, where control flow passes them on. */
function receiversOf(op: Op, targets: Targets): Targets {
  if (op.name === "while") return loopOf(op).test.params;
  return op.name === "yield" || op.name === "condition" ? targets : op.operands;
}

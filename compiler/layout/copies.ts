/**
 * LaidOutCopies: the copies of a function's values in the layouts that their users want.
 *
 * A value that can be computed again gets one copy per layout, in the region of its definition. Data keeps its
 * natural layout; a user that wants another one gets a `convert_layout`, outside of the loops that the data
 * does not change in. Elements that were made wider are converted before that, and made wider again.
 * Each copy is made when the first user asks for it.
 */
import { type Func, isOp, newOp, newValue, type Op, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf, type IrType } from "../ir/types.ts";
import type { Span } from "../support/source.ts";
import { must } from "../support/bug.ts";
import { type LinearLayout, sameLayout } from "../linear/linear.ts";
import { isTile } from "./carried_data.ts";
import type { NaturalLayouts } from "./natural.ts";

/** A region of the copied function, while it is filled. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly isLoop: boolean;
  /** The copies that this region has, by original value; few have several. */
  readonly copies: Map<Value, Copy[]>;
  readonly ops: Op[];
}

/** A copy in a layout. */
interface Copy {
  readonly layout: LinearLayout | undefined;
  readonly value: Value;
}

/** A use of a value: in which region, and in which layout (undefined for scalars). */
export interface Use {
  readonly scope: Scope;
  readonly value: Value;
  readonly layout: LinearLayout | undefined;
  readonly span: Span;
  /** The user is a dot: what it takes is staged as it comes (schedule/staged_operand.ts). */
  readonly isOperandOfDot?: boolean;
}

/** A copy that waits for what it is made from. */
interface Pending {
  readonly use: Use;
  /** The region that gets the copy. */
  readonly scope: Scope;
  readonly from: { readonly kind: "conversion"; readonly source: Use } | {
    readonly kind: "operation";
    readonly op: Op;
  };
  /** The operands that exist already. */
  readonly operands: Value[];
}

export function newScope(parent: Scope | undefined, isLoop: boolean): Scope {
  return { parent, isLoop, copies: new Map(), ops: [] };
}

/** An IR type in a layout. */
export function laidOut(type: IrType, layout: LinearLayout | undefined): IrType {
  const { element, shape } = type;
  return layout === undefined ? { element, shape } : { element, shape, layout };
}

/** Whether two values, scalars or tiles, are laid out alike. */
const isAlike = (a: LinearLayout | undefined, b: LinearLayout | undefined): boolean =>
  a === undefined || b === undefined ? a === b : sameLayout(a, b);

/** The copy that a region or one around it has. */
function existing({ scope, value, layout }: Use): Value | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const found = at.copies.get(value)?.find((copy) => isAlike(copy.layout, layout));
    if (found !== undefined) return found.value;
  }
  return undefined;
}

/** Makes wider elements of narrow ones, and maybe permutes them: a layout conversion before that moves less. */
function widens(op: Op | undefined): boolean {
  if (isOp(op, "permute")) return widens(operandsOf(op).value.def);
  return isOp(op, "convert") && isTile(resultOf(op)) &&
    bytesOf(operandsOf(op).value.type.element) < bytesOf(resultOf(op).type.element);
}

/** What is made of elements one by one, or puts them into other places of a tile. */
const PLACES: ReadonlySet<Op["name"]> = new Set(["permute", "reshape", "expand_dims", "convert"]);

/**
 * Whether it is a part of a tile that is loaded, as `split0` of a load: the whole is converted, once for all parts, which are
 * in registers then.
 */
function isOfLoaded(op: Op | undefined, isPart: boolean): boolean {
  if (op === undefined) return false;
  if (op.name === "load") return isPart;
  const isSlice = op.name === "slice";
  return (isSlice || PLACES.has(op.name)) && isOfLoaded(op.operands[0]?.def, isPart || isSlice);
}

/** Where a conversion for a user in `scope` belongs: outside of the loops that its operand, made in `home`, enters. */
function conversionScope(scope: Scope, home: Scope): Scope {
  let target = scope;
  for (let at: Scope | undefined = scope; at !== undefined && at !== home; at = at.parent) {
    if (at.isLoop && at.parent !== undefined) target = at.parent;
  }
  return target;
}

export class LaidOutCopies {
  readonly #result: Func;
  readonly #layouts: NaturalLayouts;
  /** The region that each original value is defined in. */
  readonly #homes = new Map<Value, Scope>();

  constructor(result: Func, layouts: NaturalLayouts) {
    this.#result = result;
    this.#layouts = layouts;
  }

  /** Records that the original values are defined in this region. */
  define(scope: Scope, values: readonly Value[]): void {
    for (const value of values) this.#homes.set(value, scope);
  }

  /** Records a copy that exists. */
  record(scope: Scope, value: Value, layout: LinearLayout | undefined, copy: Value): void {
    if (value.sources !== undefined) copy.sources = value.sources;
    const others = scope.copies.get(value)?.filter((one) => !isAlike(one.layout, layout)) ?? [];
    scope.copies.set(value, [...others, { layout, value: copy }]);
  }

  /** A parameter of a region in a layout. */
  parameter(scope: Scope, param: Value, layout: LinearLayout | undefined): Value {
    const copy = newValue(this.#result, laidOut(param.type, layout), param.name);
    this.define(scope, [param]);
    this.record(scope, param, layout, copy);
    return copy;
  }

  /** The copy that a user needs; it is made, with all that it is computed from, if there is none. */
  copyFor(use: Use): Value {
    const known = existing(use);
    if (known !== undefined) return known;
    // Chains of operands are longer than the engine's stack is deep, so this is a loop.
    const pending = [this.#pending(use)];
    for (let last = pending.at(-1); last !== undefined; last = pending.at(-1)) {
      const operand = this.#nextOperand(last);
      if (operand === undefined) {
        pending.pop();
        this.record(last.scope, last.use.value, last.use.layout, this.#make(last));
        continue;
      }
      const copy = existing(operand);
      if (copy === undefined) pending.push(this.#pending(operand));
      else last.operands.push(copy);
    }
    return must(existing(use), "copy of a value");
  }

  #pending(use: Use): Pending {
    const { scope, value, layout } = use;
    const home = must(this.#homes.get(value), "region of a value");
    const natural = isTile(value) && this.#layouts.data.isData(value)
      ? this.#layouts.of(value)
      : undefined;
    const isElsewhere = layout !== undefined && natural !== undefined &&
      !sameLayout(natural, layout);
    const isWidened = use.isOperandOfDot !== true && widens(value.def);
    if (
      !isElsewhere || isWidened || isOfLoaded(value.def, false) ||
      this.#layouts.data.isSpread(value)
    ) {
      const op = must(value.def, "definition of a value used before it exists");
      return { use, scope: home, from: { kind: "operation", op }, operands: [] };
    }
    const target = conversionScope(scope, home);
    const source = { ...use, scope: target, layout: natural };
    return { use, scope: target, from: { kind: "conversion", source }, operands: [] };
  }

  /** The first use by a pending copy that has no operand yet. */
  #nextOperand({ use, scope, from, operands }: Pending): Use | undefined {
    const index = operands.length;
    if (from.kind === "conversion") return index === 0 ? from.source : undefined;
    const { op } = from;
    const value = op.operands[index];
    if (value === undefined) return undefined;
    return {
      scope,
      value,
      layout: this.#layouts.ofOperand(op, index, use.layout),
      span: op.span,
      isOperandOfDot: op.name === "dot",
    };
  }

  #make({ use, scope, from, operands }: Pending): Value {
    const { value, layout } = use;
    const types = [laidOut(value.type, layout)];
    const copy = from.kind === "conversion"
      ? newOp(
        this.#result,
        "convert_layout",
        operands,
        types,
        value.def?.span ?? use.span,
        layout === undefined ? {} : this.#layouts.stores.exchangeOf(value, layout),
      )
      : newOp(this.#result, from.op.name, operands, types, from.op.span, from.op.attrs);
    scope.ops.push(copy);
    const result = resultOf(copy);
    if (from.kind === "operation" && value.name !== undefined) result.name = value.name;
    return result;
  }
}

/**
 * The layout in which each tile comes, before anyone asks for another: that of the access that loads it, of the
 * product or reduction that makes it, and through element-wise operations and permutations that of their operands.
 *
 * What loops and branches carry needs one layout on all its ways (webs.ts). It is that of the data that flows in,
 * from inside the loop before what enters it, so that nothing moves per round; of pointers and indices that of the
 * accesses that use them.
 */
import type { AxisInfo } from "../tile/axis.ts";
import { intAttr, intsAttr } from "../ir/attrs.ts";
import { TILE_OPS } from "../ir/ops.ts";
import { isLookup } from "../ir/table.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import { bytesOf } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { fitsShared, type Target } from "../targets.ts";
import { anchorLayouts } from "./anchors.ts";
import { blockedLayout, orderFrom } from "./blocked.ts";
import { chainedProducts } from "./chains.ts";
import { planConversion } from "./conversion.ts";
import { type DotLayouts, dotLayouts } from "./dot.ts";
import { invertOrder, type LinearLayout, permuteLayout, reshapeLayout } from "./linear.ts";
import { unbroadcastLayout } from "./linear.ts";
import { isSeparable, reducedLayout } from "./reduce.ts";
import { rotatedBytes, type Rotation, rotationOf } from "./rotate.ts";
import { type Web, websOf } from "./webs.ts";

export interface LayoutOptions {
  readonly target: Target;
  readonly numWarps: number;
  readonly axisInfo: (value: Value) => AxisInfo;
}

export const isTile = (value: Value): boolean => value.type.shape.length > 0;
const isAtomic = (op: Op): boolean => op.name === "atomic" || op.name === "atomic_cas";

/** Element i of the result depends on element i of the operands only. */
const isElementwise = (op: Op): boolean => "elementwise" in TILE_OPS[op.name] || isLookup(op);

/** May happen anywhere in its region, several times, or never. */
export const isRepeatable = (op: Op): boolean =>
  TILE_OPS[op.name].effect === "pure" || isLookup(op);

/** Pure operations that threads do together, or that are too dear to be done twice. */
const MADE_ONCE: ReadonlySet<string> = new Set([
  "dot",
  "reduce",
  "scan",
  "exchange",
  "gather",
  "histogram",
  "rotate",
]);

/** The layouts that operations and values of a function want. */
export class NaturalLayouts {
  readonly #options: LayoutOptions;
  readonly #anchors: ReadonlyMap<Op, LinearLayout>;
  readonly #webs: ReadonlyMap<Value, Web>;
  /** The web that a value from outside of it flows into. */
  readonly #flows = new Map<Value, Web>();
  readonly #users = new Map<Value, Op[]>();
  readonly #naturals = new Map<Value, LinearLayout>();
  readonly #data = new Map<Value, boolean>();
  readonly #spread = new Map<Value, boolean>();
  readonly #products = new Map<Op, DotLayouts>();
  readonly #chained: ReadonlySet<Op>;
  /** Webs whose layout is being looked for. */
  readonly #open = new Set<Web>();

  constructor(func: Func, options: LayoutOptions) {
    this.#options = options;
    this.#anchors = anchorLayouts(func, options.numWarps, options.axisInfo);
    this.#webs = websOf(func);
    for (const web of this.#webs.values()) {
      for (const source of web.sources) this.#flows.set(source, web);
    }
    this.#chained = chainedProducts(func, this.#webs);
    walkOps(func.body, (op) => {
      for (const value of new Set(op.operands)) {
        const list = this.#users.get(value);
        if (list === undefined) this.#users.set(value, [op]);
        else list.push(op);
      }
    });
  }

  /** Depends on loaded data, or is carried by control flow: not to be computed twice. */
  isData(value: Value): boolean {
    let known = this.#data.get(value);
    if (known === undefined) {
      const def = value.def;
      known = def === undefined ? isTile(value) : !isRepeatable(def) || MADE_ONCE.has(def.name) ||
        def.operands.some((operand) => isTile(operand) && this.isData(operand));
      this.#data.set(value, known);
    }
    return known;
  }

  /**
   * Copies of fewer elements, and what is computed from such alone: made again in any layout, so that what moves is
   * what was copied. An axis of one element that is put in on the way to a copy costs nothing either.
   */
  isSpread(value: Value): boolean {
    let known = this.#spread.get(value);
    if (known === undefined) {
      const def = value.def;
      const data = def?.operands.filter((one) => isTile(one) && this.isData(one)) ?? [];
      known = def?.name === "broadcast" || def?.name === "expand_dims" ||
        (def !== undefined && isElementwise(def) && data.length > 0 &&
          data.every((one) => this.isSpread(one)));
      this.#spread.set(value, known);
    }
    return known;
  }

  /** How the rows of a store should be turned; its data has to move in any case. */
  rotationOf(op: Op): Rotation | undefined {
    const layout = this.#anchors.get(op);
    const value = op.operands[1];
    if (op.name !== "store" || layout === undefined || value === undefined) return undefined;
    if (!this.isData(value)) return undefined;
    const bytes = bytesOf(value.type.element);
    if (planConversion(this.of(value), layout, bytes).kind !== "shared") return undefined;
    const rotation = rotationOf(op, layout, this.#options.axisInfo);
    const fits = rotation !== undefined &&
      fitsShared(this.#options.target, rotatedBytes(layout.shape, rotation.axis, bytes));
    return fits ? rotation : undefined;
  }

  /** Settles the layout of a value made after the function was looked at. */
  settle(value: Value, layout: LinearLayout): void {
    this.#naturals.set(value, layout);
  }

  of(value: Value): LinearLayout {
    return this.#find(value) ?? this.#plain(value.type.shape);
  }

  /** The layout that a load, store or atomic wants for all its tiles. */
  ofAccess(op: Op): LinearLayout | undefined {
    return this.#anchors.get(op) ??
      ((isAtomic(op) || op.name === "print") && op.operands.some(isTile)
        ? this.#ofElements(op)
        : undefined);
  }

  /** The layout an operand must have so that the result comes out in `layout` without moving. */
  ofOperand(op: Op, index: number, layout: LinearLayout | undefined): LinearLayout | undefined {
    const operand = must(op.operands[index], "operand");
    if (!isTile(operand)) return undefined;
    if (op.name === "reduce") return this.#alongAxis(op);
    const isTaken = op.name === "rotate" || op.name === "gather" || op.name === "histogram";
    if (isTaken && index === 0) return this.of(operand);
    if (layout === undefined) return this.of(operand);
    switch (op.name) {
      case "dot": {
        const { a, b, result } = this.#productOf(op);
        return [a, b, result][index];
      }
      case "permute":
        return permuteLayout(layout, invertOrder(intsAttr(op, "order")));
      case "broadcast":
      case "rotate":
      case "rotated_range":
        return unbroadcastLayout(layout, operand.type.shape);
      case "reshape":
      case "expand_dims":
        return reshapeLayout(layout, operand.type.shape);
      default:
        return layout;
    }
  }

  #plain(shape: readonly number[]): LinearLayout {
    return blockedLayout({
      shape,
      numWarps: this.#options.numWarps,
      order: orderFrom(shape.length - 1, shape.length),
      vector: 1,
    });
  }

  #productOf(op: Op): DotLayouts {
    const { numWarps, target } = this.#options;
    const found = this.#products.get(op) ?? dotLayouts(op, numWarps, target, this.#chained.has(op));
    this.#products.set(op, found);
    return found;
  }

  /** The layout in which a reduction or scan along an axis takes its operand. */
  #alongAxis(op: Op): LinearLayout {
    const operand = must(op.operands[0], "operand");
    const layout = this.of(operand);
    return isSeparable(layout, intAttr(op, "axis")) ? layout : this.#plain(operand.type.shape);
  }

  /** Atomics go where their data is, each element from one thread; so do the values that are printed. */
  #ofElements(op: Op): LinearLayout {
    const values = isAtomic(op) ? op.operands.slice(1) : op.operands;
    const source = values.find((operand) => isTile(operand) && this.isData(operand));
    return source === undefined
      ? this.#plain(must(op.operands.find(isTile), "tile operand").type.shape)
      : this.of(source);
  }

  /** Undefined where nothing decides yet: inside a web that is being decided. */
  #find(value: Value): LinearLayout | undefined {
    const known = this.#naturals.get(value);
    if (known !== undefined) return known;
    const web = this.#webs.get(value);
    const layout = web === undefined ? this.#compute(value) : this.#ofWeb(web, value);
    if (layout !== undefined) this.#naturals.set(value, layout);
    return layout;
  }

  #compute(value: Value): LinearLayout | undefined {
    const def = must(value.def, "operation of a value outside webs");
    const access = this.ofAccess(def);
    if (access !== undefined) return access;
    if (def.name === "dot") return this.#productOf(def).result;
    if (def.name === "reduce") return reducedLayout(this.#alongAxis(def), intAttr(def, "axis"));
    if (def.name === "scan" || def.name === "exchange") return this.#alongAxis(def);
    if (def.name === "gather") return this.of(must(def.operands[1], "index"));
    if (def.name === "histogram") return this.#plain(value.type.shape);
    const operand = def.operands[0];
    if (def.name === "permute" && operand !== undefined) {
      const layout = this.#find(operand);
      return layout && permuteLayout(layout, intsAttr(def, "order"));
    }
    if (
      (def.name === "reshape" || def.name === "expand_dims") && operand !== undefined &&
      isTile(operand)
    ) {
      const layout = this.#find(operand);
      return layout && reshapeLayout(layout, value.type.shape);
    }
    if (isElementwise(def)) {
      const sources = def.operands.filter((one) => isTile(one) && this.isData(one));
      // Data that is spread goes where the other operand is.
      const settled = sources.filter((one) => !this.isSpread(one));
      for (const source of settled.length > 0 ? settled : sources) {
        const layout = this.#find(source);
        if (layout !== undefined) return layout;
      }
      if (sources.length > 0) return undefined;
    }
    return this.#plain(value.type.shape);
  }

  #ofWeb(web: Web, value: Value): LinearLayout | undefined {
    if (this.#open.has(web)) return undefined;
    this.#open.add(web);
    const layout = this.#fromSources(web) ?? this.#wanted(web) ??
      (this.#open.size > 1 ? undefined : this.#plain(value.type.shape));
    this.#open.delete(web);
    // One layout for all of them, whoever asked first.
    if (layout !== undefined) web.members.forEach((one) => this.#naturals.set(one, layout));
    return layout;
  }

  #fromSources(web: Web): LinearLayout | undefined {
    for (const source of web.sources) {
      if (!this.isData(source)) continue;
      const layout = this.#find(source);
      if (layout !== undefined) return layout;
    }
    return undefined;
  }

  /** What the accesses want that members of the web lead to; else the webs do that they become part of. */
  #wanted(web: Web): LinearLayout | undefined {
    return this.#wantedBy(web, () => undefined) ?? this.#wantedBy(web, (value) => {
      const into = this.#flows.get(value);
      return into === undefined || into === web ? undefined : this.#ofWeb(into, value);
    });
  }

  #wantedBy(
    web: Web,
    other: (value: Value) => LinearLayout | undefined,
  ): LinearLayout | undefined {
    const seen = new Set<Value>();
    const by = (value: Value): LinearLayout | undefined => {
      if (seen.has(value)) return undefined;
      seen.add(value);
      const known = other(value);
      if (known !== undefined) return known;
      for (const user of this.#users.get(value) ?? []) {
        const [result] = user.results;
        const index = user.operands.indexOf(value);
        const access = this.#anchors.get(user);
        if (access !== undefined) return access;
        if (user.name === "dot") return this.ofOperand(user, index, access);
        const isTransparent = isElementwise(user) ||
          ["permute", "broadcast", "reshape", "expand_dims"].includes(user.name);
        if (!isTransparent || result === undefined) continue;
        const wanted = by(result);
        if (wanted !== undefined) return this.ofOperand(user, index, wanted);
      }
      return undefined;
    };
    for (const member of web.members) {
      const layout = by(member);
      if (layout !== undefined) return layout;
    }
    return undefined;
  }
}

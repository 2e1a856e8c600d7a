/**
 * The natural layout of each tile, in which it is made: that of the access that loads it, of the
 * dot or reduction that makes it, and through element-wise operations and permutations that of their operands.
 *
 * A phi web (phi_webs.ts) has one layout: that of the data that flows in, from inside the loop before what enters it,
 * so that no iteration converts it; for pointers and indices that of the accesses that use them.
 */
import type { AxisInfo } from "../tile/axis.ts";
import { type Func, isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { type OnHeap, runOnHeap } from "../support/on_heap.ts";
import type { Target } from "../targets.ts";
import { anchorLayouts, tableLoads } from "./anchors.ts";
import { blockedLayout, orderFrom, withoutBlocks } from "./blocked.ts";
import { CarriedData, isElementwise, isTile } from "./carried_data.ts";
import { chainedDots, multipliesMuch, standingDots } from "./chains.ts";
import { computedBoxes, vectorsOfLeft } from "./operands/computed_left.ts";
import { dotOfComputed, vectorsOfComputed } from "./operands/computed_operand.ts";
import { DotsOfFunction } from "./function_dots.ts";
import {
  invertOrder,
  layoutKey,
  type LinearLayout,
  permuteLayout,
  reshapeLayout,
  unbroadcastLayout,
} from "../linear/linear.ts";
import { copyBits } from "../linear/threads.ts";
import { networksOf, runsLayout } from "./networks.ts";
import { chunkedLoads } from "./rows/chunk_rows.ts";
import { axisBits, isSeparable, reducedLayout } from "./reduce.ts";
import { type PhiWeb, phiWebsOf } from "./phi_webs.ts";
import { isPaired, sliceLayout, unsliceLayout } from "./slices.ts";
import { stepLoads } from "./step_loads.ts";
import { StoreLayouts } from "./stores.ts";
import { spreadLoads } from "./beside/spread_loads.ts";
import { suitsComputed } from "./warp_group.ts";
import { besideData, crossesWarps } from "./beside/warp_local.ts";

/** A search for a layout along chains of operands or users; undefined where nothing decides yet. */
type Search = OnHeap<LinearLayout | undefined>;
/** A step of a search. */
type Part<T> = Generator<Search, T, LinearLayout | undefined>;

export interface LayoutOptions {
  readonly target: Target;
  readonly numWarps: number;
  readonly numCtas: number;
  readonly axisInfo: (value: Value) => AxisInfo;
}

/** The most operations between what is loaded and the result of a dot that it is combined with. */
const MOST_STEPS = 8;
/** The most operations between such a result and that: `(a @ b) * rows * columns` has one before its columns. */
const MOST_FACTORS = 2;

const isAtomic = (op: Op): op is OpOf<"atomic" | "atomic_cas"> =>
  op.name === "atomic" || op.name === "atomic_cas";

/** The layouts that operations and values of a function want. */
export class NaturalLayouts {
  readonly data = new CarriedData();
  readonly dots: DotsOfFunction;
  readonly stores: StoreLayouts;
  readonly #options: LayoutOptions;
  readonly #anchors: ReadonlyMap<Op, LinearLayout>;
  /** The accesses that loads from tables are for. */
  readonly #tables: ReadonlyMap<Op, Op>;
  /** Their layouts, as far as they have been asked for while no other search was under way. */
  readonly #behindTables = new Map<Op, LinearLayout | undefined>();
  readonly #webs: ReadonlyMap<Value, PhiWeb>;
  /** The phi web that a value from outside of it flows into. */
  readonly #flows = new Map<Value, PhiWeb>();
  readonly #users: ReadonlyMap<Value, readonly Op[]>;
  readonly #naturals = new Map<Value, LinearLayout>();
  readonly #isOfNetwork: (op: OpOf<"exchange">) => boolean;
  /** Boxes go to chains of dots that take the time. */
  readonly #hasFullChains: boolean;
  #hasDots = false;
  /** Boxes that operands are computed from in registers. */
  readonly #boxes: ReadonlyMap<Op, () => LinearLayout>;
  /** Loads of what is spread over operands that are computed in their slots. */
  readonly #vectors: ReadonlySet<Op>;
  /** Loads of what addresses that a loop carries grow by, in loops with dots. */
  readonly #steps: ReadonlySet<Op>;
  /** Loads of few elements that are spread over tiles. */
  readonly #few: ReadonlySet<Op>;
  /** Loads whose layout is that of what they are combined with, while it is searched. */
  readonly #placing = new Set<Op>();
  /** Phi webs whose layout is being searched. */
  readonly #open = new Set<PhiWeb>();
  /** Those that the present search met. */
  #blockers = new Set<PhiWeb>();
  /** Where nothing was found, and the open phi webs that the search met. */
  readonly #undecided = new Map<Value | PhiWeb, ReadonlySet<PhiWeb>>();

  constructor(func: Func, options: LayoutOptions) {
    this.#options = options;
    const chunked = chunkedLoads(func, options, options.axisInfo);
    this.#anchors = anchorLayouts(func, options, options.axisInfo, chunked);
    this.#tables = tableLoads(func, options.axisInfo);
    this.#webs = phiWebsOf(func);
    for (const web of new Set(this.#webs.values())) {
      for (const source of web.sources) this.#flows.set(source, web);
    }
    const anchors = this.#anchors;
    // Warp groups do both likewise, where their operands are boxes.
    const standing = func.maps.length > 0 ? standingDots(func) : [];
    const chained = new Set([...chainedDots(func, this.#webs), ...standing]);
    this.dots = new DotsOfFunction(func, options, anchors, chained);
    this.#boxes = func.maps.length > 0
      ? computedBoxes(func, (dot) => this.dots.of(dot).a)
      : new Map();
    this.#hasFullChains = func.maps.length > 0 && multipliesMuch([...chained], this.#webs);
    this.#users = usersOf(func);
    this.#isOfNetwork = networksOf(func);
    let hasSlices = false;
    walkOps(func.body, ({ name }) => {
      hasSlices ||= name === "slice";
      this.#hasDots ||= name === "dot";
    });
    const { numWarps, target } = options;
    this.#vectors = new Set([
      ...vectorsOfComputed(func, (dot) => suitsComputed(dot, numWarps, target)),
      ...func.maps.length > 0 ? vectorsOfLeft(func) : [],
    ]);
    this.#few = this.#hasDots ? new Set() : spreadLoads(func, this.#users, 32 * numWarps);
    this.#steps = stepLoads(func, this.#flows, this.#users);
    const { dots, data } = this;
    const layoutOf = (value: Value): LinearLayout => this.of(value);
    this.stores = new StoreLayouts({ ...options, anchors, dots, data, hasSlices, layoutOf });
  }

  /** Sets the layout of a value that was made after the function was analysed. */
  settle(value: Value, layout: LinearLayout): void {
    this.#naturals.set(value, layout);
  }

  of(value: Value): LinearLayout {
    return this.#naturals.get(value) ?? runOnHeap(this.#find(value)) ??
      this.#plain(value.type.shape);
  }

  /** As {@linkcode of}, in a search. */
  *#of(value: Value): Part<LinearLayout> {
    return (yield this.#find(value)) ?? this.#plain(value.type.shape);
  }

  /** The layout that a load, store or atomic wants for all its tiles. */
  ofAccess(op: Op): LinearLayout | undefined {
    const stored = op.name === "store" ? this.stores.layoutOf(op) : undefined;
    return stored ?? runOnHeap(this.#beside(op)) ?? this.#anchorOf(op) ??
      (this.#hasElements(op) ? this.#settled(this.#ofElements(op)) : undefined);
  }

  #anchorOf(op: Op): LinearLayout | undefined {
    return this.#boxes.get(op)?.() ?? this.#besideDot(op) ?? this.#ofTable(op) ??
      this.#ofSteps(op) ?? this.#anchors.get(op);
  }

  /** For a load of what addresses that a loop carries grow by: each thread loads what its addresses need. */
  #ofSteps(op: Op): LinearLayout | undefined {
    if (!this.#steps.has(op) || this.#placing.has(op)) return undefined;
    this.#placing.add(op);
    const layout = runOnHeap(this.#addedTo(must(op.results[0], "loaded tile")));
    this.#placing.delete(op);
    return layout;
  }

  /** The layout that a value must have to be added to addresses that a loop carries. */
  *#addedTo(value: Value): Search {
    for (const user of this.#users.get(value) ?? []) {
      const [result] = user.results;
      const isTransparent = isElementwise(user) || hasTrait(user, "reshapes");
      if (!isTransparent || result === undefined) continue;
      const web = isPointer(result.type.element) ? this.#flows.get(result) : undefined;
      const layout = web === undefined
        ? yield this.#addedTo(result)
        : yield this.#ofWeb(web, result);
      if (layout !== undefined) return this.ofOperand(user, user.operands.indexOf(value), layout);
    }
    return undefined;
  }

  /** For a load from a table: each thread loads what its part of the access behind it needs. */
  #ofTable(op: Op): LinearLayout | undefined {
    const access = this.#tables.get(op);
    if (access === undefined || this.#placing.has(op)) return undefined;
    if (this.#placing.size > 0 || this.#open.size > 0) return this.#behindTable(op, access);
    // Tables of tables are chains of any length, so the last one is first.
    const chain = new Map<Op, Op>();
    for (
      let [at, next]: [Op, Op | undefined] = [op, access];
      next !== undefined && !this.#behindTables.has(at) && !chain.has(at);
      [at, next] = [next, this.#tables.get(next)]
    ) chain.set(at, next);
    for (const [load, behind] of [...chain].reverse()) {
      this.#behindTables.set(load, this.#behindTable(load, behind));
    }
    return this.#behindTables.get(op);
  }

  #behindTable(op: Op, access: Op): LinearLayout | undefined {
    if (this.#behindTables.has(op)) return this.#behindTables.get(op);
    this.#placing.add(op);
    const layout = this.ofAccess(access);
    this.#placing.delete(op);
    return layout;
  }

  /**
   * For a load of what is combined with the result of a chained dot, maybe of a vector that is spread over it: each thread
   * loads its own part. An exchange would have the warps wait for each other.
   */
  #besideDot(op: Op): LinearLayout | undefined {
    if (op.name !== "load" || this.dots.chained.size === 0) return undefined;
    return this.#spreadOver(resultOf(op), MOST_STEPS) ?? this.#computedFrom(op);
  }

  /**
   * Where warps beside the program's copy boxes, what a left operand is computed from before the loop is loaded in its layout:
   * those warps would wait in vain in an exchange.
   */
  #computedFrom(op: OpOf<"load">): LinearLayout | undefined {
    const dot = this.#hasFullChains ? dotOfComputed(op, this.#users) : undefined;
    return dot !== undefined && this.dots.chained.has(dot) ? this.dots.of(dot).a : undefined;
  }

  #spreadOver(value: Value, steps: number): LinearLayout | undefined {
    if (steps === 0) return undefined;
    for (const user of this.#users.get(value) ?? []) {
      const [result] = user.results;
      if (result === undefined) continue;
      const isSpread = isElementwise(user) || user.name === "expand_dims" ||
        user.name === "broadcast";
      if (!isSpread) continue;
      const dot = this.#chainedDot(user.operands.filter((one) => one !== value));
      const wanted = dot === undefined
        ? this.#spreadOver(result, steps - 1)
        : this.dots.of(dot).result;
      if (wanted !== undefined) return this.ofOperand(user, user.operands.indexOf(value), wanted);
    }
    return undefined;
  }

  /** The chained dot that some of these values are, or are computed from element by element. */
  #chainedDot(values: readonly Value[]): OpOf<"dot"> | undefined {
    let near = values;
    for (let steps = 0; steps <= MOST_FACTORS && near.length > 0; steps++) {
      const defs = near.flatMap(({ def }) => def ?? []);
      const dot = defs.find((def) => isOp(def, "dot") && this.dots.chained.has(def));
      if (isOp(dot, "dot")) return dot;
      near = [...new Set(defs.filter(isElementwise).flatMap((def) => def.operands.filter(isTile)))];
    }
    return undefined;
  }

  /** The layout of a load whose threads load what they combine with other data. */
  *#beside(op: Op): Search {
    const isBox = op.name === "tensor_load" && this.#vectors.has(op);
    const isBeside = isBox || (op.name === "load" &&
      (op.attrs.beside === true || this.#vectors.has(op) || this.#isRepeated(op) ||
        this.#few.has(op)));
    // Loads that are combined with each other first: one of them takes the layout of its addresses.
    if (!isBeside || this.#placing.has(op)) return undefined;
    this.#placing.add(op);
    const layout = yield this.#combined(resultOf(op));
    this.#placing.delete(op);
    if (layout === undefined || op.name !== "load") return layout;
    const anchor = this.#anchors.get(op);
    if (this.#few.has(op) && !crossesWarps(op, anchor, layout)) return anchor;
    return besideData(op, layout, anchor);
  }

  /** Whether addresses repeat along an axis and are contiguous along none, so that the load has no layout of its own. */
  #isRepeated(op: OpOf<"load">): boolean {
    const { pointer } = operandsOf(op);
    const anchor = this.#hasDots ? undefined : this.#anchors.get(op);
    if (anchor === undefined || layoutKey(anchor) !== layoutKey(this.#plain(anchor.shape))) {
      return false;
    }
    const { contiguity, constancy } = this.#options.axisInfo(pointer);
    const isEverywhere = constancy.every((run, axis) => run >= (anchor.shape[axis] ?? 1));
    return !isEverywhere && Math.max(...contiguity) === 1 && Math.max(...constancy) > 1;
  }

  /** The layout of the data that a value is combined with. */
  *#combined(value: Value): Search {
    for (const user of this.#users.get(value) ?? []) {
      const [result] = user.results;
      const isTransparent = isElementwise(user) || hasTrait(user, "reshapes");
      if (!isTransparent || result === undefined) continue;
      const other = isElementwise(user)
        ? user.operands.find((one) =>
          one !== value && isTile(one) && this.data.isData(one) && !this.data.isSpread(one)
        )
        : undefined;
      const layout = other === undefined ? yield this.#combined(result) : yield this.#find(other);
      if (layout !== undefined) return this.ofOperand(user, user.operands.indexOf(value), layout);
    }
    return undefined;
  }

  #hasElements(op: Op): boolean {
    return (isAtomic(op) || op.name === "print") && op.operands.some(isTile);
  }

  /** The result of a search that always finds a layout. */
  #settled(part: Part<LinearLayout>): LinearLayout {
    return must(runOnHeap(part), "layout");
  }

  /** The layout that an operand must have so that the result is made in `layout`. */
  ofOperand(op: Op, index: number, layout: LinearLayout | undefined): LinearLayout | undefined {
    const operand = must(op.operands[index], "operand");
    if (!isTile(operand)) return undefined;
    if (op.name === "reduce") return this.#settled(this.#alongAxis(op));
    const isTaken = op.name === "rotate" || op.name === "gather" || op.name === "histogram";
    // Each block looks up, or counts, what all have.
    if (isTaken && index === 0) return withoutBlocks(this.of(operand));
    if (layout === undefined) return this.of(operand);
    switch (op.name) {
      case "dot": {
        const { a, b, result } = this.dots.of(op);
        return [a, b, result][index];
      }
      case "permute":
        return permuteLayout(layout, invertOrder(op.attrs.order));
      case "broadcast":
      case "rotate":
      case "rotated_range":
        return unbroadcastLayout(layout, operand.type.shape);
      case "reshape":
      case "expand_dims":
        return reshapeLayout(layout, operand.type.shape);
      case "slice": {
        const whole = this.of(operand);
        const slice = sliceLayout(whole, resultOf(op).type.shape);
        return slice !== undefined && layoutKey(slice) === layoutKey(layout)
          ? whole
          : unsliceLayout(layout, operand.type.shape);
      }
      default:
        return layout;
    }
  }

  #plain(shape: readonly number[]): LinearLayout {
    return blockedLayout({
      shape,
      numWarps: this.#options.numWarps,
      numCtas: this.#options.numCtas,
      order: orderFrom(shape.length - 1, shape.length),
      vector: 1,
    });
  }

  /** The layout in which a reduction or scan along an axis takes its operand. */
  *#alongAxis(op: OpOf<"reduce" | "scan" | "exchange">): Part<LinearLayout> {
    const { value } = operandsOf(op);
    const { shape } = value.type;
    const found = op.name === "exchange" && this.#isOfNetwork(op)
      ? runsLayout({ ...this.#options, shape, axis: op.attrs.axis })
      : yield* this.#of(value);
    const layout = isSeparable(found, op.attrs.axis) ? found : this.#plain(shape);
    // Only reductions cross blocks; of what else is done along an axis, each block does the whole.
    const crosses = op.name !== "reduce" &&
      axisBits(layout, op.attrs.axis).some(({ input }) => input === "block");
    return crosses ? withoutBlocks(layout) : layout;
  }

  /** Atomics and printed values take the layout of their data; each element comes from one thread. */
  *#ofElements(op: Op): Part<LinearLayout> {
    const values = isAtomic(op) ? op.operands.slice(1) : op.operands;
    const source = values.find((operand) => isTile(operand) && this.data.isData(operand));
    return source === undefined
      ? this.#plain(must(op.operands.find(isTile), "tile operand").type.shape)
      : yield* this.#of(source);
  }

  /** Undefined where nothing decides yet: inside a phi web that is open. */
  *#find(value: Value): Search {
    const known = this.#naturals.get(value);
    if (known !== undefined || this.#isUndecided(value)) return known;
    const web = this.#webs.get(value);
    const outer = this.#blockers;
    this.#blockers = new Set();
    const layout = web === undefined ? yield* this.#compute(value) : yield* this.#ofWeb(web, value);
    if (layout === undefined) this.#undecided.set(value, this.#blockers);
    else this.#naturals.set(value, layout);
    this.#blockers = outer;
    if (layout === undefined) this.#isUndecided(value);
    return layout;
  }

  /** Whether a search that found nothing would find nothing again: the phi webs that it met are still open. */
  #isUndecided(at: Value | PhiWeb): boolean {
    const blockers = this.#undecided.get(at);
    if (blockers === undefined) return false;
    for (const web of blockers) if (!this.#open.has(web)) return false;
    for (const web of blockers) this.#blockers.add(web);
    return true;
  }

  *#compute(value: Value): Search {
    const def = must(value.def, "operation of a value outside phi webs");
    const access = (yield* this.#beside(def)) ?? this.#anchorOf(def) ??
      (this.#hasElements(def) ? yield* this.#ofElements(def) : undefined);
    if (access !== undefined) return access;
    if (def.name === "dot") return this.dots.of(def).result;
    if (def.name === "reduce") {
      return reducedLayout(yield* this.#alongAxis(def), def.attrs.axis);
    }
    if (def.name === "scan" || def.name === "exchange") return yield* this.#alongAxis(def);
    if (def.name === "gather") return yield* this.#of(operandsOf(def).index);
    if (def.name === "histogram") return withoutBlocks(this.#plain(value.type.shape));
    if (def.name === "permute") {
      const layout = yield this.#find(operandsOf(def).value);
      return layout && permuteLayout(layout, def.attrs.order);
    }
    if (def.name === "reshape" || def.name === "expand_dims") {
      const layout = yield this.#find(operandsOf(def).value);
      return layout && reshapeLayout(layout, value.type.shape);
    }
    if (def.name === "slice") {
      const layout = yield this.#find(operandsOf(def).value);
      return layout && (sliceLayout(layout, value.type.shape) ?? this.#plain(value.type.shape));
    }
    if (def.name === "broadcast" && isPaired(def)) {
      // A pair stays in the thread that has its elements.
      const layout = yield this.#find(operandsOf(def).value);
      return layout && unsliceLayout(layout, value.type.shape);
    }
    if (isElementwise(def)) {
      const sources = def.operands.filter((one) => isTile(one) && this.data.isData(one));
      // Broadcast data takes the layout of the other operand.
      const settled = sources.filter((one) => !this.data.isSpread(one));
      for (const source of settled.length > 0 ? settled : sources) {
        const layout = yield this.#find(source);
        if (layout !== undefined) return layout;
      }
      for (const source of settled.length > 0 ? sources : []) {
        const layout = yield* this.#spreadInThreads(source);
        if (layout !== undefined) return layout;
      }
      if (sources.length > 0) return undefined;
    }
    return this.#plain(value.type.shape);
  }

  /**
   * Where each thread has elements of its own that are spread, all that they are spread over: of products of each two
   * elements, which a loop adds up, nothing else says where they belong.
   */
  *#spreadInThreads({ def, type }: Value): Search {
    if (isOp(def, "convert")) {
      return yield* this.#spreadInThreads(operandsOf(def).value);
    }
    const layout = isOp(def, "broadcast") ? yield this.#find(operandsOf(def).value) : undefined;
    return layout && copyBits(layout) === 0 ? unsliceLayout(layout, type.shape) : undefined;
  }

  *#ofWeb(web: PhiWeb, value: Value): Search {
    if (this.#open.has(web)) this.#blockers.add(web);
    if (this.#open.has(web) || this.#isUndecided(web)) return undefined;
    this.#open.add(web);
    const areAddresses = isPointer(value.type.element);
    const layout = (areAddresses ? yield* this.#wanted(web) : undefined) ??
      (yield* this.#fromSources(web)) ?? (areAddresses ? undefined : yield* this.#wanted(web)) ??
      (this.#open.size > 1 ? undefined : this.#plain(value.type.shape));
    this.#open.delete(web);
    // All members get this layout, whichever was asked for first.
    if (layout !== undefined) web.members.forEach((one) => this.#naturals.set(one, layout));
    else {
      this.#undecided.set(web, new Set(this.#open));
      this.#isUndecided(web);
    }
    this.#blockers.delete(web);
    return layout;
  }

  *#fromSources(web: PhiWeb): Search {
    for (const source of web.sources) {
      if (!this.data.isData(source)) continue;
      const layout = yield this.#find(source);
      if (layout !== undefined) return layout;
    }
    return undefined;
  }

  /** What the accesses want that use members of the phi web; else what the phi webs want that members flow into. */
  *#wanted(web: PhiWeb): Search {
    return (yield* this.#wantedBy(web, false)) ?? (yield* this.#wantedBy(web, true));
  }

  *#wantedBy(web: PhiWeb, byWebs: boolean): Search {
    const seen = new Set<Value>();
    for (const member of web.members) {
      const layout = yield this.#wantedOf(member, web, byWebs, seen);
      if (layout !== undefined) return layout;
    }
    return undefined;
  }

  *#wantedOf(value: Value, web: PhiWeb, byWebs: boolean, seen: Set<Value>): Search {
    if (seen.has(value)) return undefined;
    seen.add(value);
    const into = byWebs ? this.#flows.get(value) : undefined;
    const known = into === undefined || into === web ? undefined : yield this.#ofWeb(into, value);
    if (known !== undefined) return known;
    for (const user of this.#users.get(value) ?? []) {
      const [result] = user.results;
      const index = user.operands.indexOf(value);
      // As the access itself has it: addresses that a loop carries go to where they are used.
      const access = this.#besideDot(user) ?? this.#ofSteps(user) ?? this.#anchors.get(user);
      if (access !== undefined) return access;
      if (user.name === "dot") return this.ofOperand(user, index, access);
      const isTransparent = isElementwise(user) || hasTrait(user, "reshapes");
      if (!isTransparent || result === undefined) continue;
      const wanted = yield this.#wantedOf(result, web, byWebs, seen);
      if (wanted !== undefined) return this.ofOperand(user, index, wanted);
    }
    return undefined;
  }
}

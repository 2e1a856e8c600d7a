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
import type { AttrsOf } from "../ir/ops.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait, isLookup, rowOf } from "../ir/table.ts";
import { bytesOf } from "../ir/types.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { type OnHeap, runOnHeap } from "../support/on_heap.ts";
import { fitsShared, query, type Target } from "../targets.ts";
import { anchorLayouts } from "./anchors.ts";
import { blockedLayout, orderFrom, withoutBlocks } from "./blocked.ts";
import { chainedDots } from "./chains.ts";
import { planConversion, separateWarps } from "./conversion.ts";
import { type DotLayouts, dotLayouts, type DotUse } from "./dot.ts";
import {
  axisShifts,
  invertOrder,
  type LinearLayout,
  permuteLayout,
  reshapeLayout,
  sameLayout,
  unbroadcastLayout,
} from "../linear/linear.ts";
import { axisBits, isSeparable, reducedLayout } from "./reduce.ts";
import { rotatedBytes, type Rotation, rotationOf } from "./rotate.ts";
import { type PhiWeb, phiWebsOf } from "./phi_webs.ts";
import { sliceLayout } from "./slices.ts";
import { withWarpsOf } from "./warp_local.ts";

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

/** Bytes of the narrowest asynchronous copy. */
const WORD = 4;

export const isTile = (value: Value): boolean => value.type.shape.length > 0;
const isAtomic = (op: Op): op is OpOf<"atomic" | "atomic_cas"> =>
  op.name === "atomic" || op.name === "atomic_cas";

/** Element i of the result depends on element i of the operands only. */
const isElementwise = (op: Op): boolean => hasTrait(op, "elementwise") || isLookup(op);

/** May be computed anywhere in its region, several times, or never. */
export const isRepeatable = (op: Op): boolean => rowOf(op).effect === "pure" || isLookup(op);

/** Whether a layout is that of a dot's result, or of a slice of it. */
function isPartOf(result: LinearLayout, data: LinearLayout): boolean {
  if (result.shape.length !== data.shape.length) return false;
  const part = sameLayout(result, data) ? result : sliceLayout(result, data.shape);
  return part !== undefined && sameLayout(part, data);
}

/** The layouts that operations and values of a function want. */
export class NaturalLayouts {
  readonly #options: LayoutOptions;
  readonly #anchors: ReadonlyMap<Op, LinearLayout>;
  readonly #maps: Func["maps"];
  readonly #webs: ReadonlyMap<Value, PhiWeb>;
  /** The phi web that a value from outside of it flows into. */
  readonly #flows = new Map<Value, PhiWeb>();
  readonly #users: ReadonlyMap<Value, readonly Op[]>;
  readonly #naturals = new Map<Value, LinearLayout>();
  readonly #data = new Map<Value, boolean>();
  readonly #spread = new Map<Value, boolean>();
  readonly #dots = new Map<OpOf<"dot">, DotLayouts>();
  readonly #chained: ReadonlySet<OpOf<"dot">>;
  /** Loads whose layout is that of what they are combined with, while it is searched. */
  readonly #placing = new Set<Op>();
  /** Exchanges follow each other (slice_results.ts). */
  #hasSlices = false;
  /** Phi webs whose layout is being searched. */
  readonly #open = new Set<PhiWeb>();
  /** Those that the present search met. */
  #blockers = new Set<PhiWeb>();
  /** Where nothing was found, and the open phi webs that the search met. */
  readonly #undecided = new Map<Value | PhiWeb, ReadonlySet<PhiWeb>>();

  constructor(func: Func, options: LayoutOptions) {
    this.#options = options;
    this.#maps = func.maps;
    this.#anchors = anchorLayouts(func, options, options.axisInfo);
    this.#webs = phiWebsOf(func);
    for (const web of new Set(this.#webs.values())) {
      for (const source of web.sources) this.#flows.set(source, web);
    }
    this.#chained = chainedDots(func, this.#webs);
    this.#users = usersOf(func);
    walkOps(func.body, ({ name }) => this.#hasSlices ||= name === "slice");
  }

  /** Depends on loaded data, or is carried by control flow: not to be computed twice. */
  isData(value: Value): boolean {
    const known = this.#data.get(value);
    if (known !== undefined) return known;
    const tiles = (at: Value): readonly Value[] =>
      this.#isMadeAgain(at) ? at.def.operands.filter(isTile) : [];
    for (const one of sourcesFirst(value, (at) => this.#data.has(at), tiles)) {
      const { def } = one;
      const isData = def === undefined
        ? isTile(one)
        : !this.#isMadeAgain(one) || tiles(one).some((operand) => this.#data.get(operand));
      this.#data.set(one, isData);
    }
    return must(this.#data.get(value), "known value");
  }

  #isMadeAgain(value: Value): value is Value & { readonly def: Op } {
    return value.def !== undefined && isRepeatable(value.def) && !hasTrait(value.def, "once");
  }

  /**
   * Broadcast from fewer elements, or computed from such values alone: made again in each layout, so that a
   * conversion moves the few elements. Inserting an axis of one element before a broadcast costs nothing either.
   */
  isSpread(value: Value): boolean {
    const dataOf = ({ def }: Value): readonly Value[] =>
      def !== undefined && isElementwise(def)
        ? def.operands.filter((one) => isTile(one) && this.isData(one))
        : [];
    for (const one of sourcesFirst(value, (at) => this.#spread.has(at), dataOf)) {
      const data = dataOf(one);
      const isSpread = one.def?.name === "broadcast" || one.def?.name === "expand_dims" ||
        (data.length > 0 && data.every((operand) => this.#spread.get(operand)));
      this.#spread.set(one, isSpread);
    }
    return must(this.#spread.get(value), "known value");
  }

  /** How the rows of a store should be rotated; only where its data is exchanged through shared memory anyway. */
  rotationOf(op: OpOf<"store">): Rotation | undefined {
    const layout = this.#anchors.get(op);
    // A row may belong to several blocks.
    if (layout === undefined || this.#options.numCtas > 1) return undefined;
    const { value } = operandsOf(op);
    if (!this.isData(value) || this.#ofRowsStore(op) !== undefined) return undefined;
    const bytes = bytesOf(value.type.element);
    if (planConversion(this.of(value), layout, bytes).kind !== "shared") return undefined;
    const rotation = rotationOf(op, layout, this.#options.axisInfo);
    const fits = rotation !== undefined &&
      fitsShared(this.#options.target, rotatedBytes(layout.shape, rotation.axis, bytes));
    return fits ? rotation : undefined;
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
    const stored = op.name === "store" ? this.#ofRowsStore(op) ?? this.#ofDotStore(op) : undefined;
    return stored ?? runOnHeap(this.#beside(op)) ?? this.#anchorOf(op) ??
      (this.#hasElements(op) ? this.#settled(this.#ofElements(op)) : undefined);
  }

  #anchorOf(op: Op): LinearLayout | undefined {
    return this.#besideDot(op) ?? this.#anchors.get(op);
  }

  /**
   * For a load of what is combined with the result of a chained dot, maybe of a vector that is spread over it: each thread
   * loads its own part. An exchange would have the warps wait for each other.
   */
  #besideDot(op: Op): LinearLayout | undefined {
    if (op.name !== "load" || this.#chained.size === 0) return undefined;
    return this.#spreadOver(resultOf(op), MOST_STEPS);
  }

  #spreadOver(value: Value, steps: number): LinearLayout | undefined {
    if (steps === 0) return undefined;
    for (const user of this.#users.get(value) ?? []) {
      const [result] = user.results;
      if (result === undefined) continue;
      const dot = user.operands.map(({ def }) => def)
        .find((def) => isOp(def, "dot") && this.#chained.has(def));
      const isSpread = isElementwise(user) || user.name === "expand_dims" ||
        user.name === "broadcast";
      if (!isSpread) continue;
      const wanted = isOp(dot, "dot")
        ? this.#dotOf(dot).result
        : this.#spreadOver(result, steps - 1);
      if (wanted !== undefined) return this.ofOperand(user, user.operands.indexOf(value), wanted);
    }
    return undefined;
  }

  /**
   * For a store of one element for each row of a chained dot's result, as of sums of rows: the threads that have it store
   * it. An exchange would have the warps wait for each other.
   */
  #ofRowsStore(op: OpOf<"store">): LinearLayout | undefined {
    const { value } = operandsOf(op);
    if (value.type.shape.length !== 1 || !this.isData(value)) return undefined;
    for (const dot of this.#chained) {
      const rows = reducedLayout(this.#dotOf(dot).result, 1);
      if (rows.shape[0] !== value.type.shape[0]) continue;
      const data = this.of(value);
      if (sameLayout(rows, data)) return data;
    }
    return undefined;
  }

  /** For a store of a dot's result, maybe after element-wise operations: the warps that have it store it. */
  #ofDotStore(op: OpOf<"store">): LinearLayout | undefined {
    const anchor = this.#anchors.get(op);
    const { value } = operandsOf(op);
    if (anchor === undefined || !isTile(value) || !this.isData(value)) return undefined;
    const data = this.of(value);
    const isOfDot = [...this.#dots.values()].some(({ result }) => isPartOf(result, data));
    if (!isOfDot || this.rotationOf(op) !== undefined) return undefined;
    return withWarpsOf(anchor, data);
  }

  /** How a conversion of a value uses shared memory: whether it stores fragments as matrices, and apart for each warp. */
  exchangeOf(
    value: Value,
    layout: LinearLayout,
  ): Pick<AttrsOf<"convert_layout">, "matrices" | "by_warp"> {
    if (this.#options.numCtas > 1) return {};
    const bytes = bytesOf(value.type.element);
    const from = this.of(value);
    const matrices = planConversion(from, layout, bytes, { matrices: "store" });
    const isStored = matrices.kind === "shared" && matrices.matrices !== undefined &&
      query(this.#options.target, ({ stmatrix }) => stmatrix);
    const plan = isStored ? matrices : planConversion(from, layout, bytes);
    const isByWarp = this.#hasSlices && plan.kind === "shared" &&
      separateWarps(plan, from, bytes) !== undefined;
    return { ...isStored ? { matrices: true } : {}, ...isByWarp ? { by_warp: true } : {} };
  }

  /** The layout of a load whose threads load what they combine with other data. */
  *#beside(op: Op): Search {
    const isBeside = op.name === "load" && op.attrs.beside === true;
    // Loads that are combined with each other first: one of them takes the layout of its addresses.
    if (!isBeside || this.#placing.has(op)) return undefined;
    this.#placing.add(op);
    const layout = yield this.#combined(resultOf(op));
    this.#placing.delete(op);
    return layout;
  }

  /** The layout of the data that a value is combined with. */
  *#combined(value: Value): Search {
    for (const user of this.#users.get(value) ?? []) {
      const [result] = user.results;
      const isTransparent = isElementwise(user) || hasTrait(user, "reshapes");
      if (!isTransparent || result === undefined) continue;
      const other = isElementwise(user)
        ? user.operands.find((one) =>
          one !== value && isTile(one) && this.isData(one) && !this.isSpread(one)
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
        const { a, b, result } = this.#dotOf(op);
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
      case "slice":
        return this.of(operand);
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

  #dotOf(op: OpOf<"dot">): DotLayouts {
    const { numWarps, target } = this.#options;
    const found = this.#dots.get(op) ?? dotLayouts(op, numWarps, target, this.useOf(op));
    this.#dots.set(op, found);
    return found;
  }

  /** What the layouts of a dot follow from beside its types. */
  useOf(op: OpOf<"dot">): DotUse {
    const { a, b } = operandsOf(op);
    const alongK = [this.#isLoadedAlong(a, 1), this.#isLoadedAlong(b, 0)] as const;
    const inWords = this.#isLoadedInWords(a) && this.#isLoadedInWords(b);
    return { chained: this.#chained.has(op), alongK, inWords };
  }

  /** Whether copies bring a loaded tile, maybe permuted, in words at least, which asynchronous copies need. */
  #isLoadedInWords(value: Value): boolean {
    const { def } = value;
    if (isOp(def, "permute")) return this.#isLoadedInWords(operandsOf(def).value);
    if (isOp(def, "tensor_load")) return true;
    const register = isOp(def, "load") ? this.#anchors.get(def)?.register ?? [] : [];
    const [first = 0] = register;
    const run = register.findIndex((basis, bit) => basis !== first << bit);
    const isInner = axisShifts(value.type.shape).some((shift) => first === 1 << shift);
    return isInner && bytesOf(value.type.element) << (run < 0 ? register.length : run) >= WORD;
  }

  /** Whether the elements of a loaded tile, maybe permuted, are neighbours in memory along an axis. */
  #isLoadedAlong(value: Value, axis: number): boolean {
    const { def } = value;
    if (isOp(def, "permute")) {
      return this.#isLoadedAlong(operandsOf(def).value, must(def.attrs.order[axis], "axis"));
    }
    if (isOp(def, "tensor_load")) return this.#maps[def.attrs.map]?.axes[0]?.tile === axis;
    const layout = isOp(def, "load") ? this.#anchors.get(def) : undefined;
    const first = layout?.register.find((basis) => basis !== 0);
    return first === 1 << must(axisShifts(value.type.shape)[axis], "shift of an axis");
  }

  /** The layout in which a reduction or scan along an axis takes its operand. */
  *#alongAxis(op: OpOf<"reduce" | "scan" | "exchange">): Part<LinearLayout> {
    const { value } = operandsOf(op);
    const found = yield* this.#of(value);
    const layout = isSeparable(found, op.attrs.axis) ? found : this.#plain(value.type.shape);
    // Only reductions cross blocks; of what else is done along an axis, each block does the whole.
    const crosses = op.name !== "reduce" &&
      axisBits(layout, op.attrs.axis).some(({ input }) => input === "block");
    return crosses ? withoutBlocks(layout) : layout;
  }

  /** Atomics and printed values take the layout of their data; each element comes from one thread. */
  *#ofElements(op: Op): Part<LinearLayout> {
    const values = isAtomic(op) ? op.operands.slice(1) : op.operands;
    const source = values.find((operand) => isTile(operand) && this.isData(operand));
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
    if (def.name === "dot") return this.#dotOf(def).result;
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
      return layout && must(sliceLayout(layout, value.type.shape), "slices in registers");
    }
    if (isElementwise(def)) {
      const sources = def.operands.filter((one) => isTile(one) && this.isData(one));
      // Broadcast data takes the layout of the other operand.
      const settled = sources.filter((one) => !this.isSpread(one));
      for (const source of settled.length > 0 ? settled : sources) {
        const layout = yield this.#find(source);
        if (layout !== undefined) return layout;
      }
      if (sources.length > 0) return undefined;
    }
    return this.#plain(value.type.shape);
  }

  *#ofWeb(web: PhiWeb, value: Value): Search {
    if (this.#open.has(web)) this.#blockers.add(web);
    if (this.#open.has(web) || this.#isUndecided(web)) return undefined;
    this.#open.add(web);
    const layout = (yield* this.#fromSources(web)) ?? (yield* this.#wanted(web)) ??
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
      if (!this.isData(source)) continue;
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
      const access = this.#anchors.get(user);
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

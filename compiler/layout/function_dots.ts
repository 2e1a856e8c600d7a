/** The layouts of a function's dots, by what is known of how their operands are loaded. */
import { type Func, isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { axisShifts, type LinearLayout } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import type { Target } from "../targets.ts";
import { computedLeftOf } from "./operands/computed_left.ts";
import { computedOperand } from "./operands/computed_operand.ts";
import { loopOf } from "../ir/flow.ts";
import { walkOps } from "../ir/walk.ts";
import { isMadeIn } from "./warp_group.ts";
import { type DotLayouts, dotLayouts, type DotUse } from "./dot.ts";

/** Bytes of the narrowest asynchronous copy. */
const WORD = 4;

/** Found when they are asked for. */
export class DotsOfFunction {
  readonly #options: { readonly target: Target; readonly numWarps: number };
  readonly #maps: Func["maps"];
  readonly #anchors: ReadonlyMap<Op, LinearLayout>;
  /** Dots of a result that another one takes (chains.ts). */
  readonly chained: ReadonlySet<OpOf<"dot">>;
  /** The operations beside dots that are the only ones of their loops. */
  readonly #lonely: ReadonlyMap<OpOf<"dot">, ReadonlySet<Op>>;
  readonly #found = new Map<OpOf<"dot">, DotLayouts>();

  constructor(
    func: Func,
    options: { readonly target: Target; readonly numWarps: number },
    anchors: ReadonlyMap<Op, LinearLayout>,
    chained: ReadonlySet<OpOf<"dot">>,
  ) {
    const { maps } = func;
    this.#options = options;
    this.#maps = maps;
    this.#lonely = lonelyDots(func);
    this.#anchors = anchors;
    this.chained = chained;
  }

  /** Those that were asked for. */
  get found(): Iterable<DotLayouts> {
    return this.#found.values();
  }

  /** The layouts of its operands and its result. */
  of(op: OpOf<"dot">): DotLayouts {
    const { numWarps, target } = this.#options;
    const found = this.#found.get(op) ?? dotLayouts(op, numWarps, target, this.useOf(op));
    this.#found.set(op, found);
    return found;
  }

  /** What the layouts of a dot follow from beside its types. */
  useOf(op: OpOf<"dot">): DotUse {
    const { a, b } = operandsOf(op);
    const alongK = [this.#isLoadedAlong(a, 1), this.#isLoadedAlong(b, 0)] as const;
    const areInWords = [a, b].map((value) => this.#isLoadedInWords(value));
    const beside = this.#lonely.get(op);
    const isMade = beside !== undefined &&
      [a, b].some((value, index) => isMadeIn(beside, value) && areInWords[1 - index] === true);
    const inWords = areInWords.every((one) => one);
    const computedLeft = computedLeftOf(op, this.#maps);
    return { chained: this.chained.has(op), alongK, inWords, isMade, computedLeft };
  }

  /** Whether copies bring a loaded tile, maybe permuted, in words at least, which asynchronous copies need. */
  #isLoadedInWords(value: Value): boolean {
    const def = computedOperand(value)?.load ?? value.def;
    const { element } = def?.results[0]?.type ?? value.type;
    if (isOp(def, "permute")) return this.#isLoadedInWords(operandsOf(def).value);
    if (isOp(def, "tensor_load")) return true;
    const register = isOp(def, "load") ? this.#anchors.get(def)?.register ?? [] : [];
    const [first = 0] = register;
    const run = register.findIndex((basis, bit) => basis !== first << bit);
    const isInner = axisShifts(value.type.shape).some((shift) => first === 1 << shift);
    return isInner && bytesOf(element) << (run < 0 ? register.length : run) >= WORD;
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
}

/** Dots that are the only ones of the bodies of loops, which have no loops in them. */
export function lonelyDots(func: Func): ReadonlyMap<OpOf<"dot">, ReadonlySet<Op>> {
  const found = new Map<OpOf<"dot">, ReadonlySet<Op>>();
  walkOps(func.body, (op) => {
    if (op.name !== "while") return;
    const { ops } = loopOf(op).body;
    const [dot, ...others] = ops.filter(({ name }) => name === "dot" || name === "while");
    if (isOp(dot, "dot") && others.length === 0) found.set(dot, new Set(ops));
  });
  return found;
}

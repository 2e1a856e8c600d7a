/**
 * The loads of a function that can be copies of boxes of tensors: those whose tiles go to dots of warp groups, that have a
 * view, and that may be read by the asynchronous proxy without waiting for other threads.
 */
import { AffineAnalysis } from "../contract/affine.ts";
import { loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Region, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { rootsOf } from "../ir/pointer_roots.ts";
import { hasTrait } from "../ir/table.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import { chainedDots, isStanding } from "../layout/chains.ts";
import {
  leadsOnlyTo,
  suitsComputedLeft,
  suitsComputedRight,
  vectorsOf,
} from "../layout/operands/computed_left.ts";
import { computedTile } from "../layout/operands/computed_tile.ts";
import { computedOperand } from "../layout/operands/computed_operand.ts";
import { phiWebsOf } from "../layout/phi_webs.ts";
import {
  GROUP_ROWS,
  GROUP_WARPS,
  groupType,
  suitsChain,
  suitsWarpGroups,
} from "../layout/warp_group.ts";
import type { Target } from "../targets.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { usesOf } from "./dead_rows.ts";
import { type Known, viewOf } from "./find_view.ts";
import { NoView, noView } from "./no_view.ts";
import { hasSingleDots } from "./single_dots.ts";
import type { TensorView } from "./view.ts";
import { placesViewOf } from "./windows/places_view.ts";
import { windowViewOf } from "./windows/window_view.ts";

/** A load that a dot takes a tile of, maybe permuted, and its view, or why it has none. */
export type FoundLoad =
  & { readonly load: OpOf<"load"> }
  & (
    | { readonly view: TensorView }
    | { readonly why: string }
  );

export interface ViewOptions {
  readonly target: Target;
  readonly numWarps: number;
  readonly axisInfo: AxisFacts;
}

/** The loads of operands of dots, in print order. */
export function findViews(func: Func, options: ViewOptions): readonly FoundLoad[] {
  const users = usersOf(func);
  const computed = computedLoads(func);
  const vectors = vectorLoads(func, users);
  const loads = dotLoads(func, users, computed, vectors);
  if (loads.length === 0) return [];
  const known: Known = {
    func,
    analysis: new AffineAnalysis(func, "boxes", options.axisInfo),
    axisInfo: options.axisInfo,
    uses: usesOf(func, users),
  };
  const withWindows: Known = {
    ...known,
    analysis: new AffineAnalysis(func, "windows", options.axisInfo),
  };
  const positions = positionsOf(func);
  const chained = chainedDots(func, phiWebsOf(func));
  const writes = new Writes(func, positions);
  const areSingle = hasSingleDots(func);
  return loads.map((load) => {
    try {
      const spread = vectors.get(load);
      const dots = spread !== undefined ? [spread] : groupDots(resultOf(load), users, {
        ...options,
        chained,
        computed: computed.has(load) ? load : undefined,
      });
      const position = positions.get(load);
      const single = areSingle ? singleDot(func, load, dots, chained) : undefined;
      const isStaying = !areSingle &&
        dots.every((dot) => {
          const around = positions.get(dot)?.loops.length ?? 0;
          return around > 0 && (chained.has(dot) || (isStanding(dot) && around === 1));
        });
      if (position?.loops.length === 0 && single === undefined && !isStaying) {
        noView("it is in no loop");
      }
      if (position?.isTest) noView("it is in the test of a loop, as all of a `do` loop is");
      const view = viewOfLoad(load, known, withWindows);
      // The load of a dot that gets a loop happens there.
      writes.demandNone(single ?? load, view.param);
      return { load, view };
    } catch (error) {
      if (!(error instanceof NoView)) throw error;
      return { load, why: error.message };
    }
  });
}

/** The only dot of a load, if it may get a loop (single_dots.ts). */
function singleDot(
  { body }: Func,
  load: Op,
  [dot, ...others]: readonly OpOf<"dot">[],
  chained: ReadonlySet<OpOf<"dot">>,
): OpOf<"dot"> | undefined {
  const isSingle = dot !== undefined && others.length === 0 && !chained.has(dot);
  return isSingle && body.ops.includes(load) ? dot : undefined;
}

/** The view of a load: a box, or windows. Where it has neither, what says more: why windows that it gathers have none. */
function viewOfLoad(load: OpOf<"load">, known: Known, withWindows: Known): TensorView {
  try {
    return viewOf(load, known);
  } catch (error) {
    if (!(error instanceof NoView)) throw error;
    const view = windowViewOf(load, withWindows) ?? placesViewOf(load, withWindows);
    if (view === undefined) throw error;
    return view;
  }
}

/** Loads of tiles that operands of dots are computed from. */
function computedLoads({ body }: Func): ReadonlySet<Op> {
  const found = new Set<Op>();
  walkOps(body, (op) => {
    if (op.name !== "dot") return;
    for (const operand of [operandsOf(op).a, operandsOf(op).b]) {
      const load = computedTile(operand)?.load;
      if (load !== undefined) found.add(load);
    }
  });
  return found;
}

/** Most elements of a box along an axis (PTX ISA 9.0, 5.5.2), and the fewest bytes. */
const MOST_BOX = 256;
const LEAST_BYTES = 16;

/** Loads of vectors that are spread over what one operand of a dot is computed from, and go nowhere else. */
function vectorLoads(
  { body }: Func,
  users: ReadonlyMap<Value, readonly Op[]>,
): ReadonlyMap<Op, OpOf<"dot">> {
  const found = new Map<Op, OpOf<"dot">>();
  walkOps(body, (op) => {
    if (op.name !== "dot") return;
    for (const operand of [operandsOf(op).a, operandsOf(op).b]) {
      if (computedTile(operand) === undefined) continue;
      for (const load of vectorsOf(operand)) {
        const { element, shape } = resultOf(load).type;
        const [extent = 0] = shape;
        const isBox = shape.length === 1 && extent <= MOST_BOX &&
          extent * bytesOf(element) >= LEAST_BYTES;
        if (isBox && leadsOnlyTo(op, resultOf(load), users)) found.set(load, op);
      }
    }
  });
  return found;
}

/** Loads of tiles that reach a dot through permutations, or that an operand is computed from. */
function dotLoads(
  func: Func,
  users: ReadonlyMap<Value, readonly Op[]>,
  computed: ReadonlySet<Op>,
  vectors: ReadonlyMap<Op, OpOf<"dot">>,
): readonly OpOf<"load">[] {
  const reachesDot = (value: Value): boolean =>
    users.get(value)?.some((op) =>
      op.name === "dot" || (op.name === "permute" && reachesDot(resultOf(op)))
    ) ?? false;
  const found: OpOf<"load">[] = [];
  walkOps(func.body, (op) => {
    if (op.name === "load" && (computed.has(op) || vectors.has(op) || reachesDot(resultOf(op)))) {
      found.push(op);
    }
  });
  return found;
}

/** What decides whether warp groups do a dot. */
interface DotOptions extends ViewOptions {
  readonly chained: ReadonlySet<OpOf<"dot">>;
  /** The load, if its dots take what is computed from its tile. */
  readonly computed: OpOf<"load"> | undefined;
}

/** The uses of the tile, which must be dots of warp groups. */
function groupDots(
  value: Value,
  users: ReadonlyMap<Value, readonly Op[]>,
  options: DotOptions,
): readonly OpOf<"dot">[] {
  return (users.get(value) ?? []).flatMap((op) => {
    if (op.name === "permute") return groupDots(resultOf(op), users, options);
    const isOfComputed = options.computed !== undefined &&
      (hasTrait(op, "elementwise") || hasTrait(op, "reshapes"));
    if (isOfComputed) return op.results.flatMap((result) => groupDots(result, users, options));
    if (op.name !== "dot") return noView(`its tile is also an operand of \`${op.name}\``);
    return suitsGroups(op, options)
      ? [op]
      : noView(whyNoGroups(op, options, options.chained.has(op)));
  });
}

function suitsGroups(
  dot: OpOf<"dot">,
  { chained, computed, numWarps, target }: DotOptions,
): boolean {
  if (chained.has(dot)) return suitsChain(dot, numWarps, target, [true, true]);
  const { a, b } = operandsOf(dot);
  const [left, right] = [a, b].map((operand) => computedTile(operand)?.load);
  const other = computed ?? left ?? right;
  return (computed === undefined && suitsWarpGroups(dot, numWarps, target, [true, true])) ||
    (left !== undefined && left === other && suitsComputedLeft(dot, numWarps, target, true)) ||
    (right !== undefined && right === other && suitsComputedRight(dot, numWarps, target, true));
}

/** Why warp groups do not do a dot, as far as its rows and its warps say. */
function whyNoGroups(
  dot: OpOf<"dot">,
  { numWarps, target }: ViewOptions,
  isChained: boolean,
): string {
  const rows = operandsOf(dot).a.type.shape[0] ?? 1;
  const whole = "its dot does not run on warp groups";
  if (!target.warpGroups || groupType(operandsOf(dot).a) === undefined) return whole;
  if (rows < GROUP_ROWS) return `${whole}: it has ${rows} rows, a group takes ${GROUP_ROWS}`;
  if (numWarps < GROUP_WARPS) return `${whole}: a block has ${numWarps} warps, a group four`;
  if (!isChained && dot.operands.some((value) => computedOperand(value) !== undefined)) {
    return "its dot takes an operand that threads compute";
  }
  const wanted = rows / GROUP_ROWS * GROUP_WARPS;
  return isChained && wanted !== numWarps
    ? `${whole}: chained dots of ${rows} rows take ${wanted} warps, not ${numWarps}`
    : whole;
}

/** Where an operation is. */
interface Position {
  /** In print order. */
  readonly index: number;
  /** The loops around it, outermost first. */
  readonly loops: readonly Op[];
  /** In the condition of one of them. */
  readonly isTest: boolean;
}

function positionsOf(func: Func): ReadonlyMap<Op, Position> {
  const positions = new Map<Op, Position>();
  const visit = (region: Region, loops: readonly Op[], isTest: boolean): void => {
    for (const op of region.ops) {
      positions.set(op, { index: positions.size, loops, isTest });
      const test = op.name === "while" ? loopOf(op).test : undefined;
      const inner = op.name === "while" ? [...loops, op] : loops;
      for (const one of op.regions) visit(one, inner, isTest || one === test);
    }
  };
  visit(func.body, [], false);
  return positions;
}

/** What writes memory or orders it, and where. */
class Writes {
  readonly #ops: readonly Op[];
  readonly #func: Func;
  readonly #positions: ReadonlyMap<Op, Position>;
  #rootOf: ((pointer: Value) => Value | undefined) | undefined;

  constructor(func: Func, positions: ReadonlyMap<Op, Position>) {
    this.#func = func;
    this.#positions = positions;
    this.#ops = [...positions.keys()].filter(({ name }) =>
      name === "store" || name === "atomic" || name === "atomic_cas" || name === "fence"
    );
  }

  /**
   * Copies read through another proxy, for which a write or an acquire of the program before them would have to be made
   * visible.
   */
  demandNone(load: Op, param: Value): void {
    const facts = this.#factsOf(param);
    if (facts?.readonly === true) return;
    const before = this.#ops.find((op) => this.#isBefore(op, load) && this.#touches(op, param));
    if (before !== undefined) {
      noView(`\`${before.name}\` before it may change what \`${param.name}\` points to`);
    }
  }

  #factsOf(param: Value): Func["paramFacts"][number] | undefined {
    return this.#func.paramFacts[this.#func.params.indexOf(param)];
  }

  #isBefore(op: Op, load: Op): boolean {
    const [a, b] = [this.#positions.get(op), this.#positions.get(load)];
    if (a === undefined || b === undefined) return true;
    return a.index < b.index || (a.loops[0] !== undefined && a.loops[0] === b.loops[0]);
  }

  #touches(op: Op, param: Value): boolean {
    // Atomics and fences may let the program see what others have written.
    if (op.name !== "store") return true;
    this.#rootOf ??= rootsOf(this.#func, new Set(this.#func.params));
    const root = this.#rootOf(operandsOf(op).pointer);
    if (root === undefined || root === param) return true;
    return this.#factsOf(param)?.noalias !== true && this.#factsOf(root)?.noalias !== true;
  }
}

/**
 * tensorViews: loads of dot operands become boxes of tensors.
 *
 *     %p: float16*[64, 32] = while-carried pointers     tensor_load A, %k, %m {map = 0}
 *     load %p, rm < M && rk < k                         the loop carries %k instead of %p
 *
 * The function then needs tensor maps as parameters, and means the same only under the conditions of the views: it is a
 * form of the entry, beside the plain one.
 */
import type { Requirement } from "../contract/types.ts";
import { type Func, isOp, newOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { spellTensorMap, type TensorMap } from "../ir/tensor_map.ts";
import { cloneFunc, replaceUses, restoreBody, walkOps } from "../ir/walk.ts";
import {
  suitsComputedLeft,
  suitsComputedRight,
  vectorsOf,
} from "../layout/operands/computed_left.ts";
import { computedTile, tileBehind } from "../layout/operands/computed_tile.ts";
import { chainedDots } from "../layout/chains.ts";
import { lonelyDots } from "../layout/function_dots.ts";
import { phiWebsOf } from "../layout/phi_webs.ts";
import { suitsRegisters, suitsTurned } from "../layout/operands/register_operand.ts";
import { suitsChain, suitsWarpGroups } from "../layout/warp_group.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import { must } from "../support/bug.ts";
import { axisAnalysis } from "../tile/axis.ts";
import { cse } from "../tile/cse.ts";
import { dropDead } from "../tile/drop_dead.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { Coordinates, sitesOf } from "./coordinates.ts";
import { testFirst, testsLast } from "./first_tests.ts";
import { hasLoopsInRow, joinLoops } from "./joined_loops.ts";
import { findViews, type FoundLoad, type ViewOptions } from "./find_views.ts";
import { hasRepeats, loadOnce } from "./repeated_loads.ts";
import { hasSingleDots, putInLoops } from "./single_dots.ts";
import type { TensorView } from "./view.ts";

export const tensorViews: Pass<TargetContext> = {
  name: "tensor-views",
  doc:
    "loads of dot operands become boxes of tensors, in the form of an entry that has tensor maps",
  run: (func, context) => {
    if (context.form !== "tensor" && context.form !== "turns") return false;
    return toTensorForm(func, context) !== undefined;
  },
};

/** Element types that warp groups multiply; float only as TF32. */
const ELEMENTS: ReadonlySet<ScalarName> = new Set([
  ...["float16", "bfloat16", "float32"] as const,
  ...["int8", "uint8", "float8e4", "float8e5"] as const,
  // Of which operands are computed.
  ...["int32", "uint32"] as const,
]);

/** A load with its view. */
interface Boxed {
  readonly load: OpOf<"load">;
  readonly view: TensorView;
}

/**
 * Edits the function as the pass does. The conditions under which it then means the same; undefined: no load has become
 * a box, and nothing has changed.
 */
export function toTensorForm(
  func: Func,
  options: Pick<ViewOptions, "target" | "numWarps">,
): readonly Requirement[] | undefined {
  const once = hasRepeats(func) ? tryForm(func, options, true) : undefined;
  return once ?? tryForm(func, options, false);
}

/** `isOnce`: loads that repeat elements along an axis load each once, all of which must become boxes. */
function tryForm(
  func: Func,
  { target, numWarps }: Pick<ViewOptions, "target" | "numWarps">,
  isOnce: boolean,
): readonly Requirement[] | undefined {
  const before = isOnce || changesLoops(func) ? cloneFunc(func) : undefined;
  if (isOnce) loadOnce(func);
  const first = readyLoops(func);
  const boxes = boxesOf(func, { target, numWarps, axisInfo: axisAnalysis(func) });
  if (boxes.length === 0 || (isOnce && !areShapedBoxed(func, boxes))) {
    if (before !== undefined) restoreBody(func, before);
    return undefined;
  }
  rewrite(func, boxes);
  if (hasSingleDots(func)) putInLoops(func);
  cse.run(func);
  dropDead.run(func);
  const all = [...first, ...boxes.flatMap(({ view }) => view.when)];
  return [...new Map(all.map((one) => [one.text, one])).values()];
}

/** Whether all loads of tiles that become operands of other shapes are boxes. */
function areShapedBoxed(func: Func, boxes: readonly Boxed[]): boolean {
  const boxed = new Set<Op>(boxes.map(({ load }) => load));
  let areAll = true;
  walkOps(func.body, (op) => {
    if (op.name !== "dot") return;
    for (const operand of [operandsOf(op).a, operandsOf(op).b]) {
      const tile = tileBehind(operand);
      areAll &&= tile === undefined || tile.shapings.length === 0 || boxed.has(tile.load);
    }
  });
  return areAll;
}

/** Whether loops may have to be changed, so that operands of their dots can be copied. */
const changesLoops = (func: Func): boolean => testsLast(func) || hasLoopsInRow(func);

/** Changes loops so that operands of their dots can be copied; gives what is demanded of launches for that. */
export function readyLoops(func: Func): readonly Requirement[] {
  return [
    ...testsLast(func) ? testFirst(func) : [],
    ...hasLoopsInRow(func) ? joinLoops(func) : [],
  ];
}

/** Loads that become boxes. */
function boxesOf(func: Func, options: ViewOptions): readonly Boxed[] {
  return decideLoads(func, options).flatMap((one) => "view" in one ? [one] : []);
}

/** A load of a dot operand: the view that makes it a tensor copy, or why it is none. */
export type DecidedLoad = FoundLoad;

/** Loads of dot operands: those with views become boxes where warp groups take the other operand too, from a box or a load. */
export function decideLoads(func: Func, options: ViewOptions): readonly DecidedLoad[] {
  const found = findViews(func, options).map((one): FoundLoad =>
    "why" in one || ELEMENTS.has(one.view.element)
      ? one
      : { load: one.load, why: `dots of ${one.view.element} are faster without` }
  );
  const boxed = new Set(pairedBoxes(func, options, found).map(({ load }) => load));
  return found.map((one) =>
    "why" in one || boxed.has(one.load)
      ? one
      : { load: one.load, why: "warp groups cannot take both operands of its dot from copies" }
  );
}

function pairedBoxes(
  func: Func,
  options: ViewOptions,
  found: readonly FoundLoad[],
): readonly Boxed[] {
  let boxes = found.flatMap((one): Boxed[] => "view" in one ? [one] : []);
  const areSingle = hasSingleDots(func);
  const chained = boxes.length === 0 ? new Set() : chainedDots(func, phiWebsOf(func));
  const lonely = boxes.length === 0 ? undefined : lonelyDots(func);
  // What follows a loop of a chain has operands in shared memory, but no slots.
  const outside = new Set(func.body.ops);
  for (let count = -1; count !== boxes.length && boxes.length > 0;) {
    count = boxes.length;
    const viewed = new Map(boxes.map(({ load, view }) => [load, view]));
    const mixed = new Set<OpOf<"load">>();
    const inChains: OpOf<"load">[] = [];
    let isBroken = false;
    walkOps(func.body, (op) => {
      if (op.name !== "dot") return;
      const { a, b } = operandsOf(op);
      const computed = [a, b].map((operand) => computedTile(operand)?.load);
      const around = [a, b].flatMap((operand, index) =>
        computed[index] === undefined ? [] : [computed[index], ...vectorsOf(operand)]
      );
      if (around.some((load) => load.name === "load" && viewed.has(load))) {
        const beside = chained.has(op) ? undefined : lonely?.get(op);
        const isTaken = beside !== undefined && addsUp(op) &&
          takesComputed(op, beside, viewed, options);
        if (isTaken) return;
        for (const load of around) if (load.name === "load") mixed.add(load);
      }
      const loads = [a, b].map(loadOf);
      const [left, right] = loads.map((load) => load && viewed.get(load));
      const isChained = chained.has(op);
      if (isChained && !areSingle && outside.has(op)) return;
      if (isChained) inChains.push(...loads.flatMap((load) => load ?? []));
      // What a chain computes comes from registers.
      const hasLeft = left !== undefined || (isChained && loads[0] === undefined);
      if (hasLeft && right !== undefined) {
        const alongK = [
          left === undefined || runsAlong(a, left, 1),
          runsAlong(b, right, 0),
        ] as const;
        const ways = isChained ? [suitsChain] : [suitsWarpGroups, suitsRegisters, suitsTurned];
        if (ways.some((suits) => suits(op, options.numWarps, options.target, alongK))) return;
      }
      // Threads gather the other operand, in whichever order it lies, an iteration ahead.
      const isGathered = !areSingle && loads.every((load) => load !== undefined) &&
        (left === undefined) !== (right === undefined);
      const { numWarps, target } = options;
      if (!isChained && isGathered && suitsWarpGroups(op, numWarps, target, [false, false])) return;
      isBroken ||= isChained;
      for (const load of loads) if (load !== undefined) mixed.add(load);
    });
    // The dots of a chain are all done in one way.
    if (isBroken) { for (const load of inChains) mixed.add(load); }
    boxes = boxes.filter(({ load }) => !mixed.has(load));
  }
  return boxes;
}

/**
 * Whether warp groups can do a dot with one operand that is a box and one that threads compute from a box: in either order of
 * bytes, of others along k.
 */
function takesComputed(
  dot: OpOf<"dot">,
  /** The operations of its loop. */
  beside: ReadonlySet<Op>,
  viewed: ReadonlyMap<OpOf<"load">, TensorView>,
  { numWarps, target }: ViewOptions,
): boolean {
  const { a, b } = operandsOf(dot);
  const viewOf = (load: Op | undefined): TensorView | undefined =>
    isOp(load, "load") && beside.has(load) ? viewed.get(load) : undefined;
  const [left, right] = [a, b].map((operand) => viewOf(computedTile(operand)?.load));
  const [boxA, boxB] = [a, b].map((operand) => viewOf(loadOf(operand)));
  if (left !== undefined && boxB !== undefined) {
    return (runsAlong(a, left, 1) || mayRunAcross(left)) &&
      suitsComputedLeft(dot, numWarps, target, runsAlong(b, boxB, 0));
  }
  return right !== undefined && boxA !== undefined &&
    (runsAlong(b, right, 0) || mayRunAcross(right)) &&
    suitsComputedRight(dot, numWarps, target, runsAlong(a, boxA, 1));
}

/** Whether a dot adds to a sum that its loop carries. */
const addsUp = (dot: OpOf<"dot">): boolean => operandsOf(dot).sum.def === undefined;

/** Of bytes two rows are read at once, of words as many as a thread has (operands/register_operand.ts). */
const mayRunAcross = ({ element }: TensorView): boolean =>
  SCALARS[element].bits === 8 || SCALARS[element].bits === 32;

/** Whether neighbours in memory are neighbours along an axis of an operand. */
function runsAlong(operand: Value, view: TensorView, axis: number): boolean {
  let at = axis;
  for (let { def } = operand; def?.name === "permute"; { def } = operandsOf(def).value) {
    at = def.attrs.order[at] ?? at;
  }
  return view.axes[0]?.tile === at;
}

function loadOf(value: Value): OpOf<"load"> | undefined {
  let { def } = value;
  while (def?.name === "permute") ({ def } = operandsOf(def).value);
  return def?.name === "load" ? def : undefined;
}

function rewrite(func: Func, boxes: readonly Boxed[]): void {
  const sites = sitesOf(func);
  const coordinates = new Coordinates(func, sites);
  const maps = new Map<string, number>();
  const list: TensorMap[] = [...func.maps];
  const replaced = new Map<Value, Value>();
  for (const { load, view } of boxes) {
    const { type, name } = resultOf(load);
    const map: TensorMap = {
      param: must(view.param.name, "name of a parameter"),
      // What only dots in mode tf32 use: others have no boxes.
      element: view.element === "float32" ? "tfloat32" : view.element,
      axes: view.axes.map(({ extent, stride, tile, run, windows }) => ({
        extent,
        stride,
        tile,
        run,
        windows,
      })),
    };
    const key = `${spellTensorMap(map)} ${type.shape.join()}`;
    const index = maps.get(key) ?? list.push(map) - 1;
    maps.set(key, index);
    const site = must(sites.get(load), "site of a load");
    const operands = [view.param, ...coordinates.ofView(site, view, type.shape)];
    const made = newOp(func, "tensor_load", operands, [type], load.span, { map: index });
    if (name !== undefined) resultOf(made).name = name;
    site.region.ops.splice(site.region.ops.indexOf(load), 1, made);
    replaced.set(resultOf(load), resultOf(made));
  }
  func.maps = list;
  replaceUses(func, replaced);
}

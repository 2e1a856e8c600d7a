/** Which rows a form has in a ring (ring_rows.ts), and what is known of them. */
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { rowOf } from "../../ir/table.ts";
import { bytesOf, pointeeBytes } from "../../ir/types.ts";
import { maskTerms } from "../../layout/rows/prefix_mask.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { type LinearLayout, product, sameLayout } from "../../linear/linear.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import { fitsShared } from "../../targets.ts";
import type { TargetContext } from "../../tile/pass.ts";
import { aligned, sharedBytes } from "../allocate_shared.ts";
import { ScheduleBuilder } from "../builder.ts";
import { ownAccess } from "../own_copies.ts";
import { derivedFrom, sectionsOf } from "../row_loads.ts";
import { isWeight } from "../weights.ts";
import { FirstElements, isSameScalar, staysFalse } from "./row_scalars.ts";

/** Rows that a block has: one comes, one is computed, one goes. */
export const SLOTS = 3;
/** A slot begins where its row does modulo so many bytes. */
export const LINE = 128;

/** The rows that a program loads and stores, and the weights that it loads beside them. */
export interface PassingRows {
  readonly load: OpOf<"load">;
  readonly store: OpOf<"store">;
  readonly weights: readonly OpOf<"load">[];
  /** The scalar that bounds rows; undefined: they fill the tile. */
  readonly bound: Value | undefined;
  /** Masks of tiles that are the same along a row: the row is there. */
  readonly rows: readonly Value[];
}

/** The only rows of a program that does nothing else with memory but to load weights and to store what belongs to a row. */
export function passingRows({ body }: Func, axisInfo: AxisFacts): PassingRows | undefined {
  const weights: OpOf<"load">[] = [];
  const loads: OpOf<"load">[] = [];
  const stores: OpOf<"store">[] = [];
  for (const op of body.ops) {
    if (op.regions.length > 0) return undefined;
    if (op.name === "load") (isWeight(op) ? weights : loads).push(op);
    else if (op.name === "store") stores.push(op);
    else if (!["pure", "control"].includes(rowOf(op).effect) && op.name !== "barrier") {
      return undefined;
    }
  }
  const [load, ...others] = loads;
  if (load === undefined || others.length > 0 || load.attrs.modifiers.length > 0) return undefined;
  const { shape } = resultOf(load).type;
  const isTile = ({ type }: Value): boolean => type.shape.join() === shape.join();
  const [store, ...more] = stores.filter((op) => isTile(operandsOf(op).pointer));
  if (store === undefined || more.length > 0) return undefined;
  const isLoadedOnce = ({ other }: { readonly other: Value | undefined }): boolean =>
    other === undefined || madeBy(other, "constant") !== undefined;
  if (!weights.every((op) => isTile(resultOf(op)) && isLoadedOnce(operandsOf(op)))) {
    return undefined;
  }
  const terms = [load, store, ...weights].map((op) => maskTerms(operandsOf(op).mask, axisInfo));
  const [first] = terms;
  if (
    first === undefined || !terms.every((one) => one !== undefined && one.bound === first.bound)
  ) {
    return undefined;
  }
  const isRow = [load, store].every((op) => {
    const { pointer } = operandsOf(op);
    return product(shape) === shape.at(-1) &&
      pointeeBytes(pointer) === pointeeBytes(operandsOf(load).pointer) &&
      (axisInfo(pointer).contiguity.at(-1) ?? 1) >= product(shape);
  });
  return isRow ? { load, store, weights, bound: first.bound, rows: first.rows } : undefined;
}

/** Elements of a block, if each block has a run of them, one after the other, and all threads have their own. */
function runOfBlock({ load, store, weights }: PassingRows): number | undefined {
  const layout = layoutOf(operandsOf(load).pointer);
  const all = [store, ...weights].map((op) => layoutOf(operandsOf(op).pointer));
  if (!all.every((one) => sameLayout(one, layout))) return undefined;
  const own = ownBases(layout);
  const extent = 2 ** own.length;
  const isRun = own.toSorted((a, b) => a - b).every((basis, bit) => basis === 1 << bit) &&
    layout.block.every((basis, bit) => basis === extent << bit);
  return isRun ? extent : undefined;
}

const ownBases = ({ register, lane, warp }: LinearLayout): number[] => [
  ...register,
  ...lane,
  ...warp,
];

export interface RingPlan extends PassingRows {
  /** Elements of a block. */
  readonly extent: number;
  readonly elementBytes: number;
  /** Bits of the register's number within what a thread has side by side of a row at 16 bytes. */
  readonly vectorBits: number;
  /** The first elements of rows in memory, and whether there is a row: scalars. */
  readonly from: Value;
  readonly to: Value;
  readonly isThere: Value;
  /** Which elements of the load, and of each load of weights, there are in any row; undefined: all. */
  readonly inAny: Value | undefined;
  readonly inRow: readonly (Value | undefined)[];
  /** Whether weights are wanted before the first reduction. */
  readonly weighsFirst: boolean;
  /** The 32-bit registers of a thread that may be in use from one row to the next: others are of the row that comes. */
  readonly most: number;
}

/** What is passing; undefined where something else happens. */
export function planRing(func: Func, context: TargetContext): RingPlan | undefined {
  const axisInfo = context.axisInfo();
  const passing = passingRows(func, axisInfo);
  const extent = passing && runOfBlock(passing);
  if (passing === undefined || extent === undefined) return undefined;
  const { load, store, weights } = passing;
  const elementBytes = bytesOf(resultOf(load).type.element);
  const slotBytes = SLOTS * (extent * elementBytes + LINE) + LINE;
  // What reductions exchange is needed twice, and of the first one before the loop too.
  if (!fitsShared(context.target, 3 * aligned(sharedBytes(func)) + slotBytes)) return undefined;
  const [beginning, ...others] = sectionsOf(func);
  if (beginning?.includes(load) !== true || !others.at(-1)?.includes(store)) return undefined;
  const weighted = derivedFrom(func, (op) => weights.some((one) => one === op));
  const weighsFirst = beginning.at(-1)?.operands.some((value) => weighted.has(value)) ?? false;
  const [atLoad, atStore]: [Op[], Op[]] = [[], []];
  const ofRow = (op: OpOf<"load" | "store">, out: Op[] = []): readonly (Value | undefined)[] => {
    const first = new FirstElements(func, out);
    return maskTerms(operandsOf(op).mask, axisInfo)?.rows.map((row) => first.of(row)) ??
      [undefined];
  };
  const from = new FirstElements(func, atLoad).of(operandsOf(load).pointer);
  const to = new FirstElements(func, atStore).of(operandsOf(store).pointer);
  const conditions = ofRow(load, atLoad);
  if (from === undefined || to === undefined) return undefined;
  if (!conditions.every((one) => one !== undefined && staysFalse(one))) return undefined;
  const covers = (
    all: readonly (Value | undefined)[],
    some: readonly (Value | undefined)[],
  ): boolean =>
    some.every((one) =>
      one !== undefined && all.some((other) => other && isSameScalar(one, other))
    );
  // What is stored says whether there is a row, and weights are there where rows are.
  const stores = func.body.ops.filter((op) => op.name === "store");
  if (!stores.every((op) => covers(ofRow(op), conditions))) return undefined;
  // A row that is loaded is stored.
  if (!covers(conditions, ofRow(store))) return undefined;
  if (!weights.every((op) => covers(conditions, ofRow(op)))) return undefined;
  const build = new ScheduleBuilder(func, atLoad, load.span);
  const isThere = conditions.reduce<Value>(
    (all, one) => one === undefined ? all : build.both(all, one),
    build.true(),
  );
  const inAny = withoutRows(operandsOf(load).mask, axisInfo);
  const inRow = weights.map((op) => withoutRows(operandsOf(op).mask, axisInfo));
  const { ops } = func.body;
  ops.splice(ops.indexOf(load), 0, ...atLoad);
  ops.splice(ops.indexOf(store), 0, ...atStore);
  const vectorBits = ownAccess(load, axisInfo)?.vectorBits ?? 0;
  const most = (context.maxRegisters ?? 0) / 2;
  return {
    ...passing,
    extent,
    elementBytes,
    vectorBits,
    from,
    to,
    isThere,
    inAny,
    inRow,
    weighsFirst,
    most,
  };
}

/** The part of a mask that is not the same all along a row. */
function withoutRows(mask: Value | undefined, axisInfo: AxisFacts): Value | undefined {
  if (mask === undefined || maskTerms(mask, axisInfo)?.bound === undefined) return undefined;
  const { def } = mask;
  if (def?.name !== "and") return mask;
  const { left, right } = operandsOf(def);
  return withoutRows(left, axisInfo) ?? withoutRows(right, axisInfo);
}

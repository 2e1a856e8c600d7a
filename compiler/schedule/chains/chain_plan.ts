/**
 * Which loops have several dots, or one whose operand a is computed, that warp groups can do (chain_loop.ts), and the
 * buffers that they need.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Region, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import type { Box } from "../../ir/tensor_map.ts";
import type { IrType } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import { isComputedLeft } from "../../layout/operands/computed_left.ts";
import { isStanding } from "../../layout/chains.ts";
import { tileBytes } from "../../layout/tiles.ts";
import { ofAxis } from "../../linear/linear.ts";
import { suitsChain, suitsWarpGroups } from "../../layout/warp_group.ts";
import { must } from "../../support/bug.ts";
import { query } from "../../targets.ts";
import type { TargetContext } from "../../tile/pass.ts";
import { type CopiedPrograms, programsOf } from "../warp_groups/copied_programs.ts";
import { isGrouped } from "../warp_groups/group_dot.ts";
import { conditionsOfLoads, type GuardedDot, guardedDots, hoistBoxes } from "./guarded_dots.ts";
import { hasEffects, stagesOf } from "../pipeline/loop_loads.ts";
import { type AddressState, addressState } from "../pipeline/prefetch.ts";
import { BARRIER, BARRIER_BYTES } from "../staging_area.ts";
import { boxedSlot } from "../warp_groups/tensor_loop.ts";

/** Slots that hide the latency of memory. */
const DEFAULT_SLOTS = 2;
/**
 * The same of a loop of one dot, which has one box or two: largest products of 16,384 and 8192 rows of 128 halves at 682 and,
 * in two slots, 649 TFLOP/s (H100).
 */
const STANDING_SLOTS = 3;
/**
 * The same of products that share an operand, whose warps fill the registers of a multiprocessor: gate and other half of 4096 x 8192
 * x 2048 in tiles of 128 x 64 at 297, 350 and 378 TFLOP/s in two, three and four slots (H200).
 */
const SHARED_SLOTS = 4;
const SHARED_WARPS = 8;
/** Dots under conditions keep the slots of an iteration until the next one has begun. */
const LEAST_GUARDED_SLOTS = 2;

/** A box that dots read, or a vector that each iteration loads (chain_vectors.ts). */
export type BoxPlan = TensorBox | VectorBox;

interface Copied {
  /** Of its buffer. */
  readonly type: IrType;
  readonly bytes: number;
  readonly isRing: boolean;
  /** What its copies are computed from. */
  readonly from: readonly Value[];
}

export interface TensorBox extends Copied {
  readonly kind: "tensor";
  readonly load: OpOf<"tensor_load">;
  readonly copied: Box;
  /** The condition under which its dot is done, if only one reads it. */
  readonly when?: Value;
}

export interface VectorBox extends Copied {
  readonly kind: "vector";
  readonly load: OpOf<"load">;
  /** The pointer to its first element. */
  readonly first: Value;
  /** The box that it comes with: it has no barriers of its own. */
  readonly beside: TensorBox;
}

/** An operand in slots, and which axis of it is k. */
export interface SlotOperand {
  readonly box: TensorBox;
  readonly depth: number;
}

export interface ChainDot {
  readonly dot: OpOf<"dot">;
  /** Undefined: it is computed. */
  readonly a: SlotOperand | undefined;
  readonly b: SlotOperand;
}

export interface ChainPlan {
  readonly func: Func;
  readonly loop: OpOf<"while">;
  readonly dots: readonly ChainDot[];
  /** All dots in the same order, if they are under conditions; else none. */
  readonly guarded: readonly GuardedDot[];
  readonly boxes: readonly BoxPlan[];
  readonly carried: AddressState;
  readonly slots: number;
  readonly numWarps: number;
  /** Where blocks do several programs in turn: rings go on from one to the next. */
  readonly programs: CopiedPrograms | undefined;
}

/** Slots of a box from outside where blocks do several programs in turn: the next program's comes during this one. */
const PROGRAM_SLOTS = 2;

/** Where a box is, and the barriers of its slots. */
export interface Ring {
  readonly tiles: Value;
  readonly full: Value;
  /** Undefined: it is copied once. */
  readonly empty: Value | undefined;
  /** The slot of a box from outside; undefined: it has one. */
  readonly slot: Value | undefined;
}

export type Rings = ReadonlyMap<BoxPlan, Ring>;

/** A plan has a ring for each of its boxes (`ringsOf` of chain_loop.ts). */
export const ringOf = (rings: Rings, box: BoxPlan): Ring => must(rings.get(box), "ring of a box");

/** The vectors that come with a box. */
export const vectorsBeside = ({ boxes }: ChainPlan, box: BoxPlan): VectorBox[] =>
  boxes.filter((one) => one.kind === "vector").filter(({ beside }) => beside === box);

/** The boxes that a dot reads. */
export function boxesOf({ a, b }: ChainDot): TensorBox[] {
  return [...new Set([...a === undefined ? [] : [a.box], b.box])];
}

/** A buffer that a plan needs. */
export interface NeededBuffer {
  readonly type: IrType;
  readonly slots: number;
  readonly slotBytes: number;
}

/** How warp groups do the dots of a loop of the function's body, or of its programs; undefined where they do not. */
export function planChain(
  func: Func,
  loop: OpOf<"while">,
  context: TargetContext,
  around?: OpOf<"while">,
): ChainPlan | undefined {
  const { body } = loopOf(loop);
  const home = around === undefined ? func.body : loopOf(around).body;
  const guarded = guardedDots(func, loop);
  const isGuarded = guarded.length > 0;
  const dots = isGuarded
    ? guarded.map(({ dot }) => dot)
    : body.ops.filter((op) => op.name === "dot");
  const isNested = dots.length !== countDots(body) || !home.ops.includes(loop);
  if (dots.length === 0 || isNested || hasEffects(loop)) return undefined;
  // What is computed from a box is no result of a dot (warp_groups/computed_left.ts).
  if (dots.some(isComputedLeft)) return undefined;
  hoistBoxes(loopOf(loop), guarded);
  const boxes = new Map<OpOf<"tensor_load">, TensorBox>();
  const found: Found = { func, home, body, boxes, conditions: conditionsOfLoads(guarded) };
  const planned: ChainDot[] = [];
  for (const dot of dots) {
    const { a, b } = operandsOf(dot);
    const left = slotOperand(found, a, 1);
    const right = slotOperand(found, b, 0);
    const alongK = [left, right].map((one) => one === undefined || isAlongDepth(func, one));
    if (isGuarded && left === undefined) return undefined;
    const suitsGroups = isGuarded ? suitsWarpGroups : suitsChain;
    const suits = suitsGroups(dot, context.numWarps, context.target, [
      alongK[0] === true,
      alongK[1] === true,
    ]);
    if (right === undefined || !suits || !isGrouped(dot)) return undefined;
    planned.push({ dot, a: left, b: right });
  }
  // One dot of loaded tiles that adds to a sum has no chain (warp_groups/tensor_loop.ts).
  const isOne = !isGuarded && planned.length === 1 && planned.every(({ a }) => a !== undefined);
  const stays = isOne && dots.every(isStanding);
  if (isOne && !stays) return undefined;
  const list = [...boxes.values()];
  const rings = list.filter(({ isRing }) => isRing);
  const carried = rings.length === 0
    ? undefined
    : addressState(loop, rings.flatMap(({ from }) => from));
  if (carried === undefined) return undefined;
  const programs = around &&
    programsOf(around, loop, carried, {
      inLoop: rings.flatMap(({ from }) => from),
      outside: list.filter(({ isRing }) => !isRing).flatMap(({ from }) => from),
    });
  if (around !== undefined && programs === undefined) return undefined;
  const areShared = !isGuarded && context.numWarps >= SHARED_WARPS &&
    planned.every(({ a }) => a !== undefined);
  const wanted = stagesOf(loop, context) ??
    (stays ? STANDING_SLOTS : areShared ? SHARED_SLOTS : DEFAULT_SLOTS);
  const sum = (of: readonly BoxPlan[]): number => of.reduce((bytes, one) => bytes + one.bytes, 0);
  const outerSlots = around === undefined ? 1 : PROGRAM_SLOTS;
  const fixed = (sum(list) - sum(rings)) * outerSlots + BARRIERS_BYTES;
  const slots = query(
    context.target,
    ({ sharedBytesPerBlock }) =>
      Math.min(wanted, Math.floor((sharedBytesPerBlock - fixed) / sum(rings))),
  );
  const { numWarps } = context;
  return slots < (isGuarded ? LEAST_GUARDED_SLOTS : 1)
    ? undefined
    : { func, loop, dots: planned, guarded, boxes: list, carried, slots, numWarps, programs };
}

/** More than all barriers of a loop. */
const BARRIERS_BYTES = 4096;

function countDots(region: Region): number {
  let count = 0;
  walkOps(region, ({ name }) => {
    if (name === "dot") count++;
  });
  return count;
}

/** The boxes of a loop's dots, and the conditions under which some are read. */
interface Found {
  readonly func: Func;
  /** The loop is in it. */
  readonly home: Region;
  readonly body: Region;
  readonly boxes: Map<OpOf<"tensor_load">, TensorBox>;
  readonly conditions: ReadonlyMap<Op, Value>;
}

/** The box that an operand is; `axis` of the operand is k. */
function slotOperand(
  { func, home, body, boxes, conditions }: Found,
  operand: Value,
  axis: number,
): SlotOperand | undefined {
  let depth = axis;
  let { def } = operand;
  while (def?.name === "permute" || def?.name === "convert_layout") {
    if (def.name === "permute") depth = ofAxis(def.attrs.order, depth);
    ({ def } = operandsOf(def).value);
  }
  if (def?.name !== "tensor_load") return undefined;
  const known = boxes.get(def);
  if (known !== undefined) return { box: known, depth };
  const slot = boxedSlot(func, def);
  const isRing = body.ops.includes(def);
  if (slot === undefined || (!isRing && !home.ops.includes(def))) return undefined;
  const { type } = resultOf(def);
  const { shared, copied } = slot;
  const when = isRing ? conditions.get(def) : undefined;
  const box: TensorBox = {
    kind: "tensor",
    load: def,
    from: when === undefined ? def.operands : [...def.operands, when],
    ...when === undefined ? {} : { when },
    type: { element: type.element, shape: type.shape, shared },
    copied,
    bytes: tileBytes(type),
    isRing,
  };
  boxes.set(def, box);
  return { box, depth };
}

function isAlongDepth({ maps }: Func, { box, depth }: SlotOperand): boolean {
  return maps[box.load.attrs.map]?.axes[0]?.tile === depth;
}

function slotsOf({ slots, programs }: ChainPlan, { isRing }: BoxPlan): number {
  if (isRing) return slots;
  return programs === undefined ? 1 : PROGRAM_SLOTS;
}

/** Whether the slots of a box are filled again and again. */
export const isRefilled = ({ programs }: ChainPlan, { isRing }: BoxPlan): boolean =>
  isRing || programs !== undefined;

/** Buffers in the order in which `rewriteChain` takes them: tiles first, which must lie at multiples of swizzles. */
export function buffersOf(plan: ChainPlan): readonly NeededBuffer[] {
  const barriers = (box: BoxPlan): NeededBuffer => ({
    type: BARRIER,
    slots: slotsOf(plan, box),
    slotBytes: BARRIER_BYTES,
  });
  const counted = plan.boxes.filter(({ kind }) => kind === "tensor");
  return [
    ...plan.boxes.map((box): NeededBuffer => ({
      type: box.type,
      slots: slotsOf(plan, box),
      slotBytes: box.bytes,
    })),
    ...counted.map(barriers),
    ...counted.filter((box) => isRefilled(plan, box)).map(barriers),
  ];
}

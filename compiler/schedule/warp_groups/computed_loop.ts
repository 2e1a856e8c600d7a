/**
 * The loop of warp_group_loop.ts with operands that are computed from loaded tiles (layout/operands/computed_operand.ts). Tiles are
 * copied into a ring of their own, or into that of the operand if their elements have its size. When the copies of an
 * iteration are there, each thread computes its part of the operand from what it has copied itself, which needs no barrier, and
 * stores it in the slot that the dot reads.
 */
import { copyOps } from "../../ir/copy_ops.ts";
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { bytesOf, type IrType } from "../../ir/types.ts";
import { computedOperand } from "../../layout/operands/computed_operand.ts";
import { fillsMultiprocessor, layoutOf, tileBytes } from "../../layout/tiles.ts";
import { log2, product, sameLayout } from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import { times } from "../../support/times.ts";
import { query } from "../../targets.ts";
import type { TargetContext } from "../../tile/pass.ts";
import { aligned } from "../allocate_shared.ts";
import type { ScheduleBuilder } from "../builder.ts";
import {
  GROUP_STAGES,
  isCopyable,
  prefetchableLoad,
  RESERVED_BYTES,
  slotsFor,
  stagesOf,
  stateOf,
  sumRegisters,
} from "../pipeline/loop_loads.ts";
import type { InBuffer, LoadedOperand, StagedOperand } from "../staged_operand.ts";
import type { StagingArea } from "../staging_area.ts";
import type { GroupDot } from "./group_dot.ts";
import { LEAST_OWN_SLOTS, LEAST_SLOTS, pipelineGroupDot, planGroupDot } from "./warp_group_loop.ts";

/** How to pipeline a loop with such operands; undefined where there are none, or copies cannot bring what they take. */
export function pipelineComputed(
  func: Func,
  loop: OpOf<"while">,
  candidates: readonly StagedOperand[],
  loaded: readonly LoadedOperand[],
  context: TargetContext,
): ((area: StagingArea) => () => readonly Op[]) | undefined {
  const computed = candidates.flatMap((operand) => computedFromLoad(loop, operand) ?? []);
  if (computed.length === 0 || !context.target.asyncCopies) return undefined;
  const group = planGroupDot(func, loop, [...loaded, ...computed], context.target);
  const carried = group && stateOf(loop, group.staged);
  if (group === undefined || carried === undefined) return undefined;
  const areCopyable = group.staged.every((one) => isCopyable(copied(one), context.axisInfo()));
  const { slots, ownSlots } = slotsOf(group, loop, context);
  if (!areCopyable || slots < LEAST_SLOTS) return undefined;
  return (area) => {
    const [a, b] = group.staged.map((one) =>
      area.stage(one, isApart(one) ? ownSlots ?? slots : slots)
    );
    const dot = { ...group, staged: [must(a, "operand"), must(b, "operand")] as const };
    const staged = dot.staged.map((one) => stageCopied(one, area, slots));
    const change = (build: ScheduleBuilder, slot: Value, own: Value): void => {
      for (const [index, operand] of dot.staged.entries()) {
        const { buffer } = must(staged[index], "copied operand");
        const to = isApart(operand) ? own : slot;
        if (operand.isComputed === true) compute(build, loop, operand, [buffer, slot], to);
      }
    };
    const apart = dot.staged.filter(isApart);
    const changed = {
      change,
      isApart: (one: InBuffer) => apart.some(({ index }) => index === one.index),
      ...ownSlots === undefined ? {} : { ownSlots },
    };
    return () => pipelineGroupDot({ func, loop, staged, carried, slots }, dot, changed);
  };
}

/**
 * Slots of copies, and of operands that are computed apart from them where these have fewer: so that a second block fits a
 * multiprocessor whose registers suffice for two. One computes while the other one multiplies.
 */
function slotsOf(
  { dot, staged }: GroupDot<LoadedOperand>,
  loop: OpOf<"while">,
  context: TargetContext,
): { readonly slots: number; readonly ownSlots: number | undefined } {
  const sum = (bytes: (operand: LoadedOperand) => number): number =>
    staged.reduce((all, one) => all + bytes(one), 0);
  const copies = sum((one) => isApart(one) ? ownBytes(one) : one.bytes);
  const own = sum((one) => isApart(one) ? one.bytes : 0);
  const wanted = stagesOf(loop, context);
  const least = wanted ?? LEAST_SLOTS;
  if (own > 0 && least >= LEAST_SLOTS && fitsTwice(dot, least * copies, own, context)) {
    return { slots: least, ownSlots: LEAST_OWN_SLOTS };
  }
  const slots = slotsFor(context, copies + own, wanted ?? GROUP_STAGES);
  return { slots, ownSlots: undefined };
}

/** Whether two blocks fit a multiprocessor. */
function fitsTwice(
  dot: OpOf<"dot">,
  copies: number,
  own: number,
  { target, numWarps }: TargetContext,
): boolean {
  const sums = sumRegisters(dot);
  return !fillsMultiprocessor(sums, numWarps, target) &&
    query(
      target,
      ({ sharedBytesPerSm }) =>
        copies + LEAST_OWN_SLOTS * own + RESERVED_BYTES <= sharedBytesPerSm / 2,
    );
}

/** An operand that is computed from a tile that the loop loads, in the tile's layout. */
function computedFromLoad(
  loop: OpOf<"while">,
  operand: StagedOperand,
): LoadedOperand | undefined {
  const { source } = operand;
  const found = computedOperand(source);
  if (found === undefined || found.value !== source) return undefined;
  const tile = resultOf(found.load);
  const isAlike = sameLayout(layoutOf(tile), layoutOf(source)) && source.def !== undefined &&
    loopOf(loop).body.ops.includes(source.def);
  const load = prefetchableLoad(loop, { ...operand, source: tile });
  return isAlike && load !== undefined ? { ...operand, load, isComputed: true } : undefined;
}

/** Whether the tile of an operand has a ring of its own. */
const isApart = ({ source, load }: LoadedOperand): boolean =>
  bytesOf(source.type.element) !== bytesOf(resultOf(load).type.element);

/** The tile of an operand as copies bring it: in its own ring, row by row along the axis that threads have side by side. */
function copied(operand: LoadedOperand): LoadedOperand {
  const source = resultOf(operand.load);
  if (!isApart(operand)) return { ...operand, source };
  const { shape, element, layout } = source.type;
  const [rows = 1, columns = 1] = shape.map(log2);
  const first = layout?.register.find((basis) => basis !== 0);
  const along = times(columns, (bit) => 1 << bit);
  const down = times(rows, (bit) => 1 << (columns + bit));
  const order = first === 1 ? [...along, ...down] : [...down, ...along];
  const vectorBits = log2(VECTOR_BYTES / bytesOf(element));
  return { ...operand, source, plan: { ...operand.plan, columns: order, vectorBits } };
}

/** Of the widest copy. */
const VECTOR_BYTES = 16;

const ownBytes = (operand: LoadedOperand): number =>
  isApart(operand) ? aligned(tileBytes(resultOf(operand.load).type)) : 0;

/** The operand with the buffer that its tile is copied into. */
function stageCopied(
  operand: InBuffer<LoadedOperand>,
  area: StagingArea,
  slots: number,
): InBuffer<LoadedOperand> {
  if (!isApart(operand)) return operand;
  const { source: { type: { element, shape } }, plan: { columns, vectorBits } } = copied(operand);
  const type: IrType = { element, shape, shared: { shape, columns, vectorBits } };
  const bytes = product(shape) * bytesOf(element);
  return { ...operand, buffer: area.add(type, slots, aligned(bytes), operand.dot.span) };
}

/** Computes an operand from what the thread itself has copied, and stores it in the slot that the dot reads. */
function compute(
  build: ScheduleBuilder,
  loop: OpOf<"while">,
  { load, source, buffer }: InBuffer<LoadedOperand>,
  from: readonly [buffer: Value, slot: Value],
  to: Value,
): void {
  const tile = resultOf(load);
  const own = build.value("local_load", from, tile.type, { access: "vectors" });
  const known = new Map<Value, Value>([[tile, own]]);
  for (const op of loopOf(loop).body.ops) {
    if (known.has(source)) break;
    const takesOwn = op.operands.some((value) => known.has(value));
    if (takesOwn && hasTrait(op, "elementwise")) {
      build.out.push(...copyOps(build.func, [op], known));
    }
  }
  build.effect("local_store", [must(known.get(source), "computed operand"), buffer, to]);
}

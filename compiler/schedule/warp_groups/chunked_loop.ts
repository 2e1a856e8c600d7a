/**
 * A loop whose dot is done by warp groups (layout/warp_group.ts), with operands in rows that start anywhere. Copies bring
 * the aligned chunks that the rows lie in, some iterations ahead, and threads move each row from there to where the
 * instruction reads it, one iteration ahead (layout/rows/chunk_rows.ts):
 *
 *     for s < depth: copy the chunks of iteration s; commit
 *     wait for those of iterations 0 and 1; barrier; move those of iteration 0 into slot 0
 *     while (test) {
 *       wait for the thread's chunks of the next two iterations; fence between the proxies; barrier
 *       start the dot of this iteration's slot
 *       copy the chunks of iteration + depth over this one's; commit
 *       move the next iteration's chunks into the slot of the dot before the last one
 *       wait for all dots but this iteration's
 *     }
 *     wait for all dots and copies; barrier
 *
 * The barrier comes after each thread has moved this iteration's chunks, so that copies may overwrite them. What is
 * copied takes no registers while it is under way, however far ahead that is.
 */
import { loopOf } from "../../ir/flow.ts";
import { isOp, type Op, type Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import type { IrType } from "../../ir/types.ts";
import {
  CHUNK,
  chunkedBytes,
  chunkGroups,
  type ChunkRows,
  chunkRowsOf,
  chunkSlotBytes,
  DOT_SLOTS,
  LEAST_CHUNK_SLOTS,
} from "../../layout/rows/chunk_rows.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { indexBits } from "../../linear/linear.ts";
import { bug } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { fitsShared, type Target } from "../../targets.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import {
  copyOfIteration,
  firstIteration,
  type Iteration,
  type Plan,
} from "../pipeline/prefetch.ts";
import type { InBuffer, LoadedOperand } from "../staged_operand.ts";
import type { StagingArea } from "../staging_area.ts";
import { type GroupDot, stageGroupDot, startGroupDot } from "./group_dot.ts";
import { asStored } from "./stored_loop.ts";
import { times } from "../../support/times.ts";

/** An operand whose rows come by chunks. */
export interface ChunkedOperand extends LoadedOperand {
  readonly rows: ChunkRows;
}

/** One with a ring for its chunks. */
type WithChunks = InBuffer<ChunkedOperand> & { readonly chunks: Value };

/** The operands of a dot, to be brought by chunks; undefined where that does not do. */
export function planChunkedDot(
  group: GroupDot<LoadedOperand>,
  loop: Plan["loop"],
  axisInfo: AxisFacts,
): GroupDot<ChunkedOperand> | undefined {
  const chunked = ({ load, source, ...operand }: LoadedOperand): ChunkedOperand | undefined => {
    const rows = chunkRowsOf(loop, load, axisInfo);
    const isHeld = rows !== undefined && chunkGroups(layoutOf(source), rows.axis) !== undefined;
    return isHeld ? { ...asStored({ ...operand, load, source }), rows } : undefined;
  };
  const [a, b] = [chunked(group.staged[0]), chunked(group.staged[1])];
  return a === undefined || b === undefined ? undefined : { ...group, staged: [a, b] };
}

/** As many slots for chunks as are wanted, or fit; undefined if those are too few. */
export function chunkSlots(
  { staged }: GroupDot<ChunkedOperand>,
  target: Target,
  wanted: number,
): number | undefined {
  const tiles = staged.map(({ source: { type }, rows }) => ({ type, rows }));
  let slots = Math.max(LEAST_CHUNK_SLOTS, wanted);
  while (slots >= LEAST_CHUNK_SLOTS && !fitsShared(target, chunkedBytes(tiles, slots))) slots--;
  return slots < LEAST_CHUNK_SLOTS ? undefined : slots;
}

/** Gives the operands slots, whose swizzles need their alignment, and then rings for chunks. */
export function stageChunkedDot(
  group: GroupDot<ChunkedOperand>,
  area: StagingArea,
  depth: number,
): GroupDot<WithChunks> {
  const [a, b] = stageGroupDot(group, area, DOT_SLOTS).staged;
  const withChunks = (operand: InBuffer<ChunkedOperand>): WithChunks => {
    const { source: { type: { element, shape } }, rows, dot } = operand;
    // Elements of a row lie side by side; from where on in its part of the slot, its start says.
    const columns = times(indexBits(shape), (bit) => 1 << bit);
    const type = { element, shape, shared: { shape, columns, vectorBits: 0 } };
    const slotBytes = chunkSlotBytes(shape, rows, depth);
    return { ...operand, chunks: area.add(type, depth, slotBytes, dot.span) };
  };
  return { ...group, staged: [withChunks(a), withChunks(b)] };
}

/** The loop, with what comes before and after it. */
export function pipelineChunkedDot(
  plan: Plan,
  group: GroupDot<WithChunks>,
): Op[] {
  const { func, loop, slots: depth } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  // Other threads may still read what the memory held before.
  before.barrier();
  let ahead = firstIteration(plan, before);
  for (let slot = 0; slot < depth; slot++) {
    ahead = copyChunks(plan, before, group, ahead, before.int(slot));
  }
  before.waitGroup(depth - 2);
  const starts = group.staged.map(({ rows }) => startsOf(before, rows.first));
  moveChunks(before, group, starts, before.int(0), before.int(0));

  const initial = {
    from: before.int(0),
    to: before.int(1),
    chunks: before.int(0),
    nextChunks: before.int(1),
    runs: ahead.runs,
    state: ahead.state,
  };
  const { inBody, yields } = carry(plan, initial);
  const { from, to, chunks, nextChunks, runs, state } = inBody;
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("wait_group", [], { pending: depth - 3 });
    build.effect("async_proxy_fence", []);
    build.barrier();
    startGroupDot(build, plan, group, from);
    const next = copyChunks(plan, build, group, { state, runs }, chunks);
    moveChunks(build, group, starts, nextChunks, to);
    build.effect("wait_dots", [], { pending: 1 });
    yields({
      from: to,
      to: build.advance(to, DOT_SLOTS),
      chunks: nextChunks,
      nextChunks: build.advance(nextChunks, depth),
      runs: next.runs,
      state: next.state,
    });
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_dots", [], { pending: 0 });
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

/** Starts the copies of an iteration, as a group, and gives the iteration after it. */
function copyChunks(
  plan: Plan,
  build: ScheduleBuilder,
  { staged }: GroupDot<WithChunks>,
  iteration: Iteration,
  slot: Value,
): Iteration {
  const { copy, next: following } = copyOfIteration(plan, build, iteration);
  const sources = staged.map(({ load, chunks, rows: { axis, isContinued, bounds } }) => {
    const pointer = copy(operandsOf(load).pointer);
    const [end] = bounds.ends;
    const count = end === undefined
      ? build.value("constant", [], asInt(pointer.type), { value: BigInt(CHUNK) })
      : countOf(build, end.term, copy);
    const [first, ...others] = bounds.rows.map(copy);
    const mask = first === undefined
      ? build.maskBy(build.true(), undefined, pointer.type)
      : others.reduce((a, b) => build.both(a, b), first);
    return { pointer, chunks, count, mask, attrs: { axis, continued: isContinued } };
  });
  const next = following();
  for (const { pointer, chunks, count, mask, attrs } of sources) {
    const operands = [pointer, chunks, slot, next.runs, iteration.runs, count, mask];
    build.effect("copy_rows", operands, attrs);
  }
  build.effect("commit_group", []);
  return next;
}

const asInt = (type: IrType): IrType => ({ ...type, element: "int32" });

/** How many elements there are from each on, by the part of a mask that says where rows end. */
function countOf(build: ScheduleBuilder, term: Value, copy: (value: Value) => Value): Value {
  const { def } = term;
  if (isOp(def, "broadcast") || isOp(def, "expand_dims")) {
    const count = countOf(build, operandsOf(def).value, copy);
    return def.name === "broadcast"
      ? build.value("broadcast", [count], asInt(term.type))
      : build.value("expand_dims", [count], asInt(term.type), def.attrs);
  }
  if (!isOp(def, "lt") && !isOp(def, "gt")) bug("an end of rows that is no comparison");
  const { left, right } = operandsOf(def);
  const [index, bound] = def.name === "lt" ? [left, right] : [right, left];
  return build.value("sub", [copy(bound), copy(index)], asInt(term.type));
}

/** The low bits of the addresses at which rows start. */
function startsOf(build: ScheduleBuilder, pointers: Value): Value {
  const { type } = pointers;
  const address = build.value("convert", [pointers], { ...type, element: "uint64" });
  return build.value("convert", [address], { ...type, element: "uint32" });
}

/** Moves an iteration's rows into a slot that a dot reads. */
function moveChunks(
  build: ScheduleBuilder,
  { staged }: GroupDot<WithChunks>,
  starts: readonly Value[],
  from: Value,
  to: Value,
): void {
  for (
    const [{ source, chunks, buffer, rows: { axis, isContinued } }, start] of zip(staged, starts)
  ) {
    const attrs = { axis, continued: isContinued };
    const value = build.value("local_rows", [chunks, from, start], source.type, attrs);
    build.effect("local_store", [value, buffer, to]);
  }
}

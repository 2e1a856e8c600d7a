/**
 * A loop with several dots, or with one whose operand a is computed, that warp groups do (layout/warp_group.ts):
 * attention and its like; or whose dots are under conditions (guarded_dots.ts). Boxes of tensors come by tensor copies
 * (TMA), which a warp beside those of the program starts. A box that the loop loads has a ring of slots, with two
 * barriers for each slot: `full` counts its bytes, `empty` the warps that have read it. Vectors come and go with the
 * first of these boxes. A box from outside of the loop has one slot. What is computed goes from registers to the dot.
 *
 *     make the barriers ready
 *     produce {
 *       copy the boxes from outside
 *       while (test) { for each box: wait until its slot is empty; copy it }
 *     }
 *     wait for the boxes from outside
 *     while (test) {
 *       …
 *       wait until the slots of the dot are full; dot; wait for it; arrive at those that no later dot reads
 *       …
 *     }
 *     barrier; end the barriers, if their memory is used again
 *
 * The warps of a program wait for each other nowhere in the loop, so one group multiplies while another one computes.
 *
 * Where blocks do several programs in turn (programs/loop_programs.ts), a loop over programs is around both loops.
 * Rings go on from one program to the next, and boxes from outside have two slots, so that all copies of the next
 * program can be there when this one ends.
 *
 * Where the first iteration is apart from the others, or its first dot (overlapped_chain.ts), that waits for boxes from
 * outside where it needs them, and those that the first dot does not read are copied after those that it does.
 */
import type { Op, Value } from "../../ir/func.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { produceApart, produceBoxes } from "./chain_copies.ts";
import { nextTurn, positionOfTurn, type Rewritten } from "./chain_dots.ts";
import { type ChainPlan, isRefilled, type Ring, type Rings } from "./chain_plan.ts";
import { multiplyGuarded } from "./guarded_loop.ts";
import { overlapChain, takesFirstApart } from "./overlapped_chain.ts";
import type { CopiedPrograms } from "../warp_groups/copied_programs.ts";
import type { Position } from "../warp_groups/ring_position.ts";
import { multiplyChain } from "./rotated_chain.ts";

/** A chain in place of its loop; what comes before it is before the loop over programs, where there is one. */
export interface RewrittenChain {
  readonly before: Op[];
  readonly ops: Op[];
}

/** The loop, with what comes before and after it. `isReused`: what follows uses the memory of the buffers. */
export function rewriteChain(
  plan: ChainPlan,
  buffers: readonly Value[],
  isReused: boolean,
): RewrittenChain {
  const { func, loop, boxes, numWarps } = plan;
  const rings = ringsOf(plan, buffers);
  func.maps = func.maps.map((map, index) => {
    const box = boxes.find((one) => one.kind === "tensor" && one.load.attrs.map === index);
    return box?.kind === "tensor" ? { ...map, copied: box.copied } : map;
  });
  const before = new ScheduleBuilder(func, [], loop.span);
  before.once(before.true(), (inside) => {
    for (const { full, empty } of barriersOf(rings)) {
      inside.effect("mbarrier_init", [full], { arrivals: 1 });
      if (empty !== undefined) inside.effect("mbarrier_init", [empty], { arrivals: numWarps });
    }
  });
  // Without an iteration only the copying warp waits for what it has copied, whose memory must be its own until then.
  const isApart = !isReused && takesFirstApart(plan);
  before.produce((inside) => {
    if (isApart) produceApart(plan, rings, inside);
    else produceBoxes(plan, rings, inside);
  });
  const zero = before.int(0);
  const start: Position = { slot: zero, parity: zero };
  const { programs } = plan;
  const ops = programs === undefined
    ? [...isApart ? [] : awaitOutside(plan, rings, start), ...multiplyLoop(plan, rings, start).ops]
    : multiplyPrograms(plan, programs, rings, start, zero);
  // A group that is done goes on to its results while another one multiplies.
  if (!isReused) return { before: before.out, ops };
  const after = new ScheduleBuilder(func, [], loop.span);
  after.barrier();
  after.once(after.true(), (inside) => {
    for (const { full, empty } of barriersOf(rings)) {
      inside.effect("mbarrier_end", [full]);
      if (empty !== undefined) inside.effect("mbarrier_end", [empty]);
    }
  });
  return { before: before.out, ops: [...ops, ...after.out] };
}

/** Waits for the boxes from outside. */
function awaitOutside({ func, loop }: ChainPlan, rings: Rings, { slot, parity }: Position): Op[] {
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const [box, { full }] of rings) {
    if (!box.isRing) build.effect("mbarrier_wait", [full, slot, parity]);
  }
  return build.out;
}

const multiplyLoop = (plan: ChainPlan, rings: Rings, start: Position): Rewritten =>
  plan.guarded.length > 0
    ? multiplyGuarded(plan, rings, start)
    : overlapChain(plan, rings, start) ?? multiplyChain(plan, rings, start);

/** A chain in a loop over programs, which carries the position of the rings and counts the programs. */
function multiplyPrograms(
  plan: ChainPlan,
  { loop }: CopiedPrograms,
  rings: Rings,
  start: Position,
  zero: Value,
): Op[] {
  const { func } = plan;
  const { inBody: { turn, at }, yields } = carry({ func, loop }, { turn: zero, at: start });
  const begin = new ScheduleBuilder(func, [], loop.span);
  const outside = positionOfTurn(begin, turn);
  const inSlots: Rings = new Map(
    [...rings].map(([box, one]) => [box, box.isRing ? one : { ...one, slot: outside.slot }]),
  );
  const { ops, end } = multiplyLoop(plan, inSlots, at);
  const after = new ScheduleBuilder(func, [], loop.span);
  for (const [box, { empty }] of inSlots) {
    if (!box.isRing && empty !== undefined) after.effect("mbarrier_arrive", [empty, outside.slot]);
  }
  yields({ turn: nextTurn(after, turn), at: end });
  return [...begin.out, ...awaitOutside(plan, rings, outside), ...ops, ...after.out];
}

function ringsOf(plan: ChainPlan, buffers: readonly Value[]): Rings {
  const { boxes } = plan;
  const counted = boxes.filter((box) => box.kind === "tensor");
  const fulls = buffers.slice(boxes.length, boxes.length + counted.length);
  const empties = new Map(
    zip(
      counted.filter((box) => isRefilled(plan, box)),
      buffers.slice(boxes.length + counted.length),
    ),
  );
  const barriers = new Map(
    zip(counted, fulls).map((
      [box, full],
    ) => [box, { full, empty: empties.get(box), slot: undefined }]),
  );
  return new Map(
    zip(boxes, buffers.slice(0, boxes.length)).map(([box, tiles]) => [box, {
      tiles,
      // Boxes of tensors have barriers of their own, and the one that a vector comes with is among the plan's boxes.
      ...must(barriers.get(box.kind === "vector" ? box.beside : box), "barriers of a box"),
    }]),
  );
}

/** The barriers of all rings; vectors have those of the box that they come with. */
const barriersOf = (rings: Rings): Ring[] =>
  [...rings].flatMap(([{ kind }, ring]) => kind === "tensor" ? [ring] : []);

/**
 * A loop with several dots, or with one whose operand a is computed, that warp groups do (layout/warp_group.ts): attention
 * and its like; or whose dots are under conditions (guarded_dots.ts). Boxes of tensors come by tensor copies (TMA), which a warp beside those of the program starts. A box that
 * the loop loads has a ring of slots, with two barriers for each slot: `full` counts its bytes, `empty` the warps that have
 * read it. Vectors come and go with the first of these boxes. A box from outside of the loop has one slot. What is computed goes from registers to the dot.
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
 */
import type { Op, Value } from "../ir/func.ts";
import { must } from "../support/bug.ts";
import { ScheduleBuilder } from "./builder.ts";
import { produceBoxes } from "./chain_copies.ts";
import type { Position } from "./chain_dots.ts";
import type { ChainPlan, Ring, Rings } from "./chain_plan.ts";
import { multiplyGuarded } from "./guarded_loop.ts";
import { overlapChain } from "./overlapped_chain.ts";
import { multiplyChain } from "./rotated_chain.ts";

/** The loop, with what comes before and after it. `isReused`: what follows uses the memory of the buffers. */
export function rewriteChain(
  plan: ChainPlan,
  buffers: readonly Value[],
  isReused: boolean,
): Op[] {
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
  before.produce((inside) => produceBoxes(plan, rings, inside));
  const zero = before.int(0);
  for (const [box, { full }] of rings) {
    if (!box.isRing) before.effect("mbarrier_wait", [full, zero, zero]);
  }
  const start: Position = { slot: zero, parity: zero };
  const rounds = plan.guarded.length > 0
    ? multiplyGuarded(plan, rings, start)
    : overlapChain(plan, rings, start) ?? multiplyChain(plan, rings, start);
  // A group that is done goes on to its results while another one multiplies.
  if (!isReused) return [...before.out, ...rounds];
  const after = new ScheduleBuilder(func, [], loop.span);
  after.barrier();
  after.once(after.true(), (inside) => {
    for (const { full, empty } of barriersOf(rings)) {
      inside.effect("mbarrier_end", [full]);
      if (empty !== undefined) inside.effect("mbarrier_end", [empty]);
    }
  });
  return [...before.out, ...rounds, ...after.out];
}

function ringsOf({ boxes }: ChainPlan, buffers: readonly Value[]): Rings {
  const counted = boxes.filter((box) => box.kind === "tensor");
  const fulls = buffers.slice(boxes.length, boxes.length + counted.length);
  const empties = buffers.slice(boxes.length + counted.length);
  const barriers = new Map(counted.map((box) => [box, {
    full: must(fulls.shift(), "barriers"),
    empty: box.isRing ? must(empties.shift(), "barriers") : undefined,
  }]));
  return new Map(boxes.map((box, i) => [box, {
    tiles: must(buffers[i], "buffer"),
    ...must(barriers.get(box.kind === "vector" ? box.beside : box), "barriers of a box"),
  }]));
}

/** The barriers of all rings; vectors have those of the box that they come with. */
const barriersOf = (rings: Rings): Ring[] =>
  [...rings].flatMap(([{ kind }, ring]) => kind === "tensor" ? [ring] : []);

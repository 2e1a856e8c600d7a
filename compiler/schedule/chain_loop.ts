/**
 * A loop with several dots, or with one whose operand a is computed, that warp groups do (layout/warp_group.ts): attention
 * and its like. Boxes of tensors come by tensor copies (TMA), which a warp beside those of the program starts. A box that
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
import { loopOf } from "../ir/flow.ts";
import { newOp, newValue, type Op, type Region, type Value } from "../ir/func.ts";
import { type IrType, scalarType } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import { copySlice } from "./backward_slice.ts";
import { ScheduleBuilder } from "./builder.ts";
import { nextPosition, type Position } from "./chain_dots.ts";
import {
  type ChainPlan,
  type Ring,
  ringOf,
  type Rings,
  type TensorBox,
  vectorsBeside,
} from "./chain_plan.ts";
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
  const rounds = overlapChain(plan, rings, start) ?? multiplyChain(plan, rings, start);
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

/** All copies, in the order in which they are needed. */
function produceBoxes(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
): void {
  const { func, loop, boxes, carried } = plan;
  const zero = build.int(0);
  for (const box of boxes) {
    if (box.kind === "tensor" && !box.isRing) {
      copyBox(plan, rings, build, box, zero, (value) => value);
    }
  }
  const original = loopOf(loop);
  const { span } = loop;
  const types = (values: readonly Value[]): IrType[] => values.map(({ type }) => type);
  const pick = (values: readonly Value[], indices: readonly number[]): Value[] =>
    indices.map((i) => must(values[i], "carried value"));
  const regionOf = (values: readonly Value[]): ScheduleRegion => {
    const state = values.map(({ type }) => newValue(func, type));
    const [slot, parity] = [
      newValue(func, scalarType("int32")),
      newValue(func, scalarType("int32")),
    ];
    return { state, slot, parity, build: new ScheduleBuilder(func, [], span) };
  };

  const entering = pick(original.test.params, carried.entering);
  const test = regionOf(entering);
  const known = new Map(zip(entering, test.state));
  const copyTest = copySlice(func, original.test, known, test.build.out);
  const leaving = pick(original.leaving, carried.leaving).map(copyTest);
  test.build.effect("condition", [
    copyTest(original.continues),
    ...leaving,
    test.slot,
    test.parity,
  ]);

  const params = pick(original.body.params, carried.leaving);
  const body = regionOf(params);
  const knownInBody = new Map(zip(params, body.state));
  const inBody = body.build;
  const copyBody = copySlice(func, original.body, knownInBody, inBody.out, inBody.true());
  const previous = inBody.value("xor", [body.parity, inBody.int(1)], body.parity.type);
  for (const box of boxes) {
    const { empty } = ringOf(rings, box);
    if (box.kind === "vector" || empty === undefined) continue;
    inBody.effect("mbarrier_wait", [empty, body.slot, previous]);
    copyBox(plan, rings, inBody, box, body.slot, copyBody);
  }
  const next = pick(original.repeated, carried.entering).map(copyBody);
  const { slot, parity } = nextPosition(inBody, plan, body);
  inBody.effect("yield", [...next, slot, parity]);

  const initial = [...pick(original.initial, carried.entering), zero, zero];
  const results = types([...leaving, body.slot, body.parity]);
  const regions = [test, body].map(({ state, slot, parity, build: { out } }): Region => ({
    params: [...state, slot, parity],
    ops: out,
  }));
  build.out.push(newOp(func, "while", initial, results, span, {}, regions));
}

/** A region with a state that it carries. */
interface ScheduleRegion extends Position {
  readonly state: readonly Value[];
  readonly build: ScheduleBuilder;
}

/** Copies a box, and the vectors that come with it; `known` gives what they are computed from. */
function copyBox(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  box: TensorBox,
  slot: Value,
  known: (value: Value) => Value,
): void {
  const { tiles, full } = ringOf(rings, box);
  const vectors = vectorsBeside(plan, box);
  const bytes = vectors.reduce((sum, vector) => sum + vector.bytes, box.bytes);
  build.effect("mbarrier_expect", [full, slot], { bytes });
  const [, ...coordinates] = box.from.map(known);
  build.effect("tensor_copy", [tiles, full, slot, ...coordinates], { map: box.load.attrs.map });
  for (const vector of vectors) {
    const [pointer] = vector.from.map(known);
    const operands = [must(pointer, "pointer"), ringOf(rings, vector).tiles, full, slot];
    build.effect("bulk_copy", operands, { bytes: vector.bytes });
  }
}

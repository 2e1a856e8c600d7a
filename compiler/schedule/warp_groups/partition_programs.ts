/**
 * A loop as in tensor_loop.ts in a block whose warp groups are partitions: each does programs of its own, so that one
 * multiplies while the other one computes and stores its results. All copies go through one ring of slots, in the order
 * of the programs, and a warp beside those of the partitions starts them:
 *
 *     make the barriers ready
 *     produce { while (program) { while (test) { wait until the slot is empty; copy the boxes } } }
 *     partition 1: skip the slots of the first program
 *     while (program of the partition) {
 *       wait for the partition's turn
 *       while (test) {
 *         wait until the slot is full; start its dot
 *         wait for all dots but this iteration's; arrive at the empty barrier of the one before
 *       }
 *       arrive at the other partition's turn
 *       wait for all dots; arrive at the last empty barrier; …; store
 *       skip the slots of the other partition's program
 *     }
 *
 * A partition's turn begins when the other one has started all dots of the program before: the parity of a barrier distinguishes
 * two phases, so nothing may wait at a slot for the phase after the next. Every program has as many iterations, so a
 * program of the other partition takes as many slots as the own one did.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op, OpOf, Value } from "../../ir/func.ts";
import { scalarType } from "../../ir/types.ts";
import { copySlice, replacing } from "../backward_slice.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { type AddressState, addressState, pick, type Plan } from "../pipeline/prefetch.ts";
import type { InBuffer } from "../staged_operand.ts";
import { type CopiedLoop, type Copier, copyLoop } from "./beside_loop.ts";
import { type CopiedPrograms, isCountFixed, outerValues, programsOf } from "./copied_programs.ts";
import { type GroupDot, startGroupDot } from "./group_dot.ts";
import type { SlotBarriers } from "./mixed_beside.ts";
import { nextPosition, type Position } from "./ring_position.ts";
import { setBoxes, type TensorOperand } from "./tensor_loop.ts";

/** A loop whose copies run through the programs of both partitions. */
interface PartitionPlan extends Plan {
  readonly staged: readonly InBuffer<TensorOperand>[];
  readonly programs: CopiedPrograms;
  /** What the loop carries for its test alone. */
  readonly counted: AddressState;
  /** Of a program. */
  readonly numWarps: number;
}

/** What partitions need of the programs of a block, by the operands of the boxes; undefined where they cannot do them. */
export function planPartitions(
  loop: OpOf<"while">,
  operands: readonly Value[],
  around: OpOf<"while">,
): Pick<PartitionPlan, "carried" | "counted" | "programs"> | undefined {
  const carried = addressState(loop, operands);
  const counted = addressState(loop, []);
  if (carried === undefined || counted === undefined) return undefined;
  if (!isCountFixed(loop, loopOf(around).body)) return undefined;
  const programs = programsOf(around, loop, carried, { inLoop: operands, outside: [] });
  return programs && { carried, counted, programs };
}

/** Barriers of all slots, and one for the turn of each partition. */
interface PartitionBarriers extends SlotBarriers {
  readonly turn: Value;
}

const INT32 = scalarType("int32");
const BOOL = scalarType("bool");

/** The loop with what comes after it, and what comes before the loop over programs. */
export function pipelinePartitions(
  plan: PartitionPlan,
  group: GroupDot<InBuffer<TensorOperand>>,
  barriers: PartitionBarriers,
): { readonly ops: Op[]; readonly before: Op[] } {
  const { func, loop, programs, numWarps } = plan;
  setBoxes(func, group.staged);
  const builder = (): ScheduleBuilder => new ScheduleBuilder(func, [], loop.span);
  const [before, enter, done, next] = [builder(), builder(), builder(), builder()];
  before.once(before.true(), (inside) => {
    inside.effect("mbarrier_init", [barriers.full], { arrivals: 1 });
    inside.effect("mbarrier_init", [barriers.empty], { arrivals: numWarps });
    inside.effect("mbarrier_init", [barriers.turn], { arrivals: numWarps });
  });
  before.produce((inside) => produceBoxes(plan, barriers, inside));
  const partition = before.value("partition", [], INT32);
  const other = before.value("xor", [partition, before.int(1)], INT32);
  const start = beginPrograms(plan, before, partition);
  leaveOutNext(plan, next);
  // The first turn of the first partition has begun: its barrier is as after a phase of the other parity.
  const around = carry({ func, loop: programs.loop }, { turn: other, at: start });
  const { turn, at } = around.inBody;
  enter.effect("mbarrier_wait", [barriers.turn, partition, turn]);
  const first: Progress = { at, behind: at.slot, isFirst: enter.true() };
  const end = multiply(plan, group, barriers, first);
  done.effect("mbarrier_arrive", [barriers.turn, other]);
  done.effect("wait_dots", [], { pending: 0 });
  release(done, barriers, end);
  around.yields({
    turn: next.value("xor", [turn, next.int(1)], INT32),
    at: asFarAgain(plan, next, at, end.at),
  });
  return { before: before.out, ops: [...enter.out, loop, ...done.out, ...next.out] };
}

/** The copies of all programs of a block, of both partitions. */
function produceBoxes(plan: PartitionPlan, barriers: SlotBarriers, build: ScheduleBuilder): void {
  const { loop, carried, programs } = plan;
  const around: CopiedLoop = {
    ...programs,
    initial: pick(loopOf(programs.loop).initial, programs.carried.entering),
    known: new Map(),
  };
  copyLoop(build, around, firstPosition(build), (inside, copyOf, start) => {
    const copied: CopiedLoop = {
      loop,
      carried,
      initial: pick(loopOf(loop).initial, carried.entering).map(copyOf),
      known: new Map(programs.outer.map((value) => [value, copyOf(value)])),
    };
    return copyLoop(inside, copied, start, (within, copyWithin, at) => {
      refillSlot(plan, barriers, within, at, copyWithin);
      return nextPosition(within, plan, at);
    });
  });
}

/** Copies the boxes of an iteration into a slot when it is empty. */
function refillSlot(
  { staged }: PartitionPlan,
  { full, empty }: SlotBarriers,
  build: ScheduleBuilder,
  { slot, parity }: Position,
  copyOf: Copier,
): void {
  const previous = build.value("xor", [parity, build.int(1)], parity.type);
  build.effect("mbarrier_wait", [empty, slot, previous]);
  const bytes = staged.reduce((sum, operand) => sum + operand.bytes, 0);
  build.effect("mbarrier_expect", [full, slot], { bytes });
  for (const { load, buffer } of staged) {
    const [, ...coordinates] = load.operands.map(copyOf);
    build.effect("tensor_copy", [buffer, full, slot, ...coordinates], { map: load.attrs.map });
  }
}

function firstPosition(build: ScheduleBuilder): Position {
  const zero = build.int(0);
  return { slot: zero, parity: zero };
}

/** Lets the loop over programs begin with the partition's first one; gives where the slots of that are. */
function beginPrograms(plan: PartitionPlan, build: ScheduleBuilder, partition: Value): Position {
  const { func, programs } = plan;
  const { body, initial, repeated } = loopOf(programs.loop);
  const isSecond = build.value("eq", [partition, build.int(1)], BOOL);
  const { program, at } = build.choose(isSecond, (second) => {
    const next = copySlice(func, body, replacing(body, initial), second.out);
    return { program: repeated.map(next), at: pastProgram(plan, second) };
  }, (first) => ({ program: [...initial], at: firstPosition(first) }));
  programs.loop.operands = program;
  return at;
}

/** Lets the loop over programs go on to the one after the next, as that is the other partition's. */
function leaveOutNext({ func, programs }: PartitionPlan, build: ScheduleBuilder): void {
  const { body, end, repeated } = loopOf(programs.loop);
  const next = repeated.map(copySlice(func, body, new Map(), build.out));
  end.operands = repeated.map(copySlice(func, body, replacing(body, next), build.out));
}

/** Where the ring is after the block's first program: its iterations are counted, as nothing else says how many there are. */
function pastProgram(plan: PartitionPlan, build: ScheduleBuilder): Position {
  const { func, loop, programs, counted } = plan;
  const program = loopOf(programs.loop).body;
  // Nothing of the count depends on the program (isCountFixed).
  const copy = copySlice(func, program, new Map(), build.out);
  const outer = outerValues(loop, counted, [], program);
  const copied: CopiedLoop = {
    loop,
    carried: counted,
    initial: pick(loopOf(loop).initial, counted.entering).map(copy),
    known: new Map(outer.map((value) => [value, copy(value)])),
  };
  return copyLoop(
    build,
    copied,
    firstPosition(build),
    (inside, _, at) => nextPosition(inside, plan, at),
  );
}

/** Where a program's loop is in the ring, and the slot of the dot before; `isFirst`: there is none. */
interface Progress {
  readonly at: Position;
  readonly behind: Value;
  readonly isFirst: Value;
}

/** Puts the dot of warp groups into the loop; gives where it ends. */
function multiply(
  plan: PartitionPlan,
  group: GroupDot<InBuffer<TensorOperand>>,
  barriers: SlotBarriers,
  start: Progress,
): Progress {
  const { func, loop } = plan;
  const { body } = loopOf(loop);
  const build = new ScheduleBuilder(func, [], loop.span);
  const { inBody, yields, results } = carry(plan, start);
  const { slot, parity } = inBody.at;
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("mbarrier_wait", [barriers.full, slot, parity]);
    startGroupDot(build, plan, group, slot);
    build.effect("wait_dots", [], { pending: 1 });
    release(build, barriers, inBody);
    const at = nextPosition(build, plan, inBody.at);
    yields({ at, behind: slot, isFirst: build.value("constant", [], BOOL, { value: 0n }) });
  }
  body.ops = build.out;
  return results;
}

/** Frees the slot of the dot before, which is done. */
function release(
  build: ScheduleBuilder,
  { empty }: SlotBarriers,
  { behind, isFirst }: Pick<Progress, "behind" | "isFirst">,
): void {
  build.unless(isFirst, (inside) => inside.effect("mbarrier_arrive", [empty, behind]));
}

/** The position that is as far after the second one as that is after the first. */
function asFarAgain(
  { slots }: PartitionPlan,
  build: ScheduleBuilder,
  from: Position,
  to: Position,
): Position {
  const count = build.int(slots);
  const both = build.int(2 * slots);
  const add = (a: Value, b: Value): Value => build.value("add", [a, b], INT32);
  const subtract = (a: Value, b: Value): Value => build.value("sub", [a, b], INT32);
  const select = (when: Value, then: Value, otherwise: Value): Value =>
    build.value("select", [when, then, otherwise], INT32);
  const isAtLeast = (a: Value, b: Value): Value => build.value("ge", [a, b], BOOL);
  // A round with parity 0 and one with parity 1 as one row of slots, whose end is followed by its start.
  const placeOf = ({ slot, parity }: Position): Value =>
    add(slot, build.value("mul", [parity, count], INT32));
  const end = placeOf(to);
  const far = add(end, subtract(end, placeOf(from)));
  const raised = select(isAtLeast(far, build.int(0)), far, add(far, both));
  const place = select(isAtLeast(raised, both), subtract(raised, both), raised);
  const isSecond = isAtLeast(place, count);
  return {
    slot: select(isSecond, subtract(place, count), place),
    parity: select(isSecond, build.int(1), build.int(0)),
  };
}

/**
 * A loop as in tensor_loop.ts in a block that does several programs in turn (programs/loop_programs.ts): the ring of
 * slots does not end with a program. The copies are a cursor ahead of the dots, which goes on to the block's next
 * program:
 *
 *     make the barriers ready; for s < slots - 1: copy at the cursor into slot s; move the cursor; barrier
 *     while (program) {
 *       while (test) {
 *         wait for the barrier of this iteration's slot
 *         start the dot of the slot
 *         wait for all dots but this iteration's; barrier
 *         copy at the cursor into the slot of the dot before; move the cursor
 *       }
 *       wait for all dots; …; store
 *     }
 *
 * So the first slots of a program are filled while the results of the one before are stored. Every program has as many
 * iterations, so none in which the cursor stops has none.
 */
import { loopOf } from "../../ir/flow.ts";
import { newOp, type Op, type OpOf, type Region, type Value } from "../../ir/func.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { addOuter, copySlice, parametersNeeded } from "../backward_slice.ts";
import { ScheduleBuilder } from "../builder.ts";
import { finishGroupDot, type GroupDot } from "./group_dot.ts";
import { type AddressState, carry, type Iteration, type Plan } from "../pipeline/prefetch.ts";
import { advanceRing, readyBarriers } from "./slot_ring.ts";
import { copyBoxes, setBoxes, startSlot, type TensorOperand } from "./tensor_loop.ts";

/** What copies of a loop take from the program that the loop is in. */
export interface ProgramRing {
  readonly programs: OpOf<"while">;
  /** Values of the program that addresses and the test use. */
  readonly outer: readonly Value[];
}

/** How copies of a loop run on into the next program; undefined where they cannot. */
export function planPrograms(
  loop: OpOf<"while">,
  staged: readonly TensorOperand[],
  carried: AddressState,
  programs: OpOf<"while">,
): ProgramRing | undefined {
  const { test, body, initial, continues, leaving, repeated } = loopOf(loop);
  const program = loopOf(programs).body;
  const at = (list: readonly Value[], indices: readonly number[]): Value[] =>
    indices.map((i) => must(list[i], "carried value"));
  const tested = [continues, ...at(leaving, carried.leaving)];
  const used = [
    ...staged.flatMap(({ load }) => load.operands),
    ...at(repeated, carried.entering),
  ];
  const outer = new Set<Value>();
  addOuter(test, tested, program, outer);
  addOuter(body, used, program, outer);
  const entering = at(initial, carried.entering);
  if (parametersNeeded(program, [...outer, ...entering], false) === undefined) return undefined;
  return isCountFixed(loop, program) ? { programs, outer: [...outer] } : undefined;
}

/** Whether the loop has as many iterations in every program of a block. */
function isCountFixed(loop: OpOf<"while">, program: Region): boolean {
  const { test, body, initial, continues, leaving, repeated } = loopOf(loop);
  const entering = new Set<number>();
  const outer = new Set<Value>();
  const wanted = { test: [continues], body: [] as Value[] };
  for (let known = -1; known !== entering.size;) {
    known = entering.size;
    const inTest = parametersNeeded(test, wanted.test, false);
    const inBody = parametersNeeded(body, wanted.body, false);
    if (inTest === undefined || inBody === undefined) return false;
    for (const index of inTest) entering.add(index);
    wanted.test = [continues, ...[...inBody].map((i) => must(leaving[i], "value that leaves"))];
    wanted.body = [...entering].map((i) => must(repeated[i], "yielded value"));
  }
  addOuter(test, wanted.test, program, outer);
  addOuter(body, wanted.body, program, outer);
  const starts = [...entering].map((i) => must(initial[i], "initial value"));
  return parametersNeeded(program, [...outer, ...starts], false)?.size === 0;
}

/** Where the next copies come from: an iteration of a program, which is there if the iteration `runs`. */
interface Cursor {
  readonly program: Value;
  readonly iteration: Iteration;
}

/** The loop with what comes before and after it, and what comes before the loop over programs. */
export function pipelineAcrossPrograms(
  plan: Plan,
  group: GroupDot<TensorOperand>,
  barriers: Value,
  ring: ProgramRing,
): { readonly ops: Op[]; readonly before: Op[] } {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const { programs } = ring;
  setBoxes(func, group.staged);
  const before = new ScheduleBuilder(func, [], loop.span);
  // Nothing around programs uses shared memory.
  readyBarriers(before, barriers, { before: false, after: false });
  let cursor = firstCursor(plan, ring, before);
  for (let slot = 0; slot < slots - 1; slot++) {
    cursor = copyAtCursor(plan, ring, before, cursor, before.int(slot), barriers);
  }
  before.barrier();

  const zero = before.int(0);
  const start = [zero, zero, before.int(slots - 1), ...valuesOf(ring, cursor)];
  const around = carry({ func, loop: programs }, start);
  const { inBody, yields } = carry(plan, around.inBody);
  const [reading, phase, writing, ...ahead] = inBody;
  const [from, parity, to] = [must(reading, "slot"), must(phase, "phase"), must(writing, "slot")];
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    startSlot(build, plan, group, barriers, from, parity);
    const next = copyAtCursor(plan, ring, build, cursorOf(plan, ring, ahead), to, barriers);
    finishGroupDot(build, plan, group);
    const advanced = advanceRing(build, slots, from, parity, to);
    yields([...advanced, ...valuesOf(ring, next)]);
  }
  body.ops = build.out;
  around.yields(loop.results.slice(-inBody.length));

  const behind = new ScheduleBuilder(func, [], loop.span);
  behind.effect("wait_dots", [], { pending: 0 });
  return { ops: [loop, ...behind.out], before: before.out };
}

/** A cursor as values that a loop carries. */
function valuesOf({ outer }: ProgramRing, { program, iteration }: Cursor): Value[] {
  const { runs, state, outer: replaced } = iteration;
  return [program, runs, ...state, ...outer.map((value) => must(replaced?.get(value), "value"))];
}

function cursorOf({ carried }: Plan, { outer }: ProgramRing, values: readonly Value[]): Cursor {
  const [program, runs, ...rest] = values;
  const state = rest.slice(0, carried.entering.length);
  return {
    program: must(program, "program"),
    iteration: {
      runs: must(runs, "test"),
      state,
      outer: new Map(zip(outer, rest.slice(state.length))),
    },
  };
}

/** The first iteration of the block's first program. */
function firstCursor(plan: Plan, ring: ProgramRing, build: ScheduleBuilder): Cursor {
  const program = must(loopOf(ring.programs).initial[0], "first program");
  return enter(plan, ring, build, program);
}

/** The first iteration of a program. */
function enter(plan: Plan, ring: ProgramRing, build: ScheduleBuilder, program: Value): Cursor {
  const { test, body, continues } = loopOf(ring.programs);
  const tested = new Map([[must(test.params[0], "program"), program]]);
  const runs = copySlice(plan.func, test, tested, build.out)(continues);
  const known = new Map([[must(body.params[0], "program"), program]]);
  const copy = copySlice(plan.func, body, known, build.out);
  const { initial } = loopOf(plan.loop);
  return {
    program,
    iteration: {
      runs,
      state: plan.carried.entering.map((i) => copy(must(initial[i], "initial value"))),
      outer: new Map(ring.outer.map((value) => [value, copy(value)])),
    },
  };
}

/** Starts the copies at the cursor, and moves it: to the next iteration or, after the last one, the next program. */
function copyAtCursor(
  plan: Plan,
  ring: ProgramRing,
  build: ScheduleBuilder,
  cursor: Cursor,
  slot: Value,
  barriers: Value,
): Cursor {
  const { func, loop } = plan;
  const { test, continues } = loopOf(loop);
  const iteration = copyBoxes(plan, build, cursor.iteration, slot, barriers);
  const known = new Map<Value, Value>(iteration.outer);
  zip(plan.carried.entering, iteration.state).forEach(([index, value]) =>
    known.set(must(test.params[index], "parameter"), value)
  );
  const more = copySlice(func, test, known, build.out)(continues);
  const stays = valuesOf(ring, { program: cursor.program, iteration });
  const within = new ScheduleBuilder(func, [], loop.span);
  within.effect("yield", stays);
  const beyond = new ScheduleBuilder(func, [], loop.span);
  const { body, repeated } = loopOf(ring.programs);
  const ended = new Map([[must(body.params[0], "program"), cursor.program]]);
  const program = copySlice(func, body, ended, beyond.out)(must(repeated[0], "next program"));
  const entered = enter(plan, ring, beyond, program);
  const runs = beyond.both(iteration.runs, entered.iteration.runs);
  const moved = { ...entered, iteration: { ...entered.iteration, runs } };
  beyond.effect("yield", valuesOf(ring, moved));
  const regions = [within, beyond].map(({ out }): Region => ({ params: [], ops: out }));
  const types = stays.map(({ type }) => type);
  const choice = newOp(func, "if", [more], types, loop.span, {}, regions);
  build.out.push(choice);
  return cursorOf(plan, ring, choice.results);
}

/**
 * A loop as in tensor_loop.ts in a block that does several programs in turn (programs/loop_programs.ts): the ring of
 * slots does not end with a program. The copies are a cursor ahead of the dots, which goes on to the block's next
 * program:
 *
 *     make the barriers ready; for s < slots - 1: copy at the cursor into slot s; move the cursor; barrier
 *     while (program) {
 *       take what the cursor has computed of the program
 *       while (test) {
 *         wait for the barrier of this iteration's slot
 *         start the dot of the slot
 *         wait for all dots but this iteration's; barrier
 *         copy at the cursor into the slot of the dot before; move the cursor
 *       }
 *       wait for all dots; …; store
 *     }
 *
 * So the first slots of a program are filled while the results of the one before are stored. Where its sums are zero at
 * first, its first dot makes them, so that no thread has to set them before. Every program has as
 * many iterations, so none in which the cursor stops has none. Tables that say where a program's boxes are get read
 * when the cursor comes to it: no program may write what another one reads, and its own stores come after its loop.
 */
import { loopOf } from "../../ir/flow.ts";
import { type Op, type OpOf, type Region, setAttrs, type Value } from "../../ir/func.ts";
import { constantOf, operandsOf } from "../../ir/op.ts";
import { sourcesFirst } from "../../ir/order.ts";
import { scalarType } from "../../ir/types.ts";
import { replaceUses } from "../../ir/walk.ts";
import { isApart } from "../../layout/warp_group.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { isZero } from "../../tile/rules/rule.ts";
import { copySlice, parametersNeeded, replacing } from "../backward_slice.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { isCountFixed, outerValues } from "./copied_programs.ts";
import { finishGroupDot } from "./group_dot.ts";
import { type AddressState, pick, type Plan } from "../pipeline/prefetch.ts";
import { loadLeftAhead } from "./operand_loads.ts";
import { advanceRing, readyBarriers } from "./slot_ring.ts";
import type { InBuffer } from "../staged_operand.ts";
import {
  boxesOf,
  copyBoxes,
  setBoxes,
  startSlot,
  type TensorDot,
  type TensorOperand,
} from "./tensor_loop.ts";

const BOOL = scalarType("bool");

/** What copies of a loop take from the program that the loop is in. */
export interface ProgramRing {
  readonly programs: OpOf<"while">;
  /** Values of the program that addresses and the test use, and those that take divisions. */
  readonly outer: readonly Value[];
}

/** How copies of a loop run on into the next program; undefined where they cannot. */
export function planPrograms(
  loop: OpOf<"while">,
  staged: readonly TensorOperand[],
  carried: AddressState,
  programs: OpOf<"while">,
): ProgramRing | undefined {
  const program = loopOf(programs).body;
  const copied = outerValues(loop, carried, staged.flatMap(({ load }) => load.operands), program);
  const outer = [...new Set([...copied, ...quotientsOf(program)])];
  const entering = pick(loopOf(loop).initial, carried.entering);
  if (parametersNeeded(program, [...outer, ...entering], true) === undefined) return undefined;
  return isCountFixed(loop, program) ? { programs, outer } : undefined;
}

/** Scalars that are computed with divisions for the tiles of a program, such as where its tile is. */
function quotientsOf(program: Region): readonly Value[] {
  const inside = new Set(program.ops);
  const isOutside = ({ def }: Value): boolean => def === undefined || !inside.has(def);
  const isQuotient = (value: Value): boolean =>
    !isOutside(value) && value.type.shape.length === 0 &&
    sourcesFirst(value, isOutside).some(({ def }) => def?.name === "div" || def?.name === "rem");
  const forTiles = program.ops.filter(({ results }) =>
    results.some(({ type }) => type.shape.length > 0)
  );
  return forTiles.flatMap(({ operands }) => operands.filter(isQuotient));
}

/** Where the next copies come from: an iteration of a program, which is there if it `runs`. */
interface Cursor {
  /** What says which program it is. */
  readonly program: readonly Value[];
  readonly runs: Value;
  /** What enters its test, by the order of `carried.entering`. */
  readonly state: readonly Value[];
  /** By the order of `outer` of the ring. */
  readonly outer: readonly Value[];
}

/** The loop with what comes before and after it, what each program begins with, and what comes before all of them. */
interface RewrittenPrograms {
  readonly ops: Op[];
  readonly first: Op[];
  readonly before: Op[];
}

export function pipelineAcrossPrograms(
  plan: Plan,
  group: TensorDot<InBuffer<TensorOperand>>,
  barriers: Value,
  ring: ProgramRing,
): RewrittenPrograms {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const { programs } = ring;
  const ahead = group.isComputed === true ? loadLeftAhead(func, loop, group.dot) : [];
  setBoxes(func, boxesOf(group));
  const before = new ScheduleBuilder(func, [], loop.span);
  // Nothing around programs uses shared memory.
  readyBarriers(before, barriers, { before: false, after: false });
  let cursor = enter(plan, ring, before, loopOf(programs).initial);
  for (let slot = 0; slot < slots - 1; slot++) {
    cursor = copyAtCursor(plan, ring, before, cursor, before.int(slot), barriers);
  }
  before.barrier();

  const zero = before.int(0);
  const start = { from: zero, parity: zero, to: before.int(slots - 1), cursor };
  const around = carry({ func, loop: programs }, start);
  const { inBody, yields, results } = carry(plan, around.inBody);
  const { from, parity, to } = inBody;
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    const started = startSlot(build, plan, group, barriers, from, parity);
    const next = copyAtCursor(plan, ring, build, inBody.cursor, to, barriers);
    finishGroupDot(build, plan, group, started);
    yields({ ...advanceRing(build, slots, { from, parity, to }), cursor: next });
  }
  body.ops = build.out;
  around.yields(results);
  if (!isApart(group.dot) && startsAtZero(loop, group.dot)) setAttrs(loop, { anew: true });

  const behind = new ScheduleBuilder(func, [], loop.span);
  behind.effect("wait_dots", [], { pending: 0 });
  const first = takeFromCursor(plan, ring, around.inBody.cursor);
  return { ops: [...ahead, loop, ...behind.out], first, before: before.out };
}

/** Whether the sums of a dot are zero before its loop. */
function startsAtZero(loop: OpOf<"while">, dot: OpOf<"dot">): boolean {
  const { test, body, initial, leaving } = loopOf(loop);
  const entered = leaving[body.params.indexOf(operandsOf(dot).sum)];
  const first = entered && initial[test.params.indexOf(entered)];
  return first !== undefined && isZero(constantOf(first));
}

/**
 * Lets a program take what the cursor has computed of it, where that is not in a program to come already: to find a tile
 * by its number takes some divisions, for which its first dot would wait.
 */
function takeFromCursor(
  { func, loop }: Plan,
  { programs, outer }: ProgramRing,
  cursor: Cursor,
): Op[] {
  const { body } = loopOf(programs);
  const known = new Map(zip(outer, cursor.outer));
  const computed = outer.filter(({ def }) => def !== undefined && def.name !== "constant");
  if (computed.length === 0 || parametersNeeded(body, computed, false) === undefined) return [];
  const build = new ScheduleBuilder(func, [], loop.span);
  const own = body.params.slice(0, cursor.program.length);
  const isThere = zip(own, cursor.program)
    .map(([a, b]) => build.value("eq", [a, b], BOOL))
    .reduce((a, b) => build.both(a, b));
  const values = build.choose(
    isThere,
    () => computed.map((value) => must(known.get(value), "value of the cursor")),
    (inside) => computed.map(copySlice(func, body, new Map(), inside.out)),
  );
  replaceUses(func, new Map(zip(computed, values)));
  return build.out;
}

/** The first iteration of a program. */
function enter(
  { func, loop, carried }: Plan,
  { programs, outer }: ProgramRing,
  build: ScheduleBuilder,
  program: readonly Value[],
): Cursor {
  const { test, body, continues } = loopOf(programs);
  const runs = copySlice(func, test, replacing(test, program), build.out)(continues);
  const copy = copySlice(func, body, replacing(body, program), build.out, runs);
  const state = pick(loopOf(loop).initial, carried.entering).map(copy);
  return { program, runs, state, outer: outer.map(copy) };
}

/** Starts the copies at the cursor, and moves it: to the next iteration or, after the last one, the next program. */
function copyAtCursor(
  plan: Plan,
  ring: ProgramRing,
  build: ScheduleBuilder,
  { program, runs, state, outer }: Cursor,
  slot: Value,
  barriers: Value,
): Cursor {
  const { func, loop, carried } = plan;
  const { test, continues } = loopOf(loop);
  const known = new Map(zip(ring.outer, outer));
  const next = copyBoxes(plan, build, { state, runs, outer: known }, slot, barriers);
  const tested = new Map([...known, ...zip(pick(test.params, carried.entering), next.state)]);
  const more = copySlice(func, test, tested, build.out)(continues);
  const { body, repeated } = loopOf(ring.programs);
  return build.choose(
    more,
    (): Cursor => ({ program, runs: next.runs, state: next.state, outer }),
    (beyond) => {
      const copy = copySlice(func, body, replacing(body, program), beyond.out);
      const entered = enter(plan, ring, beyond, repeated.slice(0, program.length).map(copy));
      return { ...entered, runs: beyond.both(next.runs, entered.runs) };
    },
  );
}

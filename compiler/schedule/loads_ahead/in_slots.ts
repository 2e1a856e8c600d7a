/**
 * Copies into slots of shared memory: an iteration starts the copies of a later one, and then waits for its own.
 *
 *     for s < slots - 1: copy iteration s into slot s
 *     while (test) {
 *       copy iteration + slots - 1 into the slot that the iteration before has read
 *       wait for the copies of this iteration
 *       …
 *     }
 *
 * A thread copies the elements that it takes itself, so there are no barriers.
 */
import { loopOf } from "../../ir/flow.ts";
import { type Func, type Op, type OpOf, takeNames, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { replaceUsesIn } from "../../ir/walk.ts";
import { zip } from "../../support/zip.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { bytesInBlock, ownBuffer } from "../own_copies.ts";
import { copyOfIteration, firstIteration, type Iteration } from "../pipeline/prefetch.ts";
import { isZero } from "../row_loads.ts";
import type { AheadLoop } from "./ahead_loads.ts";

interface Ring {
  readonly slots: number;
  /** Bits of the register's number within an access, by load. */
  readonly vectorBits: readonly number[];
  /** Where the buffers begin. */
  readonly offset: number;
  /** Where stores may write what is copied, for which threads wait: copies are no accesses that a pass would order. */
  readonly waits: { readonly before: boolean; readonly behind: boolean };
}

/** Gives what takes the loop's place, and the buffers. */
export function copyIntoSlots(
  func: Func,
  ahead: AheadLoop,
  { slots, vectorBits, offset, waits }: Ring,
): { readonly ops: readonly Op[]; readonly buffers: readonly OpOf<"shared_buffer">[] } {
  const { loop, loads } = ahead;
  let end = offset;
  const buffers = zip(loads, vectorBits).map(([load, bits]) => {
    const buffer = ownBuffer(func, load, { vectorBits: bits }, slots, end);
    end += slots * bytesInBlock(load);
    return buffer;
  });
  const before = new ScheduleBuilder(func, [], loop.span);
  if (waits.before) before.barrier();
  const copy = (build: ScheduleBuilder, iteration: Iteration, slot: Value): Iteration =>
    copyIteration(func, ahead, build, iteration, { buffers: buffers.map(resultOf), slot });
  let iteration = firstIteration(ahead, before);
  for (let slot = 0; slot < slots - 1; slot++) {
    iteration = copy(before, iteration, before.int(slot));
  }
  const { inBody, yields } = carry({ func, loop }, {
    to: before.int(slots - 1),
    runs: iteration.runs,
    state: iteration.state,
  });
  const { to, runs, state } = inBody;
  const build = new ScheduleBuilder(func, [], loop.span);
  const next = copy(build, { state, runs }, to);
  build.effect("wait_group", [], { pending: slots - 1 });
  // Slots are filled in a circle: the one after the last that was filled is the first.
  const from = build.advance(to, slots);
  yields({ to: from, runs: next.runs, state: next.state });
  const { body } = loopOf(loop);
  const elements = new Map<Value, Value>();
  for (const op of body.ops) {
    const buffer = buffers[loads.findIndex((load) => load === op)];
    if (op.name !== "load" || buffer === undefined) build.out.push(op);
    else elements.set(resultOf(op), read(build, op, resultOf(buffer), from));
  }
  body.ops = build.out;
  replaceUsesIn(body, elements);
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_group", [], { pending: 0 });
  if (waits.behind) after.barrier();
  return { ops: [...before.out, loop, ...after.out], buffers };
}

/** Copies the tiles of an iteration into a slot of each buffer, if it runs, as a group. */
function copyIteration(
  func: Func,
  { loop, loads, carried }: AheadLoop,
  build: ScheduleBuilder,
  iteration: Iteration,
  { buffers, slot }: { readonly buffers: readonly Value[]; readonly slot: Value },
): Iteration {
  const { copy, next } = copyOfIteration({ func, loop, carried }, build, iteration);
  const sources = loads.map((load) => {
    const { pointer, mask } = operandsOf(load);
    return [copy(pointer), mask && copy(mask)] as const;
  });
  const following = next();
  for (const [buffer, [pointer, mask]] of zip(buffers, sources)) {
    const operands = [pointer, buffer, slot, following.runs, build.true()];
    build.effect("async_copy", mask === undefined ? operands : [...operands, mask], {
      part: 0,
      parts: 1,
    });
  }
  build.effect("commit_group", []);
  return following;
}

/** What a load would give, from its slot. */
function read(build: ScheduleBuilder, load: OpOf<"load">, buffer: Value, slot: Value): Value {
  const { mask, other } = operandsOf(load);
  const loaded = resultOf(load);
  // At once: where two sides of a branch use an element, only the first would read it.
  const attrs = { access: "vectors", at_once: true } as const;
  const copied = build.value("local_load", [buffer, slot], loaded.type, attrs);
  const isFilled = mask !== undefined && other !== undefined && !isZero(other);
  const value = isFilled ? build.value("select", [mask, copied, other], loaded.type) : copied;
  takeNames(value, loaded);
  return value;
}

/** Loads into registers: an iteration loads what the next one takes, before anything else. */
import { loopOf } from "../../ir/flow.ts";
import { type Func, type Op, type OpOf, takeNames, type Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import type { IrType } from "../../ir/types.ts";
import { replaceUsesIn } from "../../ir/walk.ts";
import { product } from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { copyOfIteration, firstIteration, type Iteration } from "../pipeline/prefetch.ts";
import type { AheadLoop } from "./ahead_loads.ts";

/** Gives what takes the loop's place. */
export function loadIntoRegisters(
  func: Func,
  ahead: Pick<AheadLoop, "loop" | "loads" | "carried">,
): readonly Op[] {
  const { loop, loads } = ahead;
  const before = new ScheduleBuilder(func, [], loop.span);
  const first = loadIteration(func, ahead, before, firstIteration(ahead, before));
  const { inBody, yields } = carry({ func, loop }, first);
  const build = new ScheduleBuilder(func, [], loop.span);
  // An iteration runs only if all before it did.
  const iteration = { state: inBody.state, runs: build.true() };
  yields(loadIteration(func, ahead, build, iteration));
  const { body } = loopOf(loop);
  body.ops = [...build.out, ...body.ops.filter((op) => !loads.some((load) => load === op))];
  const loaded = zip(loads.map(resultOf), inBody.values);
  for (const [value, carried] of loaded) takeNames(carried, value);
  replaceUsesIn(body, new Map(loaded));
  return [...before.out, loop];
}

/** Loads the tiles of an iteration, if it runs, and computes what the addresses of the next one come from. */
function loadIteration(
  func: Func,
  { loop, loads, carried }: Pick<AheadLoop, "loop" | "loads" | "carried">,
  build: ScheduleBuilder,
  iteration: Iteration,
): { readonly values: readonly Value[]; readonly state: readonly Value[] } {
  const { copy, next } = copyOfIteration({ func, loop, carried }, build, iteration);
  const sources = loads.map(({ operands }) => operands.map(copy));
  const { state, runs } = next();
  const values = zip(loads, sources).map(([load, operands]) =>
    guardedLoad(build, load, operands, runs)
  );
  return { values, state };
}

/** A load like another one, of other operands, where a condition holds. */
function guardedLoad(
  build: ScheduleBuilder,
  load: OpOf<"load">,
  [pointer, mask, ...others]: readonly Value[],
  condition: Value,
): Value {
  const from = must(pointer, "pointer of a load");
  const guard = guardedMask(build, mask, condition, from.type);
  return build.value("load", [from, guard, ...others], resultOf(load).type, load.attrs);
}

/** A mask that also needs a condition, which is computed once with what is the same for all elements. */
function guardedMask(
  build: ScheduleBuilder,
  mask: Value | undefined,
  condition: Value,
  like: IrType,
): Value {
  const both = madeBy(mask, "and");
  const parts = both === undefined ? [] : [operandsOf(both).left, operandsOf(both).right];
  const same = parts.find(isSame);
  const other = parts.find((part) => part !== same);
  return same === undefined || other === undefined
    ? build.maskBy(condition, mask, like)
    : build.both(build.maskBy(condition, same, like), other);
}

/** Whether all elements are one. */
function isSame(value: Value): boolean {
  const broadcast = madeBy(value, "broadcast");
  return madeBy(value, "splat") !== undefined ||
    (broadcast !== undefined && product(operandsOf(broadcast).value.type.shape) === 1);
}

/**
 * The loop of a thread beside those of the program (`produce`): it has the tests of the program's loop, and what copies
 * are computed from, but none of its tiles.
 */
import { loopOf } from "../../ir/flow.ts";
import { newOp, type OpOf, type Region, type Value } from "../../ir/func.ts";
import { zip } from "../../support/zip.ts";
import { copySlice } from "../backward_slice.ts";
import { ScheduleBuilder } from "../builder.ts";
import { addResults, type Carried, listOf, newLike } from "../carried.ts";
import { type AddressState, pick } from "../pipeline/prefetch.ts";

/** Gives what takes the place of a value. */
export type Copier = (value: Value) => Value;

/** A loop of which a part is copied. */
export interface CopiedLoop {
  readonly loop: OpOf<"while">;
  /** The part of what it carries. */
  readonly carried: AddressState;
  readonly initial: readonly Value[];
  /** What replaces values from outside of it. */
  readonly known: ReadonlyMap<Value, Value>;
}

/** A loop with as many iterations as another one, which carries more values: gives these after it. */
export function copyLoop<const T extends Carried<T>>(
  build: ScheduleBuilder,
  { loop, carried, initial, known }: CopiedLoop,
  more: T,
  iterate: (inside: ScheduleBuilder, copyOf: Copier, values: T) => T,
): T {
  const { func } = build;
  const original = loopOf(loop);
  const { span } = loop;
  const entering = pick(original.test.params, carried.entering);
  const [tested, beside] = [newLike(func, entering), newLike(func, more)];
  const test = new ScheduleBuilder(func, [], span);
  const inTest = new Map([...known, ...zip(entering, tested)]);
  const copyTest = copySlice(func, original.test, inTest, test.out);
  const leaving = pick(original.leaving, carried.leaving).map(copyTest);
  test.effect("condition", [copyTest(original.continues), ...leaving, ...listOf(beside)]);

  const params = pick(original.body.params, carried.leaving);
  const [state, values] = [newLike(func, params), newLike(func, more)];
  const body = new ScheduleBuilder(func, [], span);
  const inBody = new Map([...known, ...zip(params, state)]);
  const copyBody = copySlice(func, original.body, inBody, body.out, body.true());
  const after = iterate(body, copyBody, values);
  const next = pick(original.repeated, carried.entering).map(copyBody);
  body.effect("yield", [...next, ...listOf(after, more)]);

  const regions: Region[] = [
    { params: [...tested, ...listOf(beside)], ops: test.out },
    { params: [...state, ...listOf(values)], ops: body.out },
  ];
  const types = leaving.map(({ type }) => type);
  const operands = [...initial, ...listOf(more)];
  const made = newOp(func, "while", operands, types, span, {}, regions);
  build.out.push(made);
  return addResults(func, made, more);
}

/**
 * What copies need that run on from one program of a block into the next: values of the program around their loop, and
 * what the loop over programs carries for these.
 */
import { loopOf } from "../../ir/flow.ts";
import type { OpOf, Region, Value } from "../../ir/func.ts";
import { addOuter, parametersNeeded } from "../backward_slice.ts";
import { type AddressState, addressState, pick } from "../pipeline/prefetch.ts";

/** The loop over programs that a loop with copies is in. */
export interface CopiedPrograms {
  readonly loop: OpOf<"while">;
  /** What it carries for copies. */
  readonly carried: AddressState;
  /** Values of a program that copies of its loop, and the loop's test, use. */
  readonly outer: readonly Value[];
}

/** What copies of a loop, and those of its program outside of the loop, are computed from. */
interface CopyOperands {
  readonly inLoop: readonly Value[];
  readonly outside: readonly Value[];
}

/** What copies of a loop need of the programs that a block does; undefined where it cannot be computed earlier. */
export function programsOf(
  around: OpOf<"while">,
  loop: OpOf<"while">,
  copied: AddressState,
  { inLoop, outside }: CopyOperands,
): CopiedPrograms | undefined {
  const outer = outerValues(loop, copied, inLoop, loopOf(around).body);
  const initial = pick(loopOf(loop).initial, copied.entering);
  const carried = addressState(around, [...outer, ...initial, ...outside]);
  return carried && { loop: around, carried, outer };
}

/** Values from around a loop that its test uses, what it carries of a state, and other values of its body. */
export function outerValues(
  loop: OpOf<"while">,
  { entering, leaving }: AddressState,
  values: readonly Value[],
  home: Region,
): readonly Value[] {
  const { test, body, continues, leaving: letThrough, repeated } = loopOf(loop);
  const outer = new Set<Value>();
  addOuter(test, [continues, ...pick(letThrough, leaving)], home, outer);
  addOuter(body, [...values, ...pick(repeated, entering)], home, outer);
  return [...outer];
}

/** Whether a loop has as many iterations in every program of a block. */
export function isCountFixed(loop: OpOf<"while">, program: Region): boolean {
  const counted = addressState(loop, []);
  if (counted === undefined) return false;
  const { body, repeated } = loopOf(loop);
  // No table says how many there are.
  if (parametersNeeded(body, pick(repeated, counted.entering), false) === undefined) return false;
  const outer = outerValues(loop, counted, [], program);
  const starts = pick(loopOf(loop).initial, counted.entering);
  return parametersNeeded(program, [...outer, ...starts], false)?.size === 0;
}

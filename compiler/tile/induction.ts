/**
 * Which values differ from an earlier one by the same amount in every element: `p += 64`, `r = r + i`. Such a
 * tile moves as a whole, through loops and branches too.
 */
import { branchOf, loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { pairOf, resultOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { definedIn } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";

/** Finds the values that are equal in all elements. */
function uniformity(): (value: Value) => boolean {
  const known = new Map<Value, boolean>();
  const isPlain = ({ def, type }: Value): boolean =>
    type.shape.length === 0 || def?.name === "splat" || def?.name === "constant";
  const sourcesOf = (value: Value): readonly Value[] => {
    const { def } = value;
    const isFollowed = def !== undefined && !isPlain(value) &&
      (hasTrait(def, "reshapes") || hasTrait(def, "elementwise"));
    return isFollowed ? def.operands : [];
  };
  return (value) => {
    for (const one of sourcesFirst(value, (at) => known.has(at), sourcesOf)) {
      const sources = sourcesOf(one);
      known.set(one, isPlain(one) || (sources.length > 0 && sources.every((at) => known.get(at))));
    }
    return known.get(value) === true;
  };
}

/** For each value the one it steps from; itself where nothing is known. */
export function inductionBases(func: Func): (value: Value) => Value {
  const origins = new Map<Value, Value>();
  const of = (value: Value): Value => origins.get(value) ?? value;
  const isUniform = uniformity();

  const visit = (op: Op): void => {
    if (op.name === "if") {
      op.regions.forEach((region) => region.ops.forEach(visit));
      const { thenValues, otherwiseValues } = branchOf(op);
      for (const [one, [then, otherwise]] of zip(op.results, zip(thenValues, otherwiseValues))) {
        // An earlier look at a loop around it may have found them equal.
        if (of(then) === of(otherwise)) origins.set(one, of(then));
        else origins.delete(one);
      }
    } else if (op.name === "while") visitLoop(op);
    else if (hasTrait(op, "adds")) {
      const [a, b] = pairOf(op);
      if (isUniform(b)) origins.set(resultOf(op), of(a));
      else if (rowOf(op).commutes === true && isUniform(a)) origins.set(resultOf(op), of(b));
    }
  };

  /**
   * Carried values that have another origin in some iteration. While an outer loop is visited again and again, ever
   * fewer values have one origin, so what was found here stays found: each visit of n nested loops would else begin
   * anew for each of the next outer one, 2^n times.
   */
  const diverging = new Set<Value>();
  const madeIn = new Map<Op, ReadonlySet<Value>>();

  /** A carried value steps from where the initial one does, unless an iteration gives it another origin. */
  const visitLoop = (op: OpOf<"while">): void => {
    const { test, body, initial, repeated, leaving } = loopOf(op);
    const ofIteration = madeIn.get(op) ?? definedIn(test);
    madeIn.set(op, ofIteration);
    for (let changed = true; changed;) {
      for (const [param, value] of zip(test.params, initial)) {
        origins.set(param, diverging.has(param) ? param : of(value));
      }
      test.ops.forEach(visit);
      for (const [param, value] of zip(body.params, leaving)) {
        const origin = of(value);
        // What an iteration makes anew is no origin of what all iterations see.
        origins.set(param, ofIteration.has(origin) ? param : origin);
      }
      body.ops.forEach(visit);
      changed = false;
      for (const [param, value] of zip(test.params, repeated)) {
        if (diverging.has(param) || of(value) === of(param)) continue;
        diverging.add(param);
        changed = true;
      }
    }
    for (const [result, value] of zip(op.results, leaving)) origins.set(result, of(value));
  };

  func.body.ops.forEach(visit);
  return of;
}

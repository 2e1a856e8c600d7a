/**
 * Which integers are never negative as far as their operations show: program ids, ranges and constants, sums and products
 * of them, and what a loop carries that begins so and grows. Quotients of signed numbers need that to be equal along runs,
 * since divisions round towards zero: -16 / 16 and -15 / 16 differ.
 *
 * Sums and products may wrap. Wrappers refuse launches in which what is divided does (`contract/dividends.ts`). A loop is
 * taken to end before the number wraps that its test bounds: one that passes the test would not end. So is another number
 * that takes the same steps, as those do from which copies for later iterations are computed. Others may.
 */
import { loopOf } from "../ir/flow.ts";
import { isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { constantOf, operandsOf, pairOf, resultOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { definedIn } from "../ir/walk.ts";
import { SCALARS } from "../support/scalar.ts";

/** It may be negative, or nothing is known. */
const UNKNOWN = 0;
/** A quotient or remainder of numbers that are not: products of it may wrap in some launch. */
const REDUCED = 1;
/** It grows in a loop. */
const COUNTED = 2;
/** Of program ids, ranges and constants. */
const OF_LAUNCH = 3;

/** Answers for the values of one function; `loops` has the loop of each parameter of a region. */
export function nonNegative(loops: ReadonlyMap<Value, OpOf<"while">>): (value: Value) => boolean {
  const known = new Map<Value, number>();
  const isKnown = (value: Value): boolean => known.has(value);
  const signOf = (value: Value): number => known.get(value) ?? UNKNOWN;
  return (value) => {
    for (const one of sourcesFirst(value, isKnown, (at) => sourcesOf(at, loops))) {
      const sign = combined(one, sourcesOf(one, loops).map(signOf));
      known.set(one, isInteger(one) ? sign : UNKNOWN);
    }
    return signOf(value) !== UNKNOWN;
  };
}

const isInteger = ({ type: { element } }: Value): boolean =>
  !isPointer(element) && SCALARS[element].class === "int";

/** The values that decide; none of what is so by itself, or not at all. */
function sourcesOf(value: Value, loops: ReadonlyMap<Value, OpOf<"while">>): readonly Value[] {
  const { def } = value;
  if (def === undefined) {
    const loop = loops.get(value);
    return loop === undefined ? [] : carriedFrom(value, loop);
  }
  if (hasTrait(def, "reshapes")) return def.operands;
  switch (def.name) {
    case "add":
    case "mul":
    case "div":
    case "min":
    case "max":
    case "assume_multiple":
      return def.operands;
    case "rem": // has the sign of what is divided
      return pairOf(def).slice(0, 1);
    case "select":
      return [operandsOf(def).then, operandsOf(def).otherwise];
    case "convert":
      return keepsSign(def) ? [operandsOf(def).value] : [];
    default:
      return [];
  }
}

function combined({ def }: Value, signs: readonly number[]): number {
  if (signs.length === 0) return def !== undefined && isOfLaunch(def) ? OF_LAUNCH : UNKNOWN;
  const least = Math.min(...signs);
  switch (def?.name) {
    case undefined:
      return least >= COUNTED ? COUNTED : UNKNOWN;
    case "add":
      return least >= COUNTED ? least : UNKNOWN;
    case "mul":
      return least === OF_LAUNCH && def.operands.some(isConstant) ? least : UNKNOWN;
    case "div":
    case "rem":
    case "min":
    case "max":
    case "select":
      return Math.min(least, REDUCED);
    default:
      return least;
  }
}

const isConstant = ({ def }: Value): boolean =>
  def?.name === "constant" || (isOp(def, "splat") && isConstant(operandsOf(def).value));

function isOfLaunch(op: Op): boolean {
  switch (op.name) {
    case "program_id":
    case "num_programs":
      return true;
    case "range":
      return op.attrs.lo >= 0;
    case "constant":
      return op.attrs.value >= 0;
    default:
      return false;
  }
}

/** To a type that has all values of the one before that are not negative. */
function keepsSign(op: OpOf<"convert">): boolean {
  const from = operandsOf(op).value.type.element;
  const to = resultOf(op).type.element;
  if (isPointer(from) || isPointer(to)) return false;
  const [before, after] = [SCALARS[from], SCALARS[to]];
  return after.bits > before.bits || (after.bits === before.bits && before.signed);
}

/** Of a number that a loop counts up to a bound: what it begins as, and the step, which no iteration changes. */
function carriedFrom(value: Value, op: OpOf<"while">): readonly Value[] {
  const { test, body, initial, leaving } = loopOf(op);
  const inBody = body.params.indexOf(value);
  if (inBody >= 0) return leaving.slice(inBody, inBody + 1);
  const from = initial[test.params.indexOf(value)];
  const step = stepOf(value, op);
  return from !== undefined && step !== undefined && isCounted(value, step, op) ? [from, step] : [];
}

/** What each iteration adds to a number that enters the test, if that is the same in all. */
function stepOf(value: Value, op: OpOf<"while">): Value | undefined {
  const { test, body, repeated, leaving } = loopOf(op);
  const next = repeated[test.params.indexOf(value)];
  if (next?.def?.name !== "add") return undefined;
  const isCarried = (side: Value): boolean =>
    side === value || leaving[body.params.indexOf(side)] === value;
  const sides = pairOf(next.def);
  const [step, ...others] = sides.filter((side) => !isCarried(side));
  const isFixed = step !== undefined && others.length === 0 && !definedIn(test, body).has(step);
  return isFixed ? step : undefined;
}

/** Whether the test bounds a number, or another one that takes the same steps. */
function isCounted(value: Value, step: Value, op: OpOf<"while">): boolean {
  const { test, continues } = loopOf(op);
  if (isBounded(value, continues)) return true;
  return test.params.some((other) => {
    if (other === value || !isBounded(other, continues)) return false;
    const theirs = stepOf(other, op);
    return theirs !== undefined && (theirs === step || isSame(theirs, step));
  });
}

function isSame(a: Value, b: Value): boolean {
  const [ours, theirs] = [constantOf(a), constantOf(b)];
  return ours !== undefined && ours === theirs && a.type.element === b.type.element;
}

/** Whether a test holds only up to some value of a number, or of what it and a constant add up to. */
function isBounded(value: Value, { def }: Value): boolean {
  if (def === undefined) return false;
  if (def.name === "and") return def.operands.some((one) => isBounded(value, one));
  const [left, right] = def.operands;
  const lower = def.name === "lt" || def.name === "le"
    ? left
    : def.name === "gt" || def.name === "ge"
    ? right
    : undefined;
  return lower !== undefined && isAbove(lower, value);
}

function isAbove(sum: Value, value: Value): boolean {
  if (sum === value) return true;
  if (isOp(sum.def, "convert") && keepsSign(sum.def)) {
    return isAbove(operandsOf(sum.def).value, value);
  }
  return isOp(sum.def, "add") && pairOf(sum.def).some((one) => isAbove(one, value)) &&
    pairOf(sum.def).some(isConstant);
}

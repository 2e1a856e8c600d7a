/**
 * What can be seen of a power in a program: which difference is raised, and whether the difference is zero where one value
 * equals another one, as that of x and the maximum of x is somewhere.
 */
import type { Op, OpOf, Value } from "../ir/func.ts";
import { constantOf, madeBy, operandsOf, pairOf, resultOf } from "../ir/op.ts";
import { sameElement } from "../ir/types.ts";
import { isUniform } from "./rules/rule.ts";

/** `exp`, or `exp2`, of float. */
export function powerOf(value: Value | undefined): OpOf<"math"> | undefined {
  const op = madeBy(value, "math");
  const isPower = op?.attrs.function === "exp" || op?.attrs.function === "exp2";
  return isPower && value?.type.element === "float32" ? op : undefined;
}

/** A power of a difference, perhaps times a factor. */
export interface Power {
  readonly op: OpOf<"math">;
  readonly difference: OpOf<"sub">;
  /** Undefined where it is no constant. */
  readonly factor: number | undefined;
}

export function powerOfDifference(value: Value | undefined): Power | undefined {
  const op = powerOf(value);
  if (op === undefined) return undefined;
  const { value: exponent } = operandsOf(op);
  const difference = madeBy(exponent, "sub");
  if (difference !== undefined) return { op, difference, factor: 1 };
  const product = madeBy(exponent, "mul");
  if (product === undefined) return undefined;
  const [left, right] = pairOf(product);
  for (const [one, factor] of [[left, right], [right, left]] as const) {
    const scaled = madeBy(one, "sub");
    if (scaled !== undefined && isUniform(factor)) {
      return { op, difference: scaled, factor: numberOf(factor) };
    }
  }
  return undefined;
}

/** The number that all elements are, if it is constant. */
export function numberOf(value: Value): number | undefined {
  const constant = constantOf(madeBy(value, "splat")?.operands[0] ?? value);
  return constant === undefined ? undefined : Number(constant);
}

/** What a tile repeats along an axis; the value itself where it does not. */
export function rowsOf(value: Value, axis: number): Value {
  const { def } = value;
  if (def?.name === "splat") return operandsOf(def).value;
  if (def?.name === "expand_dims" && def.attrs.axis === axis) {
    return rowsOf(operandsOf(def).value, axis);
  }
  if (def?.name !== "broadcast") return value;
  const from = operandsOf(def).value;
  const isAlong = from.type.shape.every((extent, at) =>
    at === axis || extent === value.type.shape[at]
  );
  return isAlong ? rowsOf(from, axis) : value;
}

/**
 * Whether two values are made in the same way, one of values where the other one is of values that `meet` them: then they are
 * equal numbers where these are. No more than products, which have one rounding each, whatever is fused.
 */
export function isAlike(
  a: Value,
  b: Value,
  axis: number,
  meet: (a: Value, b: Value) => boolean,
  depth = DEEPEST,
): boolean {
  const [one, other] = [rowsOf(a, axis), rowsOf(b, axis)];
  if (one === other || meet(one, other)) return true;
  const number = numberOf(one);
  if (number !== undefined) return number === numberOf(other);
  const [first, second] = [one.def, other.def];
  return depth > 0 && first !== undefined && second !== undefined && isKept(first, second) &&
    first.operands.every((operand, at) => {
      const partner = second.operands[at];
      return partner !== undefined && isAlike(operand, partner, axis, meet, depth - 1);
    });
}

/** Operations on operations that are compared. */
const DEEPEST = 4;

/** Equal numbers give equal numbers, whatever their zeros' signs. */
const isKept = (a: Op, b: Op): boolean =>
  a.name === b.name && ["mul", "neg", "convert"].includes(a.name) &&
  sameElement(resultOf(a).type.element, resultOf(b).type.element);

/** Below so many numbers before the start of a maximum all powers are zero, or a proof is not tried. */
const STEPS = 400;

/**
 * Whether no number below a start, less the start, has a power that is neither zero nor normal: the difference to the next
 * number is so large already. So it is of minus infinity, of -1e30 and of the least float.
 */
export function leavesNoTiny(start: number, { op, factor }: Power): boolean {
  if (start === -Infinity) return true;
  if (!(start < 0) || factor === undefined || !(factor > 0)) return false;
  const scale = op.attrs.function === "exp" ? Math.fround(Math.LOG2E) : 1;
  let below = Math.fround(start);
  for (let step = 0; step < STEPS; step++) {
    below = nextBelow(below);
    const exponent = Math.fround(
      Math.fround(Math.fround(below - start) * Math.fround(factor)) * scale,
    );
    // Least subnormal number: 2^-149.
    if (exponent < -152) return true;
    if (exponent < -125) return false;
  }
  return false;
}

/** The next float below a negative one. */
function nextBelow(value: number): number {
  const bits = new Int32Array(Float32Array.of(value).buffer);
  return new Float32Array(bits.map((one) => one + 1).buffer)[0] ?? NaN;
}

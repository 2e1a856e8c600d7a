/**
 * Numbers that are chosen so that a comparison fails elsewhere, as gathers do to save a second mask:
 *
 *     h = row < rows ? h : -1073741824;  height = c < channels ? H : 0
 *     (unsigned)(h + dh) < height        row < rows && c < channels && 0 <= h + dh && h + dh < H
 *
 * Such a number is what it is where its condition holds. As an unsigned one, what lies far below zero is larger than all
 * extents.
 */
import { isOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { constantOf as irConstant, operandsOf } from "../../ir/op.ts";
import type { AffineInt, Constraint, Observation } from "../affine_rules.ts";
import { addPoly, polyOf, scalePoly, subPoly } from "../poly.ts";
import { laneMove } from "../lane_move.ts";

/** The number that is far below zero, whatever is added that is nearer to zero. */
const FAR = -(1n << 30n);

/** What was observed of chosen numbers. */
export const chosenAmong = (observed: readonly Observation[]): readonly Observation[] =>
  observed.filter(({ where }) => where !== undefined);

/** What a comparison with chosen numbers bounds; undefined: it does not fail where they are not chosen. */
export function chosenBounds(
  op: OpOf<"lt">,
  left: AffineInt,
  right: AffineInt,
): readonly Constraint[] | undefined {
  const operands = operandsOf(op);
  const type = operands.left.type.element;
  if (type !== "uint32") return undefined;
  const [far, ...moreFar] = chosenAmong(left.observed);
  const [none, ...moreNone] = chosenAmong(right.observed);
  if (moreFar.length + moreNone.length > 0) return undefined;
  const isNone = none === undefined || otherwiseOf(operands.right) === 0n;
  const isFar = far === undefined || otherwiseOf(operands.left, "add") === FAR;
  if (!isNone || !isFar) return undefined;
  const observed: Observation[] = [...left.observed, ...right.observed]
    .filter(({ where }) => where === undefined);
  observed.push({ poly: left.poly, type }, { poly: right.poly, type });
  // What is added is nearer to zero than FAR, and extents are int32.
  if (far !== undefined) {
    observed.push({ poly: scalePoly(subPoly(left.poly, far.poly), 2n), type: "int32" });
    observed.push({ poly: addPoly(right.poly, polyOf(1)), type: "int32" });
  }
  const poly = addPoly(subPoly(left.poly, right.poly), polyOf(1));
  return [{ poly, observed, op }, ...far?.where ?? [], ...none?.where ?? []];
}

/** Whether an operation gives the 32 bits that it takes. */
function isSameWord(op: Op): boolean {
  const element = isOp(op, "convert") ? operandsOf(op).value.type.element : undefined;
  return element === "int32" || element === "uint32";
}

/** What a value is where the one choice in it fails; `sums`: beside what is added to it. */
function otherwiseOf(value: Value, sums?: "add"): bigint | undefined {
  const found: bigint[] = [];
  const queue = [value];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { def } = next;
    if (def === undefined) continue;
    if (isOp(def, "select")) {
      const otherwise = irConstant(operandsOf(def).otherwise);
      if (typeof otherwise === "bigint") found.push(otherwise);
    } else if (isSameWord(def) || laneMove(def) !== undefined || def.name === sums) {
      queue.push(...def.operands);
    } else if (isOp(def, "sub") && sums !== undefined) queue.push(operandsOf(def).left);
  }
  return found.length === 1 ? found[0] : undefined;
}

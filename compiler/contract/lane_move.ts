/** Which lane of its operand each lane of a shape operation is. */
import type { Op, OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { Constraint, Observation } from "./affine_rules.ts";
import { type Atom, digitAtom, isOfTile, laneAtom, mapAtoms, runAtom } from "./poly.ts";

/** What becomes of an atom. */
export type LaneMove = (atom: Atom) => Atom | undefined;

/** How a shape operation renames lanes: the operand's lane to the result's; undefined atom: that lane is 0. */
export function laneMove(op: Op): LaneMove | undefined {
  const lanes = (to: (axis: number) => number | undefined): LaneMove => (atom) => {
    if (!isOfTile(atom)) return atom;
    const axis = to(atom.axis);
    if (axis === undefined) return undefined;
    if (atom.kind === "digit") return digitAtom(atom, axis);
    return atom.kind === "lane" ? laneAtom(axis) : runAtom(atom.value, atom.length, axis);
  };
  switch (op.name) {
    case "splat":
    case "convert_layout":
      return lanes((axis) => axis);
    case "expand_dims": {
      const inserted = op.attrs.axis;
      return lanes((axis) => axis < inserted ? axis : axis + 1);
    }
    case "broadcast": {
      const { shape } = operandsOf(op).value.type;
      return lanes((axis) => shape[axis] === 1 ? undefined : axis);
    }
    case "permute": {
      const { order } = op.attrs;
      return lanes((axis) => order.indexOf(axis));
    }
    case "reshape":
      return unitReshape(op, lanes);
    default:
      return undefined;
  }
}

/** A reshape that only adds or drops axes of extent 1. */
function unitReshape(
  op: OpOf<"reshape">,
  lanes: (to: (axis: number) => number | undefined) => LaneMove,
): LaneMove | undefined {
  const kept = (shape: readonly number[]): number[] =>
    shape.flatMap((extent, axis) => extent === 1 ? [] : [axis]);
  const from = operandsOf(op).value.type.shape;
  const to = resultOf(op).type.shape;
  const [before, after] = [kept(from), kept(to)];
  if (
    before.length !== after.length || before.some((axis, i) => from[axis] !== to[after[i] ?? -1])
  ) return undefined;
  return lanes((axis) => after[before.indexOf(axis)]);
}

/** What was observed of an operand, of the result of its operation. */
export function moveAll(observed: readonly Observation[], move: LaneMove): readonly Observation[] {
  return observed.map(({ where, ...one }) => ({
    ...one,
    poly: mapAtoms(one.poly, move),
    ...where === undefined ? {} : { where: where.map((part) => moveConstraint(part, move)) },
  }));
}

export function moveConstraint({ op, poly, observed }: Constraint, move: LaneMove): Constraint {
  return { op, poly: mapAtoms(poly, move), observed: moveAll(observed, move) };
}

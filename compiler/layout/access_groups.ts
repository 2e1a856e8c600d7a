/** Which of a thread's elements one global access covers. */
import { operandsOf } from "../ir/op.ts";
import { axisShifts, freeMask } from "../linear/linear.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { type AccessOp, vectorAlong } from "./anchors.ts";
import { registerCount } from "./tiles.ts";

/** Register indices that one access covers, in address order. */
export type AccessGroup = readonly number[];

/** Groups a thread's registers into vector accesses along the axis where the pointer tile is contiguous. */
export function accessGroups(op: AccessOp, axisInfo: AxisFacts): AccessGroup[] {
  const { pointer } = operandsOf(op);
  const layout = pointer.type.layout;
  if (layout === undefined) return [[0]];
  const shifts = axisShifts(layout.shape);
  let best: number[] = [];
  for (let axis = 0; axis < layout.shape.length; axis++) {
    // Register bits that step 1, 2, 4, … along the axis, as far as an access may reach.
    const width = vectorAlong(op, axis, axisInfo);
    const bits: number[] = [];
    while (2 ** bits.length < width) {
      const bit = layout.register.indexOf(1 << ((shifts[axis] ?? 0) + bits.length));
      if (bit < 0) break;
      bits.push(bit);
    }
    if (bits.length > best.length) best = bits;
  }
  const free = freeMask(layout.register);
  const inVector = best.reduce((mask, bit) => mask | (1 << bit), 0);
  const groups: AccessGroup[] = [];
  for (let register = 0; register < registerCount(pointer); register++) {
    if (register & (inVector | free)) continue; // inside a vector, or a copy of another register
    groups.push(
      Array.from(
        { length: 1 << best.length },
        (_, i) => best.reduce((r, bit, k) => (i >> k) & 1 ? r | (1 << bit) : r, register),
      ),
    );
  }
  return groups;
}

/** Which of a thread's elements one global access covers. */
import { operandsOf } from "../ir/op.ts";
import { axisShifts, freeMask, type LinearLayout } from "../linear/linear.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { type AccessOp, vectorAlong } from "./anchors.ts";

/** Register indices that one access covers, in address order. */
export type AccessGroup = readonly [first: number, ...others: number[]];

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
  return groupRegisters(layout, best);
}

/** A thread's registers, grouped over the given register bits; copies of other registers are left out. */
export function groupRegisters(layout: LinearLayout, bits: readonly number[]): AccessGroup[] {
  const free = freeMask(layout.register);
  const inGroup = bits.reduce((mask, bit) => mask | (1 << bit), 0);
  const groups: AccessGroup[] = [];
  for (let register = 0; register < 1 << layout.register.length; register++) {
    if (register & (inGroup | free)) continue;
    const group: [number, ...number[]] = [register];
    for (const bit of bits) {
      for (const known of group.slice()) group.push(known | (1 << bit));
    }
    groups.push(group);
  }
  return groups;
}

/**
 * Dots of boxes whose left operand threads compute in registers (layout/operands/computed_left.ts): the box that it is computed from has
 * slots like one that the instruction reads.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { computedTile, isComputedLeft } from "../../layout/operands/computed_left.ts";
import { layoutOf, tileBytes } from "../../layout/tiles.ts";
import type { Target } from "../../targets.ts";
import type { StagedOperand } from "../staged_operand.ts";
import { type GroupDot, groupDotOf } from "./group_dot.ts";
import { boxedOperands, boxedSlot, type TensorOperand } from "./tensor_loop.ts";

/** The box that the left operand of a loop's dot is computed from; undefined where it is not computed so. */
function computedLeft(func: Func, loop: OpOf<"while">): TensorOperand | undefined {
  const here = new Set<Op>(loopOf(loop).body.ops);
  const [dot, ...others] = loopOf(loop).body.ops.filter((op) => op.name === "dot");
  if (dot === undefined || others.length > 0 || !isComputedLeft(dot)) return undefined;
  const { load, permutations = [] } = computedTile(operandsOf(dot).a) ?? {};
  const slot = load?.name === "tensor_load" && here.has(load) ? boxedSlot(func, load) : undefined;
  if (load?.name !== "tensor_load" || slot === undefined) return undefined;
  const source = resultOf(load);
  const layout = layoutOf(source);
  const { columns } = slot.shared;
  const held = columns.findIndex((column) => !layout.register.includes(column));
  return {
    dot,
    index: 0,
    source,
    permutations: [...permutations].reverse(),
    layout,
    plan: {
      kind: "shared",
      columns,
      vectorBits: Math.min(held, slot.shared.vectorBits),
      withinWarp: false,
      conflicts: { write: 1, read: 1 },
    },
    bytes: tileBytes(source.type),
    load,
    copied: slot.copied,
  };
}

/** The dot of a loop, if its left operand is computed so, its right one is a box, and it alone adds to its sum. */
export function planComputedLeft(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly StagedOperand[],
  target: Target,
): GroupDot<TensorOperand> | undefined {
  const left = computedLeft(func, loop);
  if (left === undefined) return undefined;
  const group = groupDotOf(func, loop, [left, ...boxedOperands(func, loop, staged)], target);
  return group && { ...group, isComputed: true };
}

/**
 * Dots of boxes whose left operand threads compute in registers (layout/operands/computed_left.ts): the box that it is computed from has
 * slots like one that the instruction reads.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf, tensorMapOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import { isComputedLeft, vectorsOf } from "../../layout/operands/computed_left.ts";
import { computedTile } from "../../layout/operands/computed_tile.ts";
import { layoutOf, tileBytes } from "../../layout/tiles.ts";
import { log2, ofAxis, product } from "../../linear/linear.ts";
import { times } from "../../support/times.ts";
import type { Target } from "../../targets.ts";
import type { StagedOperand } from "../staged_operand.ts";
import { groupDotOf } from "./group_dot.ts";
import { boxedOperands, boxedSlot, type TensorDot, type TensorOperand } from "./tensor_loop.ts";

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

/** A vector that is spread over the operand and comes as a box, in its own order, one after the other. */
function boxedVector(
  func: Func,
  dot: OpOf<"dot">,
  load: OpOf<"tensor_load">,
): TensorOperand {
  const source = resultOf(load);
  const layout = layoutOf(source);
  const { axes } = tensorMapOf(func, load);
  const { shape } = source.type;
  const columns = times(log2(product(shape)), (bit) => 1 << bit);
  const held = columns.findIndex((column) => !layout.register.includes(column));
  const widest = log2(VECTOR_BYTES / bytesOf(source.type.element));
  return {
    dot,
    index: 0,
    source,
    permutations: [],
    layout,
    plan: {
      kind: "shared",
      columns,
      vectorBits: Math.min(held < 0 ? columns.length : held, widest),
      withinWarp: false,
      conflicts: { write: 1, read: 1 },
    },
    bytes: tileBytes(source.type),
    load,
    copied: {
      box: axes.map(({ tile }) => tile === undefined ? 1 : ofAxis(shape, tile)),
      swizzle: 0,
    },
  };
}

/** Of the widest access. */
const VECTOR_BYTES = 16;

/** The dot of a loop, if its left operand is computed so, its right one is a box, and it alone adds to its sum. */
export function planComputedLeft(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly StagedOperand[],
  target: Target,
): TensorDot | undefined {
  const left = computedLeft(func, loop);
  if (left === undefined) return undefined;
  const group = groupDotOf(func, loop, [left, ...boxedOperands(func, loop, staged)], target);
  if (group === undefined) return undefined;
  const here = new Set<Op>(loopOf(loop).body.ops);
  const vectors = vectorsOf(operandsOf(group.dot).a).flatMap((load) =>
    load.name === "tensor_load" && here.has(load) ? [boxedVector(func, group.dot, load)] : []
  );
  return { ...group, isComputed: true, vectors };
}

/**
 * Vectors that each iteration of an overlapping chain of dots loads, such as two numbers for each row in the
 * derivatives of attention. They come by bulk copies with the first box of the iteration (chain_loop.ts), because a
 * load would have its threads wait for memory while no dot is under way. A vector is a run of memory that nothing
 * writes, from a multiple of 16 bytes on.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { rootsOf } from "../../ir/pointer_roots.ts";
import { bytesOf, type IrType } from "../../ir/types.ts";
import { layoutOf, tileBytes } from "../../layout/tiles.ts";
import { log2, ofAxis } from "../../linear/linear.ts";
import { query } from "../../targets.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import type { TargetContext } from "../../tile/pass.ts";
import { buffersOf, type ChainPlan, type TensorBox, type VectorBox } from "./chain_plan.ts";
import { addressState } from "../pipeline/prefetch.ts";
import { times } from "../../support/times.ts";

/** What the size and the addresses of a bulk copy are multiples of (PTX ISA 9.0, 9.7.9.25.4.1). */
const UNIT_BYTES = 16;

/** The plan with the vectors of its iterations in slots, where they have the memory. */
export function withVectors(plan: ChainPlan, { target, axisInfo }: TargetContext): ChainPlan {
  const facts = axisInfo();
  const beside = plan.boxes.find(({ kind, isRing }) => kind === "tensor" && isRing);
  if (beside?.kind !== "tensor") return plan;
  const vectors = loopOf(plan.loop).body.ops.flatMap((op) =>
    op.name === "load" ? vectorOf(plan.func, op, facts, beside) ?? [] : []
  );
  if (vectors.length === 0) return plan;
  const boxes = [...plan.boxes, ...vectors];
  const rings = boxes.filter(({ isRing }) => isRing);
  const carried = addressState(plan.loop, rings.flatMap(({ from }) => from));
  if (carried === undefined) return plan;
  const full: ChainPlan = { ...plan, boxes, carried };
  const bytes = buffersOf(full).reduce((sum, { slots, slotBytes }) => sum + slots * slotBytes, 0);
  return query(target, ({ sharedBytesPerBlock }) => bytes + SPARE_BYTES <= sharedBytesPerBlock)
    ? full
    : plan;
}

/** More than what aligning all buffers takes. */
const SPARE_BYTES = 4096;

function vectorOf(
  func: Func,
  load: OpOf<"load">,
  axisInfo: AxisFacts,
  beside: TensorBox,
): VectorBox | undefined {
  const { pointer, mask, other } = operandsOf(load);
  const { type } = resultOf(load);
  const { element, shape } = type;
  if (mask !== undefined || other !== undefined || load.attrs.modifiers.length > 0) {
    return undefined;
  }
  const first = firstOf(pointer);
  const bytes = tileBytes(type);
  const isAligned = (axisInfo(pointer).divisibility[0] ?? 1) % UNIT_BYTES === 0;
  if (shape.length !== 1 || first === undefined || bytes % UNIT_BYTES !== 0 || !isAligned) {
    return undefined;
  }
  const root = rootsOf(func, new Set(func.params))(pointer);
  const facts = root && func.paramFacts[func.params.indexOf(root)];
  if (facts?.readonly !== true) return undefined;
  const bits = log2(ofAxis(shape, 0));
  const { register } = layoutOf(resultOf(load));
  const most = Math.min(bits, log2(UNIT_BYTES / bytesOf(element)));
  let vectorBits = 0;
  while (vectorBits < most && register.includes(1 << vectorBits)) vectorBits++;
  const columns = times(bits, (bit) => 1 << bit);
  const buffer: IrType = { element, shape, shared: { shape, columns, vectorBits } };
  return { kind: "vector", load, type: buffer, bytes, isRing: true, first, from: [first], beside };
}

/** The pointer to the first element of a run. */
function firstOf(pointer: Value): Value | undefined {
  const offset = madeBy(pointer, "offset");
  if (offset === undefined) return undefined;
  const { pointer: base, count } = operandsOf(offset);
  const range = madeBy(count, "range");
  const splat = madeBy(base, "splat");
  const isFromFirst = range !== undefined && Number(range.attrs.lo) === 0;
  return splat !== undefined && isFromFirst ? operandsOf(splat).value : undefined;
}

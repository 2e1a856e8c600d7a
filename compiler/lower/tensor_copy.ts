/**
 * Tensor copies (TMA) into slots of shared memory, and the barriers that say when they are there. Source: PTX ISA 9.0, 9.7.9.25.5 and 9.7.13.15.
 */
import type { OpOf, Value } from "../ir/func.ts";
import { madeBy, operandsOf, regionsOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { groupBox } from "../layout/warp_group.ts";
import type { Operand, PtxParam } from "../ptx/func.ts";
import { must } from "../support/bug.ts";
import { threadIndex } from "./addresses.ts";
import { whereTrue } from "./calls.ts";
import type { LowerContext } from "./context.ts";
import { whole } from "./element.ts";
import { int, isInteger } from "./emitter.ts";
import { slotAddress } from "./shared_buffer.ts";
import { emitDeferred, lowered } from "./values.ts";

/** The parameter by value of a tensor map, after those of the kernel (PTX ISA 9.0, 5.5.8). */
export const mapParam = (name: string): PtxParam => ({ name, type: "b8", bytes: 128, align: 64 });

const scalar = (cx: LowerContext, value: Value): Operand =>
  whole(cx.emitter, lowered(cx, value)(0), value.type.element);

/** Thread 0 of the block, in a branch: the others need neither addresses nor coordinates. */
export function lowerOnce(cx: LowerContext, op: OpOf<"once">): void {
  const e = cx.emitter;
  const condition = scalar(cx, operandsOf(op).when);
  if (isInteger(condition) && condition.value === 0n) return;
  const isFirst = e.pure("setp.eq.u32", "pred", [threadIndex(cx), int(0)]);
  const both = isInteger(condition) ? isFirst : e.pure("and.pred", "pred", [isFirst, condition]);
  const { ops } = regionsOf(op).body;
  // Coordinates are in registers for the copies that follow too.
  const inside = new Set(ops);
  for (const value of ops.flatMap(({ operands }) => operands)) {
    const isOutside = value.def === undefined || !inside.has(value.def);
    if (isOutside && value.type.shared === undefined) scalar(cx, value);
  }
  whereTrue(cx, both, () => cx.lowerOps(ops.slice(0, -1)));
}

/** The addresses of the barriers of all slots. */
function barriersAt(cx: LowerContext, barriers: Value): Operand[] {
  const { slots, slot_bytes } = must(madeBy(barriers, "shared_buffer"), "buffer").attrs;
  const e = cx.emitter;
  const first = slotAddress(cx, barriers);
  return Array.from(
    { length: slots },
    (_, slot) => e.address(first, BigInt(slot * slot_bytes)),
  );
}

export function lowerMbarrierInit(cx: LowerContext, op: OpOf<"mbarrier_init">): void {
  const e = cx.emitter;
  for (const at of barriersAt(cx, operandsOf(op).barriers)) {
    e.emit("mbarrier.init.shared::cta.b64", [at, int(1)]);
  }
  e.emit("fence.mbarrier_init.release.cluster", []);
}

export function lowerMbarrierEnd(cx: LowerContext, op: OpOf<"mbarrier_end">): void {
  for (const at of barriersAt(cx, operandsOf(op).barriers)) {
    cx.emitter.emit("mbarrier.inval.shared::cta.b64", [at]);
  }
}

export function lowerMbarrierExpect(cx: LowerContext, op: OpOf<"mbarrier_expect">): void {
  const e = cx.emitter;
  const { barriers, slot } = operandsOf(op);
  const at = e.address(slotAddress(cx, barriers, slot));
  e.emit(
    "mbarrier.arrive.expect_tx.shared::cta.b64",
    [{ kind: "sink" }, at, int(op.attrs.bytes)],
  );
}

export function lowerMbarrierWait(cx: LowerContext, op: OpOf<"mbarrier_wait">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  const { barriers, slot, parity } = operandsOf(op);
  const at = e.address(slotAddress(cx, barriers, slot));
  const phase = scalar(cx, parity);
  const [again, isOver] = [e.newLabel(), e.register("pred")];
  e.label(again);
  e.emit("mbarrier.try_wait.parity.shared::cta.b64", [isOver, at, phase]);
  e.emit("bra", [{ kind: "symbol", name: again }], { register: isOver, negated: true });
}

export function lowerTensorCopy(cx: LowerContext, op: OpOf<"tensor_copy">): void {
  const e = cx.emitter;
  const { buffer, barriers, slot, coordinates } = operandsOf(op);
  const { symbol, axes } = must(cx.maps[op.attrs.map], "tensor map");
  const map = e.pure("cvta.param.u64", "b64", [
    e.pure("mov.b64", "b64", [{ kind: "symbol", name: symbol }]),
  ]);
  const start = slotAddress(cx, buffer, slot);
  const barrier = e.address(slotAddress(cx, barriers, slot));
  const { extents, origins } = groupBox(buffer.type);
  const bytes = extents.reduce((product, extent) => product * extent, 1) *
    bytesOf(buffer.type.element);
  origins.forEach((origin, i) => {
    const at = coordinates.map((coordinate, axis) => {
      const { tile } = must(axes[axis], "axis of a tensor map");
      const step = tile === undefined ? 0 : must(origin[tile], "axis of a tile");
      return e.inRegister(e.add("b32", scalar(cx, coordinate), int(step)), "b32");
    });
    e.emit(
      `cp.async.bulk.tensor.${axes.length}d.shared::cluster.global.mbarrier::complete_tx::bytes`,
      [
        e.address(start, BigInt(i * bytes)),
        {
          kind: "address",
          base: map,
          offset: 0n,
          coordinates: { kind: "vector", elements: at },
        },
        barrier,
      ],
    );
  });
}

/**
 * Tensor copies (TMA) into slots of shared memory, and the barriers that say when they are there. Source: PTX ISA 9.0, 9.7.9.25.5 and 9.7.13.15.
 */
import type { Func, OpOf, Region, Value } from "../../ir/func.ts";
import { operandsOf, regionsOf } from "../../ir/op.ts";
import { coordinatesAlong, runsOfTile, windowAxes } from "../../ir/tensor_map.ts";
import { bytesOf } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import { GROUP_WARPS, groupBox } from "../../layout/warp_group.ts";
import { ofAxis } from "../../linear/linear.ts";
import type { Operand, PtxParam } from "../../ptx/func.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { threadInBlock } from "../addresses.ts";
import { whereTrue } from "../calls/calls.ts";
import type { LowerContext } from "../context.ts";
import { whole } from "../element.ts";
import { int, isInteger } from "../emitter.ts";
import { bufferOf, slotAddress } from "./shared_buffer.ts";
import { emitDeferred, lowered } from "../values.ts";
import { times } from "../../support/times.ts";

/** The parameter by value of a tensor map, after those of the kernel (PTX ISA 9.0, 5.5.8). */
export const mapParam = (name: string): PtxParam => ({ name, type: "b8", bytes: 128, align: 64 });

const scalar = (cx: LowerContext, value: Value): Operand =>
  whole(cx.emitter, lowered(cx, value)(0), value.type.element);

/** Thread 0 of the block, in a branch: the others need neither addresses nor coordinates. */
export function lowerOnce(cx: LowerContext, op: OpOf<"once">): void {
  const e = cx.emitter;
  const condition = scalar(cx, operandsOf(op).when);
  if (isInteger(condition) && condition.value === 0n) return;
  const isFirst = e.pure("setp.eq.u32", "pred", [threadInBlock(cx), int(0)]);
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

/** Registers of a thread that only starts copies: the least that can be set (PTX ISA 9.0, 9.7.20.5). */
const PRODUCER_REGISTERS = 24;
const MOST_REGISTERS = 240;
/** Registers come in so many. */
const REGISTER_UNIT = 8;
/** Warps from which on a block takes a multiprocessor for itself, so that one group can leave registers to the others. */
const LENDING_WARPS = 2 * GROUP_WARPS;

/** Registers of a thread of the program when a group beside it has left it what it does not need. */
function lentRegisters(numWarps: number, registersPerSm: number): number {
  const threads = WARP_LANES * numWarps;
  const producers = WARP_LANES * GROUP_WARPS;
  const whole = (registers: number): number =>
    Math.floor(registers / REGISTER_UNIT) * REGISTER_UNIT;
  const all = whole(registersPerSm / (threads + producers)) * (threads + producers);
  return Math.min(MOST_REGISTERS, whole((all - producers * PRODUCER_REGISTERS) / threads));
}

/** Warps of a block beside those of its programs: a whole group if it leaves registers to them. */
export function producerWarps({ body }: Func, numWarps: number): number {
  if (!body.ops.some(({ name }) => name === "produce")) return 0;
  return numWarps >= LENDING_WARPS ? GROUP_WARPS : 1;
}

/** Brings the tensor maps that a region uses to where copies read them, while barriers are made ready. */
function fetchMaps(cx: LowerContext, region: Region, isOne: Operand): void {
  if (isOne.kind !== "register") return;
  const used = new Set<number>();
  walkOps(region, (op) => {
    if (op.name === "tensor_copy") used.add(op.attrs.map);
  });
  const e = cx.emitter;
  for (const index of used) {
    const at = e.address(mapAt(cx, index));
    e.emit("prefetch.tensormap", [at], { register: isOne, negated: false });
  }
}

/** The map of a copy: the verifier sees to it that the function has one. */
const mapOf = ({ maps }: LowerContext, index: number): LowerContext["maps"][number] =>
  must(maps[index], "tensor map");

/** The generic address of a tensor map. */
function mapAt(cx: LowerContext, index: number): Operand {
  const { symbol } = mapOf(cx, index);
  const e = cx.emitter;
  return e.pure("cvta.param.u64", "b64", [
    e.pure("mov.b64", "b64", [{ kind: "symbol", name: symbol }]),
  ]);
}

/** The first lane of the warps beside those of the program, which end here: no barrier counts them any more. */
export function lowerProduce(cx: LowerContext, op: OpOf<"produce">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  const { body } = regionsOf(op);
  const { ops } = body;
  const numWarps = cx.numWarps * (cx.partitions?.count ?? 1);
  const first = int(WARP_LANES * numWarps);
  const isProducer = e.pure("setp.ge.u32", "pred", [threadInBlock(cx), first]);
  const isOne = e.pure("setp.eq.u32", "pred", [threadInBlock(cx), first]);
  fetchMaps(cx, body, isOne);
  e.emit("bar.sync", [int(0)]);
  const lends = numWarps >= LENDING_WARPS;
  const setRegisters = (direction: "dec" | "inc", count: number): void => {
    if (lends) e.emit(`setmaxnreg.${direction}.sync.aligned.u32`, [int(count)]);
  };
  whereTrue(cx, isProducer, () => {
    setRegisters("dec", PRODUCER_REGISTERS);
    whereTrue(cx, isOne, () => cx.lowerOps(ops.slice(0, -1)));
    e.emit("ret", []);
  });
  setRegisters("inc", lentRegisters(numWarps, e.target.registersPerSm));
}

const WARP_LANES = 32;

export function lowerMbarrierArrive(cx: LowerContext, op: OpOf<"mbarrier_arrive">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  const { barriers, slot } = operandsOf(op);
  const at = e.address(slotAddress(cx, barriers, slot));
  const lane = e.pure("and.b32", "b32", [threadInBlock(cx), int(WARP_LANES - 1)]);
  const isFirst = e.pure("setp.eq.u32", "pred", [lane, int(0)]);
  const guard = isFirst.kind === "register" ? { register: isFirst, negated: false } : undefined;
  // What orders the first lane's reads before its arrival says nothing of the others' (PTX ISA 9.0, 8.8).
  if (op.attrs.reads === true) e.emit("bar.warp.sync", [int(0xffffffffn)]);
  e.emit("mbarrier.arrive.shared::cta.b64", [{ kind: "sink" }, at], guard);
}

/** The addresses of the barriers of all slots. */
function barriersAt(cx: LowerContext, barriers: Value): Operand[] {
  const { slots, slot_bytes } = bufferOf(barriers);
  const e = cx.emitter;
  const first = slotAddress(cx, barriers);
  return times(slots, (slot) => e.address(first, BigInt(slot * slot_bytes)));
}

export function lowerMbarrierInit(cx: LowerContext, op: OpOf<"mbarrier_init">): void {
  const e = cx.emitter;
  for (const at of barriersAt(cx, operandsOf(op).barriers)) {
    e.emit("mbarrier.init.shared::cta.b64", [at, int(op.attrs.arrivals)]);
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
  const { barriers, slot, parity, others } = operandsOf(op);
  const at = [barriers, ...others].map((one) => e.address(slotAddress(cx, one, slot)));
  const phase = scalar(cx, parity);
  const again = e.newLabel();
  const areOver = at.map(() => e.register("pred"));
  e.label(again);
  // All are asked before the first answer is needed.
  zip(at, areOver).forEach(([one, isOver]) =>
    e.emit("mbarrier.try_wait.parity.shared::cta.b64", [isOver, one, phase])
  );
  const all = areOver.reduce((both, isOver) => {
    const joined = e.register("pred");
    e.emit("and.pred", [joined, both, isOver]);
    return joined;
  });
  e.emit("bra", [{ kind: "symbol", name: again }], { register: all, negated: true });
}

export function lowerBulkCopy(cx: LowerContext, op: OpOf<"bulk_copy">): void {
  const e = cx.emitter;
  const { pointer, buffer, barriers, slot } = operandsOf(op);
  e.emit("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", [
    e.address(slotAddress(cx, buffer, slot)),
    e.address(e.inRegister(scalar(cx, pointer), "b64")),
    int(op.attrs.bytes),
    e.address(slotAddress(cx, barriers, slot)),
  ]);
}

export function lowerTensorCopy(cx: LowerContext, op: OpOf<"tensor_copy">): void {
  const e = cx.emitter;
  const { buffer, barriers, slot, coordinates } = operandsOf(op);
  const tensor = mapOf(cx, op.attrs.map);
  const { axes } = tensor;
  const map = mapAt(cx, op.attrs.map);
  const start = slotAddress(cx, buffer, slot);
  const barrier = e.address(slotAddress(cx, barriers, slot));
  const { shape } = buffer.type;
  const { extents, origins } = shape.length === 1
    ? { extents: shape, origins: [[0]] }
    : groupBox(buffer.type, runsOfTile(tensor, shape));
  let next = 0;
  const starts = axes.map((axis) => coordinates.slice(next, next += coordinatesAlong(axis, shape)));
  const [inner] = axes;
  const ofWindows = windowAxes(tensor);
  // For each run along the innermost axis.
  const offsets = ofWindows.map(() =>
    coordinates.slice(next, next += inner === undefined ? 0 : coordinatesAlong(inner, shape))
  );
  const bytes = extents.reduce((product, extent) => product * extent, 1) *
    bytesOf(buffer.type.element);
  const mode = ofWindows.length === 0 ? "" : ".im2col";
  origins.forEach((origin, i) => {
    const inPanel = inner?.tile === undefined ? 0 : ofAxis(origin, inner.tile);
    const pixels = offsets.map((some) => {
      const offset = must(
        some[Math.floor(inPanel / (inner?.run ?? Infinity))],
        "offset of a pixel",
      );
      return e.inRegister(e.pure("cvt.u16.u32", "b16", [scalar(cx, offset)]), "b16");
    });
    const at = zip(axes, starts).map(([{ tile, run = Infinity }, some]) => {
      const first = tile === undefined ? 0 : ofAxis(origin, tile);
      const coordinate = must(some[Math.floor(first / run)], "coordinate");
      const step = first % run;
      return e.inRegister(e.add("b32", scalar(cx, coordinate), int(step)), "b32");
    });
    e.emit(
      `cp.async.bulk.tensor.${axes.length}d.shared::cluster.global${mode}.mbarrier::complete_tx::bytes`,
      [
        e.address(start, BigInt(i * bytes)),
        {
          kind: "address",
          base: map,
          offset: 0n,
          coordinates: { kind: "vector", elements: at },
        },
        barrier,
        ...pixels.length === 0 ? [] : [{ kind: "vector", elements: pixels } as const],
      ],
    );
  });
}

/** Carries out a change of layout: renames registers, or exchanges through swizzled shared memory. */
import type { Operand } from "../ptx/func.ts";
import { offsetBases, planConversion, type SharedPlan } from "../layout/conversion.ts";
import { freeMask, type LinearLayout } from "../layout/linear.ts";
import type { Op, Value } from "../ir/func.ts";
import { bytesOf } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import {
  atRegister,
  copyBits,
  type LowerContext,
  lowered,
  ownerPredicate,
  SHARED_SYMBOL,
} from "./context.ts";
import { accessShape, packAccess, type Ref, unpackAccess } from "./element.ts";
import { int } from "./emitter.ts";

export function layoutOf(value: Value): LinearLayout {
  return must(value.type.layout, "layout of a tile");
}

/** The plan of a `convert_layout` operation. */
export function conversionOf(op: Op): ReturnType<typeof planConversion> {
  const operand = must(op.operands[0], "operand");
  const result = must(op.results[0], "result");
  return planConversion(layoutOf(operand), layoutOf(result), bytesOf(operand.type.element));
}

/** Contains a barrier of the whole block; of a block of one warp, a warp barrier is one. */
export function hasBlockBarrier(op: Op): boolean {
  if (op.name === "barrier") return true;
  if (op.name !== "convert_layout") return false;
  const plan = conversionOf(op);
  const warps = layoutOf(must(op.results[0], "result")).warp;
  return plan.kind === "shared" && (!plan.withinWarp || warps.length === 0);
}

export function lowerConvertLayout(cx: LowerContext, op: Op): void {
  const operand = must(op.operands[0], "operand");
  const result = must(op.results[0], "result");
  const plan = conversionOf(op);
  switch (plan.kind) {
    case "none":
      cx.values.set(result, lowered(cx, operand));
      return;
    case "registers":
      cx.values.set(result, (register) => lowered(cx, operand)(plan.sources[register] ?? register));
      return;
    case "shared":
      exchange(cx, operand, result, plan);
  }
}

/** One side of an exchange: its layout's byte offsets, and its registers grouped into accesses. */
interface Side {
  readonly groups: readonly (readonly number[])[];
  readonly address: (register: number) => Operand;
}

function side(
  cx: LowerContext,
  layout: LinearLayout,
  plan: SharedPlan,
  elementBytes: number,
): Side {
  const shift = Math.log2(elementBytes);
  const offsets = offsetBases(layout, plan.columns);
  const bases = {
    register: offsets.register.map((o) => o << shift),
    thread: [...offsets.lane, ...offsets.warp].map((o) => o << shift),
  };
  // Registers whose images are the lowest offset bits form one access.
  const vector = Array.from(
    { length: plan.vectorBits },
    (_, bit) => offsets.register.indexOf(1 << bit),
  );
  const inVector = vector.reduce((mask, bit) => mask | (1 << bit), 0);
  const free = freeMask(layout.register);
  const groups: number[][] = [];
  for (let register = 0; register < 1 << layout.register.length; register++) {
    if (register & (inVector | free)) continue;
    groups.push(
      Array.from(
        { length: 1 << plan.vectorBits },
        (_, i) => vector.reduce((r, bit, k) => (i >> k) & 1 ? r | (1 << bit) : r, register),
      ),
    );
  }
  const e = cx.emitter;
  const start = e.pure("mov.u32", "b32", [{ kind: "symbol", name: SHARED_SYMBOL }]);
  return {
    groups,
    address: (register) => {
      const { base, constant } = atRegister(cx, bases, register);
      return { kind: "address", base: e.add("b32", start, base), offset: BigInt(constant) };
    },
  };
}

function exchange(cx: LowerContext, operand: Value, result: Value, plan: SharedPlan): void {
  const e = cx.emitter;
  const [src, dst] = [layoutOf(operand), layoutOf(result)];
  const element = operand.type.element;
  const size = bytesOf(element);
  const elements = src.shape.reduce((a, b) => a * b, 1);
  const barrier = (): void =>
    plan.withinWarp ? e.emit("bar.warp.sync", [int(0xffffffffn)]) : e.emit("bar.sync", [int(0)]);

  // The buffer may still be read by an earlier exchange.
  if (cx.shared.used) e.emit("bar.sync", [int(0)]);
  cx.shared.used = true;
  cx.shared.bytes = Math.max(cx.shared.bytes, elements * size);

  const access = accessShape(size, 1 << plan.vectorBits);
  const suffix = `.shared${access.count > 1 ? `.v${access.count}` : ""}.${access.type}`;
  const vectorOf = (registers: readonly Operand[]): Operand =>
    registers.length === 1
      ? must(registers[0], "register")
      : { kind: "vector", elements: registers };

  const write = side(cx, src, plan, size);
  const owner = ownerPredicate(cx, copyBits(src));
  for (const group of write.groups) {
    const registers = packAccess(e, group.map((r) => lowered(cx, operand)(r)), element);
    const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
    e.emit(`st${suffix}`, [write.address(must(group[0], "register")), vectorOf(registers)], guard);
  }
  barrier();
  const read = side(cx, dst, plan, size);
  const refs: Ref[] = [];
  for (const group of read.groups) {
    const registers = Array.from({ length: access.count }, () => e.register(access.bank));
    e.emit(`ld${suffix}`, [vectorOf(registers), read.address(must(group[0], "register"))]);
    unpackAccess(e, registers, element, group.length).forEach((ref, i) =>
      refs[must(group[i], "register")] = ref
    );
  }
  const free = freeMask(dst.register);
  cx.values.set(result, (register) => must(refs[register & ~free], "exchanged element"));
}

/** What every lowering rule gets: the emitter, the values lowered so far, and the thread's coordinates. */
import type { Operand } from "../ptx/func.ts";
import type { Op, Value } from "../ir/func.ts";
import { applyBases, type LinearLayout } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import { type Emitter, type Frame, int } from "./emitter.ts";
import type { Ref } from "./element.ts";
import type { Calls } from "./calls.ts";
import type { SharedBuffer } from "./shared.ts";
import type { Stages } from "./stage.ts";

/** The elements one thread holds of a value, by register index; computed when first asked for. */
export type Lowered = (register: number) => Ref;

export interface LowerContext {
  readonly emitter: Emitter;
  readonly numWarps: number;
  readonly values: Map<Value, Lowered>;
  /** How many operations wait for their elements to be asked for, up to a value (deferred.ts). */
  readonly deferred: Map<Value, number>;
  /** Shared memory is one buffer, reused by every exchange. */
  readonly shared: SharedBuffer;
  /** Buffers of operands of products. */
  readonly stages: Stages;
  /** Bytes of the constant buffers that are used, by name. */
  readonly constants: Map<string, number>;
  /** Calls of what the device brings. */
  readonly calls: Calls;
  /** 32-bit registers that loads fill: what a thread must hold at once, roughly. */
  readonly loaded: { registers: number };
  /** Reads and copies of shared memory that are to be emitted between the products that follow. */
  readonly aside: (() => void)[];
  /** Lowers the operations of a region by their rules. */
  readonly lowerOps: (ops: readonly Op[]) => void;
  /** The value that one differs from by the same amount in every element; itself where none is known. */
  readonly originOf: (value: Value) => Value;
}

/** Emits at most so much of what stands aside; all by default. */
export function emitAside(cx: LowerContext, count = cx.aside.length): void {
  for (const emit of cx.aside.splice(0, count)) emit();
}

export const SHARED_SYMBOL = "tri_shared";

/** How many elements of a value each thread holds. */
export function registerCount(value: Value): number {
  return value.type.layout === undefined ? 1 : 1 << value.type.layout.register.length;
}

export function lowered(cx: LowerContext, value: Value): Lowered {
  return must(
    cx.values.get(value),
    `lowering of a value made by ${value.def?.name ?? "a parameter"}`,
  );
}

/** Remembers each register's element once it has been computed, as long as the frame that it was asked in is open. */
export function memo(cx: LowerContext, compute: Lowered): Lowered {
  const known = new Map<number, { readonly ref: Ref; readonly frame: Frame }>();
  return (register) => {
    const found = known.get(register);
    if (found?.frame.open === true) return found.ref;
    const ref = compute(register);
    known.set(register, { ref, frame: cx.emitter.frame });
    return ref;
  };
}

export function threadIndex(cx: LowerContext): Operand {
  return cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: "tid.x" }]);
}

/**
 * The part of a linear map that lane and warp contribute, as a register: runs of bits that move together are
 * masked and shifted together. `bases` are images of lane bits, then of warp bits (thread index bits 0 … n-1).
 */
export function threadPart(cx: LowerContext, bases: readonly number[]): Operand {
  const e = cx.emitter;
  let sum: Operand = int(0);
  // Output bits that several input bits reach need exclusive or; disjoint ones may be or-ed, which xor also is.
  for (const [shift, mask] of shiftsOf(bases)) {
    const masked = e.pure("and.b32", "b32", [threadIndex(cx), int(mask)]);
    const moved = shift === 0
      ? masked
      : e.pure(shift > 0 ? "shl.b32" : "shr.u32", "b32", [masked, int(Math.abs(shift))]);
    sum = sum.kind === "integer" ? moved : e.pure("xor.b32", "b32", [sum, moved]);
  }
  return sum;
}

type Shifts = readonly (readonly [shift: number, mask: number])[];

/** Registers of a tile ask for the same bases again and again. */
const shifts = new WeakMap<readonly number[], Shifts>();

/**
 * How a linear map moves bits of the thread index. A basis with several bits is split: bit i of the thread index goes to
 * each of its output bits. Runs of equal shift (output bit minus input bit) cost one shift and one mask.
 */
function shiftsOf(bases: readonly number[]): Shifts {
  const known = shifts.get(bases);
  if (known !== undefined) return known;
  const byShift = new Map<number, number>();
  bases.forEach((basis, bit) => {
    for (let out = 0; out < 31; out++) {
      if ((basis >> out) & 1) byShift.set(out - bit, (byShift.get(out - bit) ?? 0) | (1 << bit));
    }
  });
  const sorted = [...byShift].sort((a, b) => a[0] - b[0]);
  shifts.set(bases, sorted);
  return sorted;
}

/** All output bits the thread part of a map can set. */
export function reach(bases: readonly number[]): number {
  return bases.reduce((mask, basis) => mask | basis, 0);
}

/**
 * Value of a linear map at a register: the thread's part plus a constant where their bits are disjoint,
 * exclusive or where they overlap. `origin` is the value at coordinate 0.
 */
export function atRegister(
  cx: LowerContext,
  bases: { readonly register: readonly number[]; readonly thread: readonly number[] },
  register: number,
  origin = 0,
): { readonly base: Operand; readonly constant: number } {
  const image = applyBases(bases.register, register) ^ origin;
  const overlap = image & reach(bases.thread);
  const part = threadPart(cx, bases.thread);
  const base = overlap === 0
    ? part
    : part.kind === "integer"
    ? int(part.value ^ BigInt(overlap))
    : cx.emitter.pure("xor.b32", "b32", [part, int(overlap)]);
  return { base, constant: image & ~overlap };
}

/** Bases of the thread index: lanes below warps. */
export function threadBases(layout: LinearLayout): readonly number[] {
  return [...layout.lane, ...layout.warp];
}

/** Mask of thread index bits that only make copies. */
export function copyBits(layout: LinearLayout): number {
  return threadBases(layout).reduce(
    (mask, basis, bit) => basis === 0 ? mask | (1 << bit) : mask,
    0,
  );
}

/** Predicate of the threads that own their elements alone; undefined when all do. */
export function ownerPredicate(cx: LowerContext, copies: number): Operand | undefined {
  if (copies === 0) return undefined;
  const e = cx.emitter;
  return e.pure("setp.eq.s32", "pred", [
    e.pure("and.b32", "b32", [threadIndex(cx), int(copies)]),
    int(0),
  ]);
}

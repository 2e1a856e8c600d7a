/** The thread's coordinates, and linear maps of them as registers. */
import type { Operand } from "../ptx/func.ts";
import { applyBases, log2 } from "../linear/linear.ts";
import type { LowerContext, ThreadPart } from "./context.ts";
import { type Emitter, int } from "./emitter.ts";

export function threadInBlock(cx: LowerContext): Operand {
  return cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: "tid.x" }]);
}

/** Which partition of the block the thread is in. The shuffle makes it uniform for assemblers. */
export function partitionOfThread(e: Emitter, numWarps: number): Operand {
  const thread = e.pure("mov.u32", "b32", [{ kind: "special", name: "tid.x" }]);
  const partition = e.pure("shr.u32", "b32", [thread, int(log2(32 * numWarps))]);
  const own = e.register("b32");
  e.emit("shfl.sync.idx.b32", [own, partition, int(0), int(31), int(0xffffffffn)]);
  return own;
}

/** The number of the thread's block in its program. */
export function blockRank(cx: LowerContext): Operand {
  return cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: "cluster_ctarank" }]);
}

/** The thread in its program; where only bits in `mask` are wanted, maybe without the others. */
function threadInProgram(cx: LowerContext, mask: number): Operand {
  const bits = 5 + log2(cx.numWarps);
  const own = threadInBlock(cx);
  if (cx.numCtas === 1 || mask >> bits === 0) return own;
  const e = cx.emitter;
  return e.pure("or.b32", "b32", [e.pure("shl.b32", "b32", [blockRank(cx), int(bits)]), own]);
}

/** The bits of a thread's index in its program, all of which only make copies of a scalar. */
export function scalarCopies(cx: LowerContext): number {
  return 32 * cx.numWarps * cx.numCtas - 1;
}

/**
 * The part of a linear map that lane, warp and block contribute, as a register: runs of bits that move together are
 * masked and shifted together. `bases` are images of lane bits, of warp bits, then of block bits (thread index bits
 * 0 … n-1).
 */
function threadPart(cx: LowerContext, bases: readonly number[]): ThreadPart {
  const known = cx.threadParts.get(bases);
  if (known?.scope.open === true) return known;
  const part = {
    part: emitThreadPart(cx, bases),
    reach: bases.reduce((mask, basis) => mask | basis, 0),
    scope: cx.emitter.scope,
  };
  cx.threadParts.set(bases, part);
  return part;
}

function emitThreadPart(cx: LowerContext, bases: readonly number[]): Operand {
  const e = cx.emitter;
  let sum: Operand = int(0);
  // Output bits that several input bits reach need exclusive or; disjoint ones may be or-ed, which xor also is.
  for (const [shift, mask] of shiftsOf(bases)) {
    const masked = e.pure("and.b32", "b32", [threadInProgram(cx, mask), int(mask)]);
    const moved = shift === 0
      ? masked
      : e.pure(shift > 0 ? "shl.b32" : "shr.u32", "b32", [masked, int(Math.abs(shift))]);
    sum = sum.kind === "integer" ? moved : e.pure("xor.b32", "b32", [sum, moved]);
  }
  return sum;
}

type Shifts = readonly (readonly [shift: number, mask: number])[];

/**
 * How a linear map moves bits of the thread index. A basis with several bits is split: bit i of the thread index goes to
 * each of its output bits. Runs of equal shift (output bit minus input bit) cost one shift and one mask.
 */
function shiftsOf(bases: readonly number[]): Shifts {
  const byShift = new Map<number, number>();
  bases.forEach((basis, bit) => {
    for (let left = basis; left !== 0; left &= left - 1) {
      const shift = 31 - Math.clz32(left & -left) - bit;
      byShift.set(shift, (byShift.get(shift) ?? 0) | (1 << bit));
    }
  });
  return [...byShift].sort((a, b) => a[0] - b[0]);
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
  const { part, reach } = threadPart(cx, bases.thread);
  const overlap = image & reach;
  const base = overlap === 0
    ? part
    : part.kind === "integer"
    ? int(part.value ^ BigInt(overlap))
    : cx.emitter.pure("xor.b32", "b32", [part, int(overlap)]);
  return { base, constant: image & ~overlap };
}

/** Predicate of the threads that own their elements alone; undefined when all do. */
export function ownerPredicate(cx: LowerContext, copies: number): Operand | undefined {
  if (copies === 0) return undefined;
  const e = cx.emitter;
  return e.pure("setp.eq.s32", "pred", [
    e.pure("and.b32", "b32", [threadInProgram(cx, copies), int(copies)]),
    int(0),
  ]);
}

/**
 * Dots of warp groups (`wgmma`): operands in slots of shared memory, which matrix descriptors name, and sums in registers
 * that the instruction changes in place. Nothing else touches those before `wgmma.wait_group`, so a loop must carry them
 * in the same registers: the sum is a parameter of the loop's body, and its only use is this dot. A dot that makes its
 * result anew takes the registers of such a sum too, after all uses of it.
 * Source: PTX ISA 9.0, 9.7.15.5.
 */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import { leftFragments } from "../../layout/operands/register_operand.ts";
import { layoutOf, registerCount } from "../../layout/tiles.ts";
import {
  depthOf,
  GROUP_ROWS,
  groupOperand,
  type GroupType,
  groupType,
  MOST_COLUMNS,
} from "../../layout/warp_group.ts";
import { ofAxis } from "../../linear/linear.ts";
import { bug, must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { threadInBlock } from "../addresses.ts";
import type { LowerContext, Lowered } from "../context.ts";
import { whole } from "../element.ts";
import { int } from "../emitter.ts";
import { type Part, partsOf, type Share, shareOf, type StartedDot } from "./group_parts.ts";
import { computeStep, fragmentsOf, type Left, readFragments } from "./left_fragments.ts";
import { slotAddress } from "../memory/shared_buffer.ts";
import { emitDeferred, lowered, ofRegister, setElements } from "../values.ts";
import { times } from "../../support/times.ts";

/** Bits of the thread index below the number of the group: lanes and the warp in its group. */
const GROUP_SHIFT = 7;
/** Bits of an address that descriptors hold, in units of 16 bytes. */
const ADDRESS_BITS = 0x3ffff;
const UNIT_SHIFT = 4;

/** A descriptor of the operand's first part, and what to add to it for another one. */
interface Descriptors {
  readonly at: (across: number, k: number) => Operand;
  readonly isTransposed: boolean;
}

function descriptorsOf(
  cx: LowerContext,
  buffer: Value,
  slot: Value,
  depthAxis: number,
  /** Elements across k by bit of the group's number. */
  groups: readonly number[],
): Descriptors {
  const e = cx.emitter;
  const { descriptor, isTransposed, offset } = groupOperand(buffer.type, depthAxis);
  let address = slotAddress(cx, buffer, slot);
  groups.forEach((across, bit) => {
    if (across === 0) return;
    const mask = int(1 << (GROUP_SHIFT + bit));
    const isSet = e.pure("and.b32", "b32", [threadInBlock(cx), mask]);
    const group = e.pure("shr.u32", "b32", [isSet, int(GROUP_SHIFT + bit)]);
    address = e.add("b32", address, e.mul("b32", group, int(offset(across, 0))));
  });
  const units = e.pure("shr.u32", "b32", [
    e.pure("and.b32", "b32", [e.inRegister(address, "b32"), int(ADDRESS_BITS)]),
    int(UNIT_SHIFT),
  ]);
  const first = e.pure("cvt.u64.u32", "b64", [units]);
  return {
    isTransposed,
    at: (across, k) => {
      const rest = descriptor + BigInt(offset(across, k) >> UNIT_SHIFT);
      return e.pure("add.s64", "b64", [first, { kind: "integer", value: BigInt.asIntN(64, rest) }]);
    },
  };
}

/** Whether a sum is zero, which instructions need not read. */
function isZero(sum: Value): boolean {
  const constant = madeBy(sum, "constant");
  return constant !== undefined && Object.is(Number(constant.attrs.value), 0);
}

/** The registers of the sum; constants and the like get registers of their own. */
function sumsInPlace(cx: LowerContext, sum: Value): Operand[] {
  const e = cx.emitter;
  const isCarried = sum.def === undefined;
  if (isZero(sum)) return times(registerCount(sum), () => e.register("b32"));
  return times(registerCount(sum), (register) => {
    const operand = whole(e, lowered(cx, sum)(register), sum.type.element);
    if (isCarried && operand.kind === "register") return operand;
    const own = e.register("b32");
    e.emit("mov.b32", [own, operand]);
    return own;
  });
}

/** The instructions of a dot: parts of the result, and how to add an MMA to one. */
interface Instructions {
  /** In the order of their registers. */
  readonly parts: readonly Part[];
  /** Elements along k: of one instruction, and all. */
  readonly step: number;
  readonly depth: number;
  /** Reads what instructions on elements along k take from registers. */
  readonly read: Left["read"];
  /** The MMA from k on, added to registers or, where `adds` is false, written to them. */
  readonly multiply: (
    part: Part,
    k: number,
    sums: readonly Operand[],
    adds: Operand,
    /** In place of what `left` has. */
    fragment?: Operand,
  ) => void;
}

type GroupDotOp = OpOf<"warp_group_dot" | "register_group_dot">;

function leftOf(cx: LowerContext, op: GroupDotOp, { rowOf }: Share): Left {
  if (op.name === "register_group_dot") {
    return op.attrs.in_steps === true ? IN_STEPS : fragmentsOf(cx, operandsOf(op).a);
  }
  if (op.attrs.registers === true) return readFragments(cx, op);
  const { a, a_slot } = operandsOf(op);
  return descriptorsOf(cx, a, a_slot, op.attrs.a_depth, rowOf);
}

/** Fragments that are computed step by step. */
const IN_STEPS: Left = {
  at: () => bug("a fragment that is computed with its step"),
  isTransposed: undefined,
};

/** The row of an operand's elements: scheduling makes these dots of elements that have one. */
const typeOf = (operand: Value): GroupType => must(groupType(operand), "type of an operand");

function instructionsOf(cx: LowerContext, op: GroupDotOp, mostColumns: number): Instructions {
  const { sum, a, b, b_slot } = operandsOf(op);
  const share = shareOf(sum);
  const left = leftOf(cx, op, share);
  const right = descriptorsOf(cx, b, b_slot, op.attrs.b_depth, share.columnOf);
  const [type, other] = [typeOf(a), typeOf(b)];
  const step = depthOf(a.type);
  const types = [type.sum, type.spelling, other.spelling].join(".");
  // Signs of the operands, and whether they lie across k: as far as the type has a choice.
  const choices = [
    ...(type.sum === "f32" ? [1, 1] : []),
    ...(type.isEitherOrder
      ? [left, right].flatMap(({ isTransposed }) =>
        isTransposed === undefined ? [] : isTransposed ? 1 : 0
      )
      : []),
  ].map((choice) => int(choice));
  return {
    parts: partsOf(share, mostColumns),
    step,
    read: left.read,
    depth: ofAxis(b.type.shape, op.attrs.b_depth),
    multiply: ({ row, column }, k, elements, adds, fragment) => {
      const shape = `m${GROUP_ROWS}n${elements.length * 2}k${step}`;
      cx.emitter.emit(`wgmma.mma_async.sync.aligned.${shape}.${types}`, [
        { kind: "vector", elements },
        fragment ?? left.at(row, k),
        right.at(column, k),
        adds,
        ...choices,
      ]);
    },
  };
}

export function lowerWarpGroupDot(cx: LowerContext, op: OpOf<"warp_group_dot">): void {
  if (op.attrs.apart) return startApart(cx, op);
  setElements(cx, resultOf(op), multiplyInPlace(cx, op));
}

export function lowerRegisterGroupDot(cx: LowerContext, op: OpOf<"register_group_dot">): void {
  const sums = op.attrs.in_steps === true ? multiplyInSteps(cx, op) : multiplyInPlace(cx, op);
  setElements(cx, resultOf(op), sums);
}

/**
 * Starts the instructions of each step along k when its fragments are computed, while those of the steps before it are under
 * way. A step has the registers of the same one of the dot before, so all but that one may be under way.
 */
function multiplyInSteps(cx: LowerContext, op: OpOf<"register_group_dot">): Operand[] {
  const e = cx.emitter;
  const { parts, step, depth, multiply } = instructionsOf(cx, op, MOST_COLUMNS);
  const { sum, a } = operandsOf(op);
  const sums = sumsInPlace(cx, sum);
  const adds = !isZero(sum) && !cx.fresh.delete(sum);
  const pending = int(depth / step - 1);
  for (let k = 0; k < depth; k += step) {
    e.emit("wgmma.wait_group.sync.aligned", [pending]);
    const fragments = computeStep(cx, a, parts.map(({ row }) => row), k);
    e.emit("wgmma.fence.sync.aligned", []);
    const addsHere = int(adds || k > 0 ? 1 : 0);
    for (const part of parts) {
      multiply(part, k, sums.slice(part.from, part.to), addsHere, fragments.get(part.row));
    }
    e.emit("wgmma.commit_group.sync.aligned", []);
  }
  return sums;
}

/**
 * Starts all instructions, which add to the registers of the sum. Fragments are read from a slot when the dot before is
 * done, which had the same registers; another warp group multiplies meanwhile. In two or four groups of instructions, each
 * with registers of its own, whose fragments are read while another one multiplies, TF32 lost 4 and 8 % on an H100.
 */
function multiplyInPlace(cx: LowerContext, op: GroupDotOp): Operand[] {
  const e = cx.emitter;
  const { parts, step, depth, read, multiply } = instructionsOf(cx, op, MOST_COLUMNS);
  const { sum } = operandsOf(op);
  const sums = sumsInPlace(cx, sum);
  const isAnew = op.name === "warp_group_dot" && op.attrs.anew === true;
  if (isAnew) cx.values.set(sum, () => bug("an element of a sum whose registers another dot has"));
  const adds = !isZero(sum) && !isAnew && !cx.fresh.delete(sum);
  if (read !== undefined) {
    e.emit("wgmma.wait_group.sync.aligned", [int(0)]);
    read(0, depth);
  }
  e.emit("wgmma.fence.sync.aligned", []);
  for (let k = 0; k < depth; k += step) {
    const addsHere = int(adds || k > 0 ? 1 : 0);
    for (const part of parts) multiply(part, k, sums.slice(part.from, part.to), addsHere);
  }
  e.emit("wgmma.commit_group.sync.aligned", []);
  return sums;
}

/** Elements along k that are summed with the bits of the instruction. */
const APART_DEPTH = 128;
/**
 * Columns of a part whose sums have registers beside those of the result, at most, and parts that are under way at a time. Of
 * 64 columns an instruction reads as many bytes of both operands as shared memory delivers in its time; wider parts read
 * less of a, and three of 256 columns still leave registers for two at a time.
 */
const APART_COLUMNS = 88;
const APART_PARTS = 2;

/**
 * Starts a dot whose parts are summed from zero in registers beside those of the sum: the instructions of its first part.
 * `finish_dot` starts the other ones, each while the one before it is under way, and adds each when it is done. Of the dot
 * that makes the sum the last part may be under way until the first one of this dot is.
 *
 * Parts take turns with the same registers. Where each has its own, ptxas adds later, and spills.
 */
function startApart(cx: LowerContext, op: OpOf<"warp_group_dot">): void {
  const e = cx.emitter;
  const { parts, step, depth, read, multiply } = instructionsOf(cx, op, APART_COLUMNS);
  const start = (dot: StartedDot, part: Part, from: number): void => {
    addParts(cx, dot, dot.turns.length - 1);
    const fresh = ofRegister(dot.turns, dot.started % dot.turns.length)
      .slice(0, part.to - part.from);
    dot.started++;
    const end = Math.min(depth, from + APART_DEPTH);
    if (part === parts[0]) read?.(from, end);
    e.emit("wgmma.fence.sync.aligned", []);
    for (let k = from; k < end; k += step) {
      multiply(part, k, fresh, k > from ? int(1) : never(cx));
    }
    e.emit("wgmma.commit_group.sync.aligned", []);
    dot.underWay.push({ part, fresh });
  };
  const starts = times(Math.ceil(depth / APART_DEPTH), (i) => i * APART_DEPTH)
    .flatMap((from) => parts.map((part) => (dot: StartedDot) => start(dot, part, from)));
  const dot = newDot(cx, op, parts);
  starts.slice(0, 1).forEach((first) => first(dot));
  addParts(cx, dot, 1);
  cx.unfinished.set(resultOf(op), { ...dot, rest: starts.slice(1) });
}

/**
 * A condition that holds nowhere, since a grid has blocks, but ptxas does not know that. So it takes what a part begins with
 * for the sums of the one before it in the same registers, and leaves both there. With a constant it gives parts registers of
 * their own, and often finds no room for them (C7511).
 */
function never(cx: LowerContext): Operand {
  const blocks = cx.emitter.pure("mov.u32", "b32", [{ kind: "special", name: "nctaid.x" }]);
  return cx.emitter.pure("setp.eq.u32", "pred", [blocks, int(0)]);
}

/** A dot of which nothing is under way, but maybe the last part of the one that makes its sum. */
function newDot(cx: LowerContext, op: OpOf<"warp_group_dot">, parts: readonly Part[]): StartedDot {
  const e = cx.emitter;
  const { sum } = operandsOf(op);
  const before = cx.unfinished.get(sum);
  cx.unfinished.delete(sum);
  // Addresses of copies and fragments leave too few registers for two parts.
  const most = op.attrs.registers === true && cx.copied.size > 0 ? 1 : APART_PARTS;
  const widest = Math.max(...parts.map(({ from, to }) => to - from));
  const registers = (): Operand[] => times(widest, () => e.register("b32"));
  return {
    sums: times(
      registerCount(sum),
      (register) => e.inRegister(whole(e, lowered(cx, sum)(register), sum.type.element), "b32"),
    ),
    turns: before?.turns ?? times(most, registers),
    started: before?.started ?? 0,
    underWay: [...before?.underWay ?? []],
    rest: [],
  };
}

/** Adds those parts that have been under way longest, until no more than so many are. */
function addParts(cx: LowerContext, { sums, underWay }: StartedDot, left: number): void {
  const e = cx.emitter;
  const done = underWay.splice(0, Math.max(0, underWay.length - left));
  done.forEach(({ part, fresh }, i) => {
    const others = done.length - 1 - i + underWay.length;
    e.emit("wgmma.wait_group.sync.aligned", [int(others)]);
    const added = zip(sums.slice(part.from, part.to), fresh)
      .map(([sum, register]) => e.pure("add.rn.f32", "b32", [sum, register]));
    sums.splice(part.from, added.length, ...added);
  });
}

export function lowerFinishDot(cx: LowerContext, op: OpOf<"finish_dot">): void {
  emitDeferred(cx);
  // Scheduling finishes dots that it starts apart, after them.
  const dot = must(cx.unfinished.get(operandsOf(op).dot), "dot that was started");
  for (const start of dot.rest) start(dot);
  const { isFollowed } = cx.unrolled;
  addParts(cx, dot, isFollowed ? 1 : 0);
  const result = resultOf(op);
  setElements(cx, result, [...dot.sums]);
  if (isFollowed) cx.unfinished.set(result, dot);
}

/** Adds what is under way of a dot to registers that its sums have been moved to. */
export function finishLeft(cx: LowerContext, { underWay }: StartedDot, sums: Lowered): void {
  const e = cx.emitter;
  e.emit("wgmma.wait_group.sync.aligned", [int(0)]);
  for (const { part, fresh } of underWay) {
    fresh.forEach((register, i) => {
      const sum = whole(e, sums(part.from + i), "float32");
      e.emit("add.rn.f32", [sum, sum, register]);
    });
  }
}

/** Registers of a thread for a dot of warp groups beside those of its sums: sums from zero, and fragments. */
export function registersBeside(op: GroupDotOp): number {
  if (op.name === "register_group_dot") return 0;
  const { sum, a } = operandsOf(op);
  const { registers, apart, a_depth } = op.attrs;
  const fragments = registers === true
    ? leftFragments(a.type, a_depth, layoutOf(sum)).register.length
    : undefined;
  const words = fragments === undefined ? 0 : 2 ** fragments * bytesOf(a.type.element) / 4;
  const beside = apart ? Math.min(registerCount(sum), APART_PARTS * APART_COLUMNS / 2) : 0;
  return words + beside;
}

export function lowerWaitDots(cx: LowerContext, op: OpOf<"wait_dots">): void {
  emitDeferred(cx);
  cx.emitter.emit("wgmma.wait_group.sync.aligned", [int(op.attrs.pending)]);
}

/** Copies by `cp.async` and stores use the generic proxy, dots of warp groups do not (PTX ISA 9.0, 8.5). */
export function lowerProxyFence(cx: LowerContext): void {
  cx.emitter.emit("fence.proxy.async.shared::cta", []);
}

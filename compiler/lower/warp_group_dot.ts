/**
 * Dots of warp groups (`wgmma`): operands in slots of shared memory, which matrix descriptors name, and sums in registers
 * that the instruction changes in place. Nothing else touches those before `wgmma.wait_group`, so a loop must carry them
 * in the same registers: the sum is a parameter of the loop's body, and its only use is this dot.
 * Source: PTX ISA 9.0, 9.7.15.5.
 */
import type { Operand } from "../ptx/func.ts";
import type { OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { layoutOf, registerCount } from "../layout/tiles.ts";
import { DEPTH, GROUP_ROWS, groupOperand, groupType, MOST_COLUMNS } from "../layout/warp_group.ts";
import { must } from "../support/bug.ts";
import { threadIndex } from "./addresses.ts";
import type { LowerContext } from "./context.ts";
import { whole } from "./element.ts";
import { int } from "./emitter.ts";
import { slotAddress } from "./shared_buffer.ts";
import { emitDeferred, lowered } from "./values.ts";

/** Warps of a group, as bits of the thread index: below them are lanes and the warp in its group. */
const GROUP_SHIFT = 7;
const LOW_WARP_BITS = 2;
/** Bits of an address that descriptors hold, in units of 16 bytes. */
const ADDRESS_BITS = 0x3ffff;
const UNIT_SHIFT = 4;

/** What a warp group has of the result: elements along m and n, and where they begin, by group. */
interface Share {
  readonly rows: number;
  readonly columns: number;
  readonly rowOf: readonly number[];
  readonly columnOf: readonly number[];
}

function shareOf(result: Value): Share {
  const { shape, warp } = layoutOf(result);
  const [m, n] = [must(shape[0], "rows"), must(shape[1], "columns")];
  const groups = warp.slice(LOW_WARP_BITS);
  const rowOf = groups.map((basis) => Math.floor(basis / n));
  const columnOf = groups.map((basis) => basis % n);
  const parts = (steps: readonly number[]): number => 2 ** steps.filter((step) => step > 0).length;
  return { rows: m / parts(rowOf), columns: n / parts(columnOf), rowOf, columnOf };
}

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
    const isSet = e.pure("and.b32", "b32", [threadIndex(cx), mask]);
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

/** The registers of the sum; constants and the like get registers of their own. */
function sumsInPlace(cx: LowerContext, sum: Value): Operand[] {
  const e = cx.emitter;
  const isCarried = sum.def === undefined;
  return Array.from({ length: registerCount(sum) }, (_, register) => {
    const operand = whole(e, lowered(cx, sum)(register), sum.type.element);
    if (isCarried && operand.kind === "register") return operand;
    const own = e.register("b32");
    e.emit("mov.b32", [own, operand]);
    return own;
  });
}

export function lowerWarpGroupDot(cx: LowerContext, op: OpOf<"warp_group_dot">): void {
  const e = cx.emitter;
  const { sum, a, a_slot, b, b_slot } = operandsOf(op);
  const share = shareOf(sum);
  const left = descriptorsOf(cx, a, a_slot, op.attrs.a_depth, share.rowOf);
  const right = descriptorsOf(cx, b, b_slot, op.attrs.b_depth, share.columnOf);
  const sums = sumsInPlace(cx, sum);
  const columns = Math.min(share.columns, MOST_COLUMNS);
  const type = must(groupType(a), "type of an operand");
  const spelling =
    `wgmma.mma_async.sync.aligned.m${GROUP_ROWS}n${columns}k${DEPTH}.f32.${type}.${type}`;
  const perProduct = columns / 2;
  const depth = must(a.type.shape[op.attrs.a_depth], "extent along k");
  e.emit("wgmma.fence.sync.aligned", []);
  for (let k = 0; k < depth; k += DEPTH) {
    let first = 0;
    for (let row = 0; row < share.rows; row += GROUP_ROWS) {
      for (let column = 0; column < share.columns; column += columns) {
        e.emit(spelling, [
          { kind: "vector", elements: sums.slice(first, first + perProduct) },
          left.at(row, k),
          right.at(column, k),
          ...[1, 1, 1, left.isTransposed ? 1 : 0, right.isTransposed ? 1 : 0].map((n) => int(n)),
        ]);
        first += perProduct;
      }
    }
  }
  e.emit("wgmma.commit_group.sync.aligned", []);
  cx.values.set(resultOf(op), (register) => must(sums[register], "element of a product"));
}

export function lowerWaitDots(cx: LowerContext, op: OpOf<"wait_dots">): void {
  emitDeferred(cx);
  cx.emitter.emit("wgmma.wait_group.sync.aligned", [int(op.attrs.pending)]);
}

/** Copies by `cp.async` and stores go through the generic proxy, dots of warp groups do not (PTX ISA 9.0, 8.5). */
export function lowerProxyFence(cx: LowerContext): void {
  cx.emitter.emit("fence.proxy.async.shared::cta", []);
}

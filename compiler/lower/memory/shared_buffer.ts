/** Slots of shared memory (schedule/stage_operands.ts): asynchronous copies into them, stores, waits and loads. */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import type { AttrsOf } from "../../ir/ops.ts";
import { bytesOf, pointeeBytes } from "../../ir/types.ts";
import { matrixAccess } from "../../layout/matrix_access.ts";
import { axisShifts, type LinearLayout, moveShape, ofAxis } from "../../linear/linear.ts";
import { bug } from "../../support/bug.ts";
import type { LowerContext } from "../context.ts";
import { ownerPredicate } from "../addresses.ts";
import { emitDeferred, lowered } from "../values.ts";
import { blockCopyBits } from "../../linear/threads.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { whole } from "../element.ts";
import { type Emitter, int, isInteger } from "../emitter.ts";
import { type AccessGroup, accessGroups } from "../../layout/access_groups.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import { readPairs } from "./paired_bytes.ts";
import { startOfArea } from "./shared.ts";
import { readSharedTile, sharedSide, type SharedTile, writeSharedTile } from "./shared_tile.ts";

/** Slots and place of a buffer, which the last pass of scheduling has assigned. */
export function bufferOf(buffer: Value): AttrsOf<"shared_buffer"> & { readonly address: number } {
  const attrs = madeBy(buffer, "shared_buffer")?.attrs ?? bug("a buffer that is a parameter");
  return { ...attrs, address: attrs.address ?? bug("a buffer without an address") };
}

/** A slot of a buffer. */
export function slotOf(
  cx: LowerContext,
  operands: { readonly buffer: Value; readonly slot?: Value },
): SharedTile {
  const { element, shared } = operands.buffer.type;
  const { offset, slot_bytes, address } = bufferOf(operands.buffer);
  const e = cx.emitter;
  const slot = operands.slot === undefined
    ? int(0)
    : whole(e, lowered(cx, operands.slot)(0), "int32");
  return {
    plan: shared ?? bug("a buffer without a layout"),
    element,
    start: () => e.add("b32", startOfArea(e, address - offset), int(offset)),
    slot: e.mul("b32", slot, int(slot_bytes)),
  };
}

/** Address of the first byte of a slot; of the first one if absent. */
export function slotAddress(cx: LowerContext, buffer: Value, slot?: Value): Operand {
  const { start, slot: bytes = int(0) } = slotOf(
    cx,
    slot === undefined ? { buffer } : { buffer, slot },
  );
  return cx.emitter.add("b32", start(), bytes);
}

/** Both hold; undefined holds always. */
function both(e: Emitter, a: Operand | undefined, b: Operand | undefined): Operand | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return e.pure("and.pred", "pred", [a, b]);
}

/** A condition as a predicate; undefined: it holds always. */
function predicateOf(e: Emitter, condition: Operand): Operand | undefined {
  return isInteger(condition) && condition.value !== 0n
    ? undefined
    : e.inRegister(condition, "pred");
}

/** Bytes of the widest `cp.async`. */
const WIDEST_COPY = 16;

export function lowerAsyncCopy(
  cx: LowerContext,
  op: OpOf<"async_copy">,
  axisInfo: AxisFacts,
): void {
  const e = cx.emitter;
  const { pointer, buffer, slot, when, inside, mask } = operandsOf(op);
  const { part, parts } = op.attrs;
  const layout = layoutOf(pointer);
  const go = whole(e, lowered(cx, when)(0), "bool");
  const isThere = whole(e, lowered(cx, inside)(0), "bool");
  if (isInteger(go) && go.value === 0n) return;
  const guard = both(e, predicateOf(e, go), ownerPredicate(cx, blockCopyBits(layout)));
  const side = sharedSide(cx, layout, slotOf(cx, { buffer, slot }));
  const groups = accessGroups(op, axisInfo);
  // Addresses stay in registers across iterations, which repeat the copies of a buffer.
  const registers = 2 * groups.length;
  const isNarrow = groups.some(({ length }) => pointeeBytes(pointer) * length < WIDEST_COPY);
  const key = isNarrow ? buffer : "wide";
  cx.copied.set(key, Math.max(cx.copied.get(key) ?? 0, registers));
  const addresses = [...cx.copied.values()].reduce((sum, count) => sum + count, 0);
  cx.loaded.registers = Math.max(cx.loaded.registers, addresses);
  const copy = (group: AccessGroup): void => {
    const [first] = group;
    const bytes = pointeeBytes(pointer) * group.length;
    const taken = mask === undefined
      ? undefined
      : predicateOf(e, whole(e, lowered(cx, mask)(first), "bool"));
    // What is not taken from memory becomes zero.
    const condition = both(e, predicateOf(e, isThere), taken);
    const size = condition === undefined
      ? []
      : [e.pure("selp.b32", "b32", [int(bytes), int(0), condition])];
    const source = e.address(
      e.inRegister(whole(e, lowered(cx, pointer)(first), pointer.type.element), "b64"),
    );
    e.emit(
      `cp.async.${bytes === WIDEST_COPY ? "cg" : "ca"}.shared.global`,
      [side.address(first), source, int(bytes), ...size],
      guard?.kind === "register" ? { register: guard, negated: false } : undefined,
    );
  };
  groups.forEach((group, i) => {
    if (i % parts === part) cx.deferred.push(() => copy(group));
  });
}

export function lowerLocalStore(cx: LowerContext, op: OpOf<"local_store">): void {
  const { value, buffer, slot } = operandsOf(op);
  writeSharedTile(cx, layoutOf(value), lowered(cx, value), slotOf(cx, { buffer, slot }));
}

export function lowerCommitGroup(cx: LowerContext): void {
  emitDeferred(cx);
  cx.emitter.emit("cp.async.commit_group", []);
}

export function lowerWaitGroup(cx: LowerContext, op: OpOf<"wait_group">): void {
  emitDeferred(cx);
  cx.emitter.emit("cp.async.wait_group", [int(op.attrs.pending)]);
}

/** The slot that an operation loads from, and how a thread reads what it gets in a layout. */
function loadedSlot(
  cx: LowerContext,
  op: OpOf<"local_load" | "local_load_slice">,
  layout: LinearLayout,
): SharedTile {
  const slot = slotOf(cx, operandsOf(op));
  const { access } = op.attrs;
  if (access === "vectors") return slot;
  const matrices = matrixAccess(
    layout,
    bytesOf(slot.element),
    "load",
    access === "transposed",
  );
  return { ...slot, plan: { ...slot.plan, matrices } };
}

/** Of halves that are computed from bytes: two along k. */
const PAIRED_WORD_BITS = 1;

export function lowerLocalLoad(cx: LowerContext, op: OpOf<"local_load">): void {
  const layout = layoutOf(resultOf(op));
  const read = op.attrs.access === "pairs"
    ? readPairs(cx, layout, slotOf(cx, operandsOf(op)), PAIRED_WORD_BITS)
    : readSharedTile(cx, layout, loadedSlot(cx, op, layout));
  // Where two sides of a branch use an element, only the first would load it.
  if (op.attrs.at_once === true) read.finish();
  cx.values.set(resultOf(op), read.values);
}

export function lowerLocalLoadSlice(cx: LowerContext, op: OpOf<"local_load_slice">): void {
  const { shape } = operandsOf(op).buffer.type;
  const part = layoutOf(resultOf(op));
  const axis = shape.findIndex((extent, d) => extent !== part.shape[d]);
  const origin = (op.attrs.slice * ofAxis(part.shape, axis)) << ofAxis(axisShifts(shape), axis);
  const layout = moveShape(part, shape);
  const read = readSharedTile(cx, layout, { ...loadedSlot(cx, op, layout), origin });
  cx.deferred.push(...read.loads);
  cx.values.set(resultOf(op), read.values);
}

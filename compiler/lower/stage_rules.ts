/** How staging operations (stage.ts) become copies, stores, waits and reads of shared memory. */
import type { Operand } from "../ptx/func.ts";
import { intAttr } from "../ir/attrs.ts";
import type { Op, Value } from "../ir/func.ts";
import { maskOf, pointeeBytes, pointerOf } from "../layout/anchors.ts";
import { axisShifts } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import { copyBits, emitAside, type LowerContext, lowered, ownerPredicate } from "./context.ts";
import { layoutOf } from "./convert_layout.ts";
import { whole } from "./element.ts";
import { type Emitter, int, isInteger } from "./emitter.ts";
import { accessGroups } from "./memory.ts";
import { type AxisFacts, operand, resultOf } from "./rule.ts";
import { STAGES_SYMBOL } from "./stage.ts";
import { moveShape } from "./stage_steps.ts";
import { readStaged, type Staged, stagedSide, writeStaged } from "./staging.ts";

function slotOf(cx: LowerContext, op: Op, slot: Value): Staged {
  const buffer = must(cx.stages.buffers[intAttr(op, "buffer")], "buffer");
  const e = cx.emitter;
  // Whoever takes shared memory next has to wait for the block.
  cx.shared.read = "anything";
  const index = whole(e, lowered(cx, slot)(0), "int32");
  return {
    plan: buffer.plan,
    element: buffer.element,
    start: () =>
      e.add(
        "b32",
        e.pure("mov.u32", "b32", [{ kind: "symbol", name: STAGES_SYMBOL }]),
        int(buffer.offset),
      ),
    slot: e.mul("b32", index, int(buffer.slotBytes)),
  };
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

export function lowerStageLoad(cx: LowerContext, op: Op, axisInfo: AxisFacts): void {
  const e = cx.emitter;
  const pointer = pointerOf(op);
  const mask = maskOf(op);
  const layout = layoutOf(pointer);
  const go = whole(e, lowered(cx, operand(op, 2))(0), "bool");
  const isThere = whole(e, lowered(cx, operand(op, 3))(0), "bool");
  if (isInteger(go) && go.value === 0n) return;
  const guard = both(e, predicateOf(e, go), ownerPredicate(cx, copyBits(layout)));
  const side = stagedSide(cx, layout, slotOf(cx, op, operand(op, 1)));
  const groups = accessGroups(op, axisInfo);
  // Addresses live in registers from round to round.
  cx.loaded.registers = Math.max(cx.loaded.registers, 2 * groups.length);
  const copy = (group: readonly number[]): void => {
    const first = must(group[0], "register of an access");
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
      `cp.async.${bytes === 16 ? "cg" : "ca"}.shared.global`,
      [side.address(first), source, int(bytes), ...size],
      guard?.kind === "register" ? { register: guard, negated: false } : undefined,
    );
  };
  const [share, shares] = [intAttr(op, "share"), intAttr(op, "shares")];
  groups.forEach((group, i) => {
    if (i % shares === share) cx.aside.push(() => copy(group));
  });
}

export function lowerStageStore(cx: LowerContext, op: Op): void {
  const value = operand(op, 0);
  writeStaged(cx, layoutOf(value), lowered(cx, value), slotOf(cx, op, operand(op, 1)));
}

export function lowerStageCommit(cx: LowerContext): void {
  emitAside(cx);
  cx.emitter.emit("cp.async.commit_group", []);
}

export function lowerStageWait(cx: LowerContext, op: Op): void {
  emitAside(cx);
  const pending = intAttr(op, "pending");
  if (pending >= 0) cx.emitter.emit("cp.async.wait_group", [int(pending)]);
  cx.emitter.emit("bar.sync", [int(0)]);
}

export function lowerStageRead(cx: LowerContext, op: Op): void {
  const result = resultOf(op);
  const read = readStaged(cx, layoutOf(result), slotOf(cx, op, operand(op, 0)));
  cx.values.set(result, read.values);
}

export function lowerStageStep(cx: LowerContext, op: Op): void {
  const result = resultOf(op);
  const { shape } = must(cx.stages.buffers[intAttr(op, "buffer")], "buffer");
  const part = layoutOf(result);
  const axis = shape.findIndex((extent, d) => extent !== part.shape[d]);
  const origin = (intAttr(op, "step") * must(part.shape[axis], "extent of a step")) <<
    must(axisShifts(shape)[axis], "axis of a buffer");
  const slot = slotOf(cx, op, operand(op, 0));
  const read = readStaged(cx, moveShape(part, shape), { ...slot, origin });
  cx.aside.push(...read.loads);
  cx.values.set(result, read.values);
}

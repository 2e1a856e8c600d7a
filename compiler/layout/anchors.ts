/**
 * Which layout each global access wants. An access wants its contiguous axis in vectors and lanes. Where a load
 * and the store that its data reaches disagree about that axis (a transposition), both get the same square
 * register block, so that both sides of the conversion can use wide accesses in global and in shared memory.
 * An access with no contiguous axis of its own takes the layout of its partner: then nothing needs to move.
 */
import type { AxisInfo } from "../tile/axis.ts";
import { TILE_OPS, type TileOp } from "../ir/ops.ts";
import { intsAttr } from "../ir/attrs.ts";
import { isLookup } from "../ir/table.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import { walkOps } from "../ir/walk.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { blockedLayout, orderFrom } from "./blocked.ts";
import { invertOrder, type LinearLayout, permuteLayout, product } from "../linear/linear.ts";

/** Accesses that choose their layouts by their addresses. */
const ANCHORS: ReadonlySet<TileOp> = new Set<TileOp>(["load", "store", "prefetch"]);

/** Widest global access of one thread, bytes (`ld.global.v4.b32`). */
const ACCESS_BYTES = 16;

/** The most values that are visited on the way from a load to stores; stores after further ones are no partners. */
const MAX_REACHED = 1000;

/** A global access to a tile. */
interface Anchor {
  readonly op: Op;
  readonly shape: readonly number[];
  /** Axis along which addresses increase by one element; undefined: none is known. */
  readonly axis: number | undefined;
  /** Elements that one access may cover along `axis`. */
  readonly vector: number;
}

/** The other end of a flow of data: `order` maps the partner's axes to this anchor's (as `permute` does). */
interface Link {
  readonly anchor: Anchor;
  readonly order: readonly number[];
}

export const pointerOf = (op: Op): Value => must(op.operands[0], "pointer operand");

/** Which operand is the mask, where it is not the third. */
const MASKS: Readonly<Partial<Record<TileOp, number>>> = { load: 1, prefetch: 1, async_copy: 5 };

/** The mask operand of an access, if it has one. */
export function maskOf(op: Op): Value | undefined {
  return op.operands[MASKS[op.name] ?? 2];
}

/** Bytes of one element that a pointer tile points to. */
export function pointeeBytes(pointer: Value): number {
  const element = pointer.type.element;
  return isPointer(element) ? bytesOf(element.pointee) : 1;
}

/** Elements along an axis that one access can cover, by contiguity, alignment and mask. */
export function vectorAlong(op: Op, axis: number, axisInfo: (value: Value) => AxisInfo): number {
  const pointer = axisInfo(pointerOf(op));
  const bytes = pointeeBytes(pointerOf(op));
  const mask = maskOf(op);
  return Math.max(
    1,
    Math.min(
      ACCESS_BYTES / bytes,
      pointer.contiguity[axis] ?? 1,
      (pointer.divisibility[axis] ?? 1) / bytes,
      mask === undefined ? ACCESS_BYTES : axisInfo(mask).constancy[axis] ?? 1,
    ),
  );
}

function anchorOf(op: Op, axisInfo: (value: Value) => AxisInfo): Anchor {
  const shape = pointerOf(op).type.shape;
  const { contiguity } = axisInfo(pointerOf(op));
  let axis: number | undefined;
  // The longest runs win; the last axis breaks ties.
  for (let d = shape.length - 1; d >= 0; d--) {
    if ((contiguity[d] ?? 1) > (axis === undefined ? 1 : contiguity[axis] ?? 1)) axis = d;
  }
  return { op, shape, axis, vector: axis === undefined ? 1 : vectorAlong(op, axis, axisInfo) };
}

function usersOf(func: Func): Map<Value, Op[]> {
  const users = new Map<Value, Op[]>();
  walkOps(func.body, (op) => {
    for (const value of op.operands) {
      const list = users.get(value);
      if (list === undefined) users.set(value, [op]);
      else list.push(op);
    }
  });
  return users;
}

/** Stores that data of a load reaches through element-wise operations and permutations. */
function storesReached(
  load: Op,
  users: Map<Value, Op[]>,
): { store: Op; order: readonly number[] }[] {
  const found: { store: Op; order: readonly number[] }[] = [];
  const [loaded] = load.results;
  if (loaded === undefined) return found;
  const seen = new Set([loaded]);
  const usersOf = (value: Value): Iterator<Op> => (users.get(value) ?? [])[Symbol.iterator]();
  const path = [{
    value: loaded,
    order: loaded.type.shape.map((_, axis) => axis),
    users: usersOf(loaded),
  }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const { value, order } = top;
    const { done, value: user } = top.users.next();
    if (done === true) {
      path.pop();
      continue;
    }
    if (user.name === "store" && user.operands[1] === value) found.push({ store: user, order });
    const result = user.results[0];
    if (result === undefined || result.type.shape.length !== order.length || seen.has(result)) {
      continue;
    }
    const next = user.name === "permute"
      ? intsAttr(user, "order").map((axis) => order[axis] ?? axis)
      : "elementwise" in TILE_OPS[user.name]
      ? order
      : undefined;
    if (next === undefined || seen.size >= MAX_REACHED) continue;
    seen.add(result);
    path.push({ value: result, order: next, users: usersOf(result) });
  }
  return found;
}

/** A preferred layout for every tile load and store. */
export function anchorLayouts(
  func: Func,
  numWarps: number,
  axisInfo: (value: Value) => AxisInfo,
): Map<Op, LinearLayout> {
  const anchors = new Map<Op, Anchor>();
  walkOps(func.body, (op) => {
    if (ANCHORS.has(op.name) && !isLookup(op) && pointerOf(op).type.shape.length > 0) {
      anchors.set(op, anchorOf(op, axisInfo));
    }
  });
  const users = usersOf(func);
  const links = new Map<Op, Link[]>();
  const link = (from: Op, to: Op, order: readonly number[]): void => {
    const list = links.get(from) ?? [];
    list.push({ anchor: must(anchors.get(to), "anchor"), order });
    links.set(from, list);
  };
  for (const op of anchors.keys()) {
    if (op.name !== "load") continue;
    for (const { store, order } of storesReached(op, users)) {
      link(op, store, order);
      link(store, op, invertOrder(order));
    }
  }
  const layouts = new Map<Op, LinearLayout>();
  for (const anchor of anchors.values()) {
    layouts.set(anchor.op, layoutFor(anchor, links.get(anchor.op) ?? [], numWarps));
  }
  return layouts;
}

function layoutFor(anchor: Anchor, links: readonly Link[], numWarps: number): LinearLayout {
  const strong = links.find((link) => link.anchor.axis !== undefined);
  const rank = anchor.shape.length;
  if (anchor.axis === undefined) {
    if (strong === undefined) {
      return blockedLayout({
        shape: anchor.shape,
        numWarps,
        order: orderFrom(rank - 1, rank),
        vector: 1,
      });
    }
    // link.order: partner axis d is this anchor's axis order[d].
    const partner = layoutFor(strong.anchor, [], numWarps);
    return permuteLayout(partner, invertOrder(strong.order));
  }
  let vector = anchor.vector;
  let block: { axis: number; size: number } | undefined;
  for (const { anchor: other, order } of links) {
    if (other.axis === undefined) continue;
    const axis = order[other.axis] ?? other.axis;
    if (axis === anchor.axis) vector = Math.min(vector, other.vector);
    else block ??= { axis, size: other.vector };
  }
  const order = orderFrom(anchor.axis, rank);
  if (block !== undefined) {
    // The partner's axis comes right after the contiguous one, so that both sides deal out the same bits.
    const second = block.axis;
    const rest = order.slice(1).filter((axis) => axis !== second);
    return blockedLayout({
      shape: anchor.shape,
      numWarps,
      order: [anchor.axis, second, ...rest],
      vector,
      block,
    });
  }
  return blockedLayout({
    shape: anchor.shape,
    numWarps,
    order,
    vector: Math.min(vector, product(anchor.shape)),
  });
}

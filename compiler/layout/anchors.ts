/**
 * Which layout each global access wants. An access wants its contiguous axis in vectors and lanes. Where a load
 * and the store that its data reaches disagree about that axis (a transposition), both get the same square
 * register block, so that both sides of the conversion can use wide accesses in global and in shared memory.
 * An access with no contiguous axis of its own takes the layout of its partner: then nothing needs to move.
 */
import { type AxisFacts, type AxisInfo, likelyAxes } from "../tile/axis.ts";
import { type Func, isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { loopOf } from "../ir/flow.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait, isLookup, type OpWith } from "../ir/table.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import { pointeeBytes } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { blockedLayout, type BlockedSpec, orderFrom } from "./blocked.ts";
import { invertOrder, type LinearLayout, permuteLayout, product } from "../linear/linear.ts";
import { lanesOfRow, layoutOfRows, reducedRows, type Rows } from "./rows/short_rows.ts";

/** Widest global access of one thread, bytes (`ld.global.v4.b32`). */
export const ACCESS_BYTES = 16;

/** The most values that are visited on the way from a load to stores; stores after further ones are no partners. */
const MAX_REACHED = 1000;

/** The threads of a program. */
export type Threads = Required<Pick<BlockedSpec, "numWarps" | "numCtas">>;

/** An operation that chooses its layout by its addresses. */
type AnchorOp = OpOf<OpWith<"anchors">>;
/** An operation with a pointer and, maybe, a mask. */
export type AccessOp = AnchorOp | OpOf<"async_copy">;

/** A global access to a tile. */
interface Anchor {
  readonly op: AnchorOp;
  readonly shape: readonly number[];
  /** Axis along which addresses increase by one element; undefined: none is known. */
  readonly axis: number | undefined;
  /** The axis along which lanes are, where none is known. */
  readonly likely: number;
  /** Elements along `axis` that a thread has side by side: those of one access, or a word of them. */
  readonly vector: number;
  /** Another axis, along which so many elements are one in memory: a thread that has all of them loads it once. */
  readonly repeats?: { readonly axis: number; readonly size: number };
}

/** The other end of a flow of data: `order` maps the partner's axes to this anchor's (as `permute` does). */
interface Link {
  readonly anchor: Anchor;
  readonly order: readonly number[];
}

/** Elements along an axis that one access can cover, by contiguity, alignment and mask. */
export function vectorAlong(
  op: AccessOp,
  axis: number,
  axisInfo: (value: Value) => AxisInfo,
): number {
  const { pointer: address, mask } = operandsOf(op);
  const pointer = axisInfo(address);
  const bytes = pointeeBytes(address);
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

/**
 * What a thread should have side by side of an operand of a dot, so that it puts whole words into shared memory, and of
 * what is accessed by words (rows/word_rows.ts).
 */
export const WORD_BYTES = 4;

/**
 * Elements that a thread loads at once of rows that are accessed by words: one word of bytes, two of halves. By pairs of
 * words, an H200 transposed halves 3 to 6 % faster than by words, and bytes 4 % slower (tests/gpu/results/transposition.md).
 */
export const LOADED_AT_ONCE = 4;

const bytesOfElement = ({ op }: Anchor): number => pointeeBytes(operandsOf(op).pointer);

const warpsOf = ({ numWarps, numCtas }: Threads): number => numWarps * numCtas;

/** The loads whose tiles, maybe permuted, are operands of dots. */
function operandLoads(func: Func): ReadonlySet<Op> {
  const loads = new Set<Op>();
  walkOps(func.body, (op) => {
    if (op.name !== "dot") return;
    for (let { def } of [operandsOf(op).a, operandsOf(op).b]) {
      while (isOp(def, "permute")) ({ def } = operandsOf(def).value);
      if (isOp(def, "load")) loads.add(def);
    }
  });
  return loads;
}

/** Loads of loops with dots, which lead to their operands. */
function loadsBesideDots(func: Func): ReadonlySet<Op> {
  const loads = new Set<Op>();
  walkOps(func.body, (op) => {
    const ops = op.name === "while" ? loopOf(op).body.ops : [];
    if (!ops.some(({ name }) => name === "dot")) return;
    for (const one of ops) if (one.name === "load") loads.add(one);
  });
  return loads;
}

function anchorOf(
  op: AnchorOp,
  axisInfo: (value: Value) => AxisInfo,
  leastBytes: number,
  likelyInfo: () => AxisFacts,
): Anchor {
  const { pointer } = operandsOf(op);
  const { shape } = pointer.type;
  const last = shape.length - 1;
  const axis = longestRuns(axisInfo(pointer));
  if (axis === undefined) {
    const likely = last > 0 ? longestRuns(likelyInfo()(pointer)) : undefined;
    return { op, shape, axis, likely: likely ?? last, vector: 1 };
  }
  const bytes = pointeeBytes(pointer);
  const isByWord = (op.name === "load" || op.name === "store") && op.attrs.words === axis;
  const least = !isByWord
    ? Math.max(1, leastBytes / bytes)
    : op.name === "load"
    ? LOADED_AT_ONCE
    : WORD_BYTES / bytes;
  const vector = Math.max(least, vectorAlong(op, axis, axisInfo));
  return { op, shape, axis, likely: axis, vector };
}

/** The runs of a load in which one element of memory is several of the tile, as a word in which numbers are packed. */
function repeatsOf(
  { op, axis }: Anchor,
  axisInfo: (value: Value) => AxisInfo,
): Anchor["repeats"] {
  const { pointer, mask } = operandsOf(op);
  const masked = mask && axisInfo(mask).constancy;
  const runs = axisInfo(pointer).constancy.map((run, at) =>
    at === axis ? 1 : Math.min(run, masked?.[at] ?? run, MOST_REPEATS)
  );
  const size = Math.max(...runs);
  return size > 1 && axis !== undefined ? { axis: runs.indexOf(size), size } : undefined;
}

/** Numbers of four bits in a word. */
const MOST_REPEATS = 8;

/** The axis along which addresses increase by one element; the last axis breaks ties. */
function longestRuns({ contiguity }: AxisInfo): number | undefined {
  const longest = Math.max(...contiguity);
  return longest > 1 ? contiguity.lastIndexOf(longest) : undefined;
}

/** Stores that data of a load reaches through element-wise operations and permutations. */
export function storesReached(
  load: OpOf<"load">,
  users: ReadonlyMap<Value, readonly Op[]>,
): { store: OpOf<"store">; order: readonly number[] }[] {
  const found: { store: OpOf<"store">; order: readonly number[] }[] = [];
  const loaded = resultOf(load);
  const seen = new Set([loaded]);
  const usersAt = (value: Value): Iterator<Op> => (users.get(value) ?? [])[Symbol.iterator]();
  const path = [{
    value: loaded,
    order: loaded.type.shape.map((_, axis) => axis),
    users: usersAt(loaded),
  }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const { value, order } = top;
    const { done, value: user } = top.users.next();
    if (done === true) {
      path.pop();
      continue;
    }
    if (user.name === "store" && operandsOf(user).value === value) {
      found.push({ store: user, order });
    }
    const [result] = user.results;
    if (result === undefined || result.type.shape.length !== order.length || seen.has(result)) {
      continue;
    }
    const next = user.name === "permute"
      ? user.attrs.order.map((axis) => order[axis] ?? axis)
      : hasTrait(user, "elementwise")
      ? order
      : undefined;
    if (next === undefined || seen.size >= MAX_REACHED) continue;
    seen.add(result);
    path.push({ value: result, order: next, users: usersAt(result) });
  }
  return found;
}

/**
 * Loads from tables, and an access whose addresses or mask they are part of, element by element. Such a load has no
 * contiguous axis of its own, so it can have the layout of that access.
 */
export function tableLoads(
  func: Func,
  axisInfo: (value: Value) => AxisInfo,
): ReadonlyMap<Op, AnchorOp> {
  const users = usersOf(func);
  const found = new Map<Op, AnchorOp>();
  walkOps(func.body, (op) => {
    if (op.name !== "load" || isLookup(op) || resultOf(op).type.shape.length === 0) return;
    if (axisInfo(operandsOf(op).pointer).contiguity.some((run) => run > 1)) return;
    const access = accessReached(resultOf(op), users);
    if (access !== undefined) found.set(op, access);
  });
  return found;
}

/** A load or store of which a value is part of the addresses or the mask. */
function accessReached(
  table: Value,
  users: ReadonlyMap<Value, readonly Op[]>,
): AnchorOp | undefined {
  const seen = new Set([table]);
  // A set is iterated over what is added meanwhile.
  for (const value of seen) {
    if (seen.size > MAX_REACHED) break;
    for (const user of users.get(value) ?? []) {
      if (user.name === "load" || user.name === "store") {
        const { pointer, mask } = operandsOf(user);
        if (value === pointer || value === mask) return user;
      } else if (hasTrait(user, "elementwise")) {
        for (const result of user.results) seen.add(result);
      }
    }
  }
  return undefined;
}

/** A preferred layout for every tile load and store; `chunked` are loads by chunks of rows (rows/chunk_rows.ts). */
export function anchorLayouts(
  func: Func,
  threads: Threads,
  axisInfo: (value: Value) => AxisInfo,
  chunked: ReadonlySet<Op>,
): Map<Op, LinearLayout> {
  const anchors = new Map<AnchorOp, Anchor>();
  const operands = operandLoads(func);
  const beside = loadsBesideDots(func);
  let likely: AxisFacts | undefined;
  const likelyInfo = (): AxisFacts => likely ??= likelyAxes(func);
  const leastBytes = (op: Op): number =>
    chunked.has(op) || (op.name === "load" && op.attrs.in_vectors === true)
      ? ACCESS_BYTES
      : operands.has(op)
      ? WORD_BYTES
      : 1;
  walkOps(func.body, (op) => {
    if (!hasTrait(op, "anchors") || isLookup(op)) return;
    if (operandsOf(op).pointer.type.shape.length > 0) {
      const anchor = anchorOf(op, axisInfo, leastBytes(op), likelyInfo);
      const repeats = beside.has(op) ? repeatsOf(anchor, axisInfo) : undefined;
      anchors.set(op, repeats === undefined ? anchor : { ...anchor, repeats });
    }
  });
  const users = usersOf(func);
  const links = new Map<AnchorOp, Link[]>();
  const link = (from: AnchorOp, to: AnchorOp, order: readonly number[]): void => {
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
  const rows = reducedRows(func, axisInfo);
  const layouts = new Map<Op, LinearLayout>();
  for (const anchor of anchors.values()) {
    layouts.set(anchor.op, layoutFor(anchor, links.get(anchor.op) ?? [], threads, rows));
  }
  if (rows.size === 0) return layouts;
  for (const { op, shape } of anchors.values()) {
    const layout = layoutOfRows(rows, shape, layouts);
    if (layout !== undefined) layouts.set(op, layout);
  }
  return layouts;
}

function layoutFor(
  anchor: Anchor,
  links: readonly Link[],
  threads: Threads,
  rows: Rows,
): LinearLayout {
  const strong = links.find((link) => link.anchor.axis !== undefined);
  const rank = anchor.shape.length;
  if (anchor.axis === undefined) {
    if (strong === undefined) {
      return blockedLayout({
        shape: anchor.shape,
        ...threads,
        order: orderFrom(anchor.likely, rank),
        vector: 1,
      });
    }
    // link.order: partner axis d is this anchor's axis order[d].
    const partner = layoutFor(strong.anchor, [], threads, rows);
    return permuteLayout(partner, invertOrder(strong.order));
  }
  let vector = anchor.vector;
  let block: { readonly axis: number; readonly size: number } | undefined = anchor.repeats;
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
      ...threads,
      order: [anchor.axis, second, ...rest],
      vector,
      block,
    });
  }
  const bytes = Math.min(...[anchor, ...links.map((link) => link.anchor)].map(bytesOfElement));
  const lanes = lanesOfRow(rows, anchor.shape, anchor.axis, vector * bytes, warpsOf(threads));
  return blockedLayout({
    shape: anchor.shape,
    ...threads,
    order,
    vector: Math.min(vector, product(anchor.shape)),
    ...lanes === undefined ? {} : { lanes },
  });
}

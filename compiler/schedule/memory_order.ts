/**
 * Keeps memory operations of a program in program order (language.md 8.3). Elements of a tile are in different threads,
 * so a load and a later store that may touch the same memory need a block barrier between them, unless their addresses
 * come from different parameters that do not alias. A layout conversion through shared memory has such a barrier.
 *
 * Accesses are pending until a barrier comes. A reduction over several blocks is none, but orders what it is computed
 * from (needed_reads.ts). What is pending at the end of a loop's iteration is pending at the start of the next one:
 * iterations are walked until nothing new is. A pointer made in the loop is another one in the next iteration.
 */
import { pointeeBytes } from "../ir/types.ts";
import { layoutKey, product } from "../linear/linear.ts";
import { crossesBlocks, hasBlockBarrier } from "../layout/exchanges.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { branchOf, loopOf } from "../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import { isLookup, isMemoryOp, rowOf } from "../ir/table.ts";
import { definedIn, walkOps } from "../ir/walk.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { rootsOf } from "../ir/pointer_roots.ts";
import { neededReads } from "./needed_reads.ts";
import { copyBits } from "../linear/threads.ts";

interface Access {
  /** The parameter the address derives from; undefined: unknown. */
  readonly root: Value | undefined;
  readonly writes: boolean;
  /** Undefined: no later access has this pointer, or the grid decides. */
  readonly pointer: Value | undefined;
  /** Accesses with equal grids touch each address in the same thread, at any time. */
  readonly grid: string | undefined;
  /** Several threads hold each element. */
  readonly isCopied: boolean;
  /** The store that it is a slice of (layout/slice_results.ts): no two slices of it need an order. */
  readonly sliceOf: number | undefined;
}

/** What is pending in a loop, whatever the iteration: at its start, and after its test. */
interface Settled {
  readonly start: ReadonlySet<Access>;
  readonly left: ReadonlySet<Access>;
}

/** Several threads hold each element. */
function isCopied({ type: { layout } }: Value): boolean {
  return layout === undefined || copyBits(layout) !== 0;
}

/**
 * A tile of pointers `p + r` for a parameter p and a run r that starts at a multiple of its length: an element's offset
 * modulo the length is its position in the tile, which its layout maps to a thread.
 */
function gridOf(
  params: ReadonlySet<Value>,
  pointer: Value,
  axisInfo: AxisFacts,
): string | undefined {
  const { def, type: { layout, shape } } = pointer;
  if (def?.name !== "offset" || layout === undefined) return undefined;
  const { pointer: from, count: run } = operandsOf(def);
  const splat = madeBy(from, "splat");
  if (splat === undefined) return undefined;
  const param = operandsOf(splat).value;
  const length = product(shape);
  const { contiguity, divisibility } = axisInfo(run);
  const axis = shape.indexOf(length);
  const fits = (contiguity[axis] ?? 1) >= length && (divisibility[axis] ?? 1) >= length;
  return fits && params.has(param)
    ? `${param.id} ${pointeeBytes(pointer)} ${layoutKey(layout)}`
    : undefined;
}

export const memoryOrder: Pass<TargetContext> = {
  name: "memory-order",
  doc: "block barriers between accesses of different threads that may meet",
  run: (func, { axisInfo }) => orderMemory(func, axisInfo()),
};

/** Inserts `barrier` operations; true if there are any. */
function orderMemory(func: Func, axisInfo: AxisFacts): boolean {
  let isChanged = false;
  const params = new Set(func.params);
  const rootOf = rootsOf(func, params);
  const accesses = new Map<Op, Access>();
  const readsThrough = new Map<Value | undefined, Op[]>();
  const distinct = new Map<string, Access>();
  walkOps(func.body, (op) => {
    // Nothing writes what lookups read.
    if (!isMemoryOp(op) || isLookup(op)) return;
    const { effect } = rowOf(op);
    const { pointer } = operandsOf(op);
    const grid = gridOf(params, pointer, axisInfo);
    const sliceOf = op.name === "store" ? op.attrs.slice_of : undefined;
    const key = `${effect} ${grid ?? pointer.id}`;
    const access = distinct.get(key) ?? {
      root: rootOf(pointer),
      writes: effect === "write",
      pointer: grid === undefined ? pointer : undefined,
      grid,
      isCopied: isCopied(pointer),
      sliceOf,
    };
    distinct.set(key, access);
    accesses.set(op, access);
    if (!access.writes) {
      const reads = readsThrough.get(access.root);
      if (reads === undefined) readsThrough.set(access.root, [op]);
      else reads.push(op);
    }
  });
  const aliasFree = new Set(func.params.filter((_, i) => func.paramFacts[i]?.noalias === true));
  const noalias = (root: Value): boolean => aliasFree.has(root);
  const mayTouch = (a: Access, b: Access): boolean => {
    if (!a.writes && !b.writes) return false;
    if (a.sliceOf !== undefined && a.sliceOf === b.sliceOf) return false;
    // The same element in the same thread: its own order holds. Of copies, all load and one stores.
    const isSame = (a.pointer !== undefined && a.pointer === b.pointer) ||
      (a.grid !== undefined && a.grid === b.grid);
    if (isSame && ((a.writes && b.writes) || !a.isCopied)) return false;
    if (a.root === undefined || b.root === undefined || a.root === b.root) return true;
    return !noalias(a.root) && !noalias(b.root);
  };

  /**
   * Adds an access to those that are pending. Of those that read through one parameter, or write through it, two are
   * enough: the next one differs from one of them.
   */
  const note = (pending: Set<Access>, access: Access): void => {
    if (pending.has(access)) return;
    let alike = 0;
    for (const { root, writes } of pending) {
      if (root === access.root && writes === access.writes) alike++;
    }
    if (alike < 2) pending.add(access);
  };
  const union = (...all: readonly Iterable<Access>[]): Set<Access> => {
    const pending = new Set<Access>();
    for (const some of all) for (const access of some) note(pending, access);
    return pending;
  };

  /** What is pending behind a reduction; not all reads through a parameter were noted, so it needs all of them. */
  const withoutReadsOf = (op: OpOf<"reduce">, pending: ReadonlySet<Access>): Set<Access> => {
    const needed = neededReads(op);
    const isOver = ({ writes, root }: Access): boolean =>
      !writes && (readsThrough.get(root)?.every((read) => needed.has(read)) ?? false);
    return new Set([...pending].filter((access) => !isOver(access)));
  };

  /** Accesses of a loop as its next iteration finds them. */
  const ofPreviousIteration = new Map<Access, Access>();
  const nextIteration = (pending: Iterable<Access>, inside: ReadonlySet<Value>): Access[] =>
    [...pending].map((access) => {
      if (access.pointer === undefined || !inside.has(access.pointer)) return access;
      const old = ofPreviousIteration.get(access) ?? { ...access, pointer: undefined };
      ofPreviousIteration.set(access, old);
      return old;
    });

  const numbers = new Map<Access, number>();
  const numberOf = (access: Access): number => {
    const number = numbers.get(access) ?? numbers.size;
    numbers.set(access, number);
    return number;
  };

  /** What is pending after a region. Barriers are inserted in the last walk only, when all that is pending is known. */
  const walk = (region: Region, entry: Iterable<Access>, insert: boolean): Set<Access> => {
    let pending = new Set(entry);
    const out: Op[] = [];
    for (const op of region.ops) {
      if (hasBlockBarrier(op)) pending = new Set();
      if (op.name === "reduce" && crossesBlocks(op)) pending = withoutReadsOf(op, pending);
      const access = accesses.get(op);
      if (access !== undefined) {
        if ([...pending].some((earlier) => mayTouch(earlier, access))) {
          out.push(newOp(func, "barrier", [], [], op.span));
          isChanged ||= insert;
          pending = new Set();
        }
        note(pending, access);
      }
      if (op.name === "while") pending = walkLoop(op, pending, insert);
      if (op.name === "if") {
        const { then, otherwise } = branchOf(op);
        pending = union(walk(then, pending, insert), walk(otherwise, pending, insert));
      }
      out.push(op);
    }
    if (insert) region.ops = out;
    return pending;
  };
  /** By loop and what is pending before it. */
  const settled = new Map<Op, Map<string, Settled>>();
  const settle = (op: OpOf<"while">, entry: ReadonlySet<Access>): Settled => {
    // Iterations of an outer loop mostly enter a loop with the same accesses pending. Settling it each time would take
    // a number of walks that is exponential in the depth of loops.
    const key = [...entry].map(numberOf).sort((a, b) => a - b).join();
    const known = settled.get(op) ?? new Map<string, Settled>();
    settled.set(op, known);
    const before = known.get(key);
    if (before !== undefined) return before;
    const { test, body } = loopOf(op);
    const inside = definedIn(...op.regions);
    let start = new Set(entry);
    for (;;) {
      const left = walk(test, start, false);
      // Programs have no order.
      if (op.attrs.programs === true) return { start, left };
      const next = union(start, nextIteration(walk(body, left, false), inside));
      if (next.size === start.size) {
        const found = { start, left };
        known.set(key, found);
        return found;
      }
      start = next;
    }
  };
  const walkLoop = (
    op: OpOf<"while">,
    entry: ReadonlySet<Access>,
    insert: boolean,
  ): Set<Access> => {
    const { start, left } = settle(op, entry);
    if (insert) {
      const { test, body } = loopOf(op);
      walk(test, start, true);
      walk(body, left, true);
    }
    return new Set(left);
  };
  walk(func.body, [], true);
  return isChanged;
}

/**
 * Keeps memory operations of a program in program order (language.md 8.3). Elements of a tile live in different
 * threads, so a load and a later store that may touch the same memory need a block barrier in between, unless
 * the addresses come from different parameters that do not alias. A change of layout through shared memory has
 * such a barrier already.
 *
 * A round of a loop meets what the round before left behind: what is pending at the end of a loop is pending at its
 * start, until nothing new comes round. A pointer made in the loop is another one in the next round.
 */
import { layoutKey, product } from "../linear/linear.ts";
import { hasBlockBarrier } from "../layout/exchanges.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { edgesOf, loopOf } from "../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import { hasTrait, isLookup, isMemoryOp, rowOf } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import type { SchedulePass } from "./context.ts";
import { copyBits } from "../linear/threads.ts";
import { pointeeBytes } from "../layout/anchors.ts";

interface Access {
  /** The parameter the address derives from; undefined: unknown. */
  readonly root: Value | undefined;
  readonly writes: boolean;
  /** Undefined: not the pointer of any access to come, or of no matter beside the grid. */
  readonly pointer: Value | undefined;
  /** Equal ones meet each address in the same thread, whenever that is. */
  readonly grid: string | undefined;
  /** Several threads hold each element. */
  readonly isCopied: boolean;
}

interface Settled {
  readonly start: ReadonlySet<Access>;
  readonly left: ReadonlySet<Access>;
}

/** The parameter that each pointer was computed from, by offsets and shape operations, in loops and branches too. */
function rootsOf(
  func: Func,
  params: ReadonlySet<Value>,
): (pointer: Value) => Value | undefined {
  /** What a value is on the ways that lead to it. */
  const sources = new Map<Value, Value[]>();
  /** What comes out of branches and loops. */
  const merged: (readonly Value[])[] = [];
  const flow = (targets: readonly Value[], values: readonly Value[]): void =>
    zip(targets, values).forEach(([target, value]) => {
      const list = sources.get(target) ?? [];
      list.push(value);
      sources.set(target, list);
    });
  walkOps(func.body, (op) => {
    const edges = edgesOf(op);
    if (edges.length === 0) return;
    merged.push(op.results.filter(({ type }) => isPointer(type.element)));
    for (const { from, to } of edges) flow(to, from);
  });
  /** What a pointer was computed from, if it is one other pointer on all ways. */
  const baseOf = (value: Value): Value | undefined =>
    !sources.has(value) && value.def !== undefined && hasTrait(value.def, "derives")
      ? value.def.operands[0]
      : undefined;
  /** All that pointers come from, where that has been asked. */
  const known = new Map<Value, ReadonlySet<Value | undefined>>();
  const search = (pointer: Value): ReadonlySet<Value | undefined> => {
    const found = new Set<Value | undefined>();
    const seen = new Set([pointer]);
    for (const value of seen) {
      const before = known.get(value);
      before?.forEach((origin) => found.add(origin));
      if (before !== undefined) continue;
      const base = baseOf(value);
      const from = base === undefined ? sources.get(value) : [base];
      if (from === undefined) found.add(params.has(value) ? value : undefined);
      from?.forEach((one) => seen.add(one));
    }
    return found;
  };
  const resolve = (pointer: Value): ReadonlySet<Value | undefined> => {
    const path: Value[] = [];
    let at = pointer;
    for (let base = baseOf(at); base !== undefined && !known.has(at); base = baseOf(at)) {
      path.push(at);
      at = base;
    }
    const origins = known.get(at) ?? search(at);
    for (const value of [...path, at]) known.set(value, origins);
    return origins;
  };
  // In order, so that what comes out of one loop is known where the next one is searched.
  for (const results of merged) results.forEach(resolve);
  return (pointer) => {
    const origins = resolve(pointer);
    return origins.size === 1 ? [...origins][0] : undefined;
  };
}

/** The values that an operation's regions define. */
function definedIn(op: Op): ReadonlySet<Value> {
  const values = new Set<Value>();
  for (const region of op.regions) {
    region.params.forEach((value) => values.add(value));
    walkOps(region, (inner) => {
      inner.results.forEach((value) => values.add(value));
      inner.regions.forEach(({ params }) => params.forEach((value) => values.add(value)));
    });
  }
  return values;
}

/** Several threads hold each element. */
function isCopied({ type: { layout } }: Value): boolean {
  return layout === undefined || copyBits(layout) !== 0;
}

/**
 * A tile of pointers `p + r` for a parameter p and a run r that starts at a multiple of its length: an element's
 * offset modulo the length tells its place in the tile, so its layout tells the thread.
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

export const memoryOrder: SchedulePass = {
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
  const distinct = new Map<string, Access>();
  walkOps(func.body, (op) => {
    // No one writes what lookups read.
    if (!isMemoryOp(op) || isLookup(op)) return;
    const { effect } = rowOf(op);
    const { pointer } = operandsOf(op);
    const grid = gridOf(params, pointer, axisInfo);
    const key = `${effect} ${grid ?? pointer.id}`;
    const access = distinct.get(key) ?? {
      root: rootOf(pointer),
      writes: effect === "write",
      pointer: grid === undefined ? pointer : undefined,
      grid,
      isCopied: isCopied(pointer),
    };
    distinct.set(key, access);
    accesses.set(op, access);
  });
  const aliasFree = new Set(func.params.filter((_, i) => func.paramFacts[i]?.noalias === true));
  const noalias = (root: Value): boolean => aliasFree.has(root);
  const mayTouch = (a: Access, b: Access): boolean => {
    if (!a.writes && !b.writes) return false;
    // The same element in the same thread: its own order holds. Of copies, all load and one stores.
    const isSame = (a.pointer !== undefined && a.pointer === b.pointer) ||
      (a.grid !== undefined && a.grid === b.grid);
    if (isSame && ((a.writes && b.writes) || !a.isCopied)) return false;
    if (a.root === undefined || b.root === undefined || a.root === b.root) return true;
    return !noalias(a.root) && !noalias(b.root);
  };

  /**
   * Adds an access to those that are pending. Of those that read what comes from one parameter, or write it, two are
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

  /** How accesses of a loop look from its next round. */
  const ofRoundBefore = new Map<Access, Access>();
  const nextRound = (pending: Iterable<Access>, inside: ReadonlySet<Value>): Access[] =>
    [...pending].map((access) => {
      if (access.pointer === undefined || !inside.has(access.pointer)) return access;
      const old = ofRoundBefore.get(access) ?? { ...access, pointer: undefined };
      ofRoundBefore.set(access, old);
      return old;
    });

  const numbers = new Map<Access, number>();
  const numberOf = (access: Access): number => {
    const number = numbers.get(access) ?? numbers.size;
    numbers.set(access, number);
    return number;
  };

  /** What is pending after a region. Barriers are inserted only at last, when nothing new comes round any more. */
  const walk = (region: Region, entry: Iterable<Access>, insert: boolean): Set<Access> => {
    let pending = new Set(entry);
    const out: Op[] = [];
    for (const op of region.ops) {
      if (hasBlockBarrier(op)) pending = new Set();
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
      else if (op.name === "if") {
        pending = union(...op.regions.map((inner) => walk(inner, pending, insert)));
      }
      out.push(op);
    }
    if (insert) region.ops = out;
    return pending;
  };
  /** What a loop meets at its start in any iteration, and what it leaves, by what is pending before it. */
  const settled = new Map<Op, Map<string, Settled>>();
  const settle = (op: OpOf<"while">, entry: ReadonlySet<Access>): Settled => {
    // Iterations of outer loops mostly meet a loop as earlier ones did. Settling it anew each time would take a number
    // of walks that is exponential in the depth of loops.
    const key = [...entry].map(numberOf).sort((a, b) => a - b).join();
    const known = settled.get(op) ?? new Map<string, Settled>();
    settled.set(op, known);
    const before = known.get(key);
    if (before !== undefined) return before;
    const { test, body } = loopOf(op);
    const inside = definedIn(op);
    let start = new Set(entry);
    for (;;) {
      const left = walk(test, start, false);
      const next = union(start, nextRound(walk(body, left, false), inside));
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

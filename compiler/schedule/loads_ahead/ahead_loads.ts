/** Which loops load ahead, and which of their loads can happen an iteration earlier. */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Region, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { inputsOf, sourcesFirst } from "../../ir/order.ts";
import { isLookup, rowOf } from "../../ir/table.ts";
import { definedIn, walkOps } from "../../ir/walk.ts";
import { hasBlockBarrier } from "../../layout/exchanges.ts";
import { tileBytes } from "../../layout/tiles.ts";
import { product } from "../../linear/linear.ts";
import { type AddressState, addressState, loopNeeds, pick } from "../pipeline/prefetch.ts";

/** A loop, and what it loads ahead. */
export interface AheadLoop {
  readonly loop: OpOf<"while">;
  readonly loads: readonly OpOf<"load">[];
  /** What the loop carries for their addresses. */
  readonly carried: AddressState;
  /** Whether threads wait for each other in it; else it adds up tiles element by element. */
  readonly waits: boolean;
  /** How often they do in an iteration. */
  readonly barriers: number;
  /**
   * Whether there may be fewer programs than multiprocessors: a program that reduces to a tile has many results for itself,
   * such as sums of columns, and one with loops in loops does much. Others have a row each, and rows are many.
   */
  readonly hasFewPrograms: boolean;
  /** Whether iterations store tiles. */
  readonly storesTiles: boolean;
}

/** Sorts and their like take longer than loads. */
const LONG: ReadonlySet<Op["name"]> = new Set(["exchange", "gather", "histogram"]);

/** What a loop can load ahead; undefined: nothing, or it waits for nothing else. */
export function aheadLoop(
  loop: OpOf<"while">,
  stores: Stores,
  isInLoop: boolean,
): AheadLoop | undefined {
  const { body } = loopOf(loop);
  let [barriers, isLong, hasTiles] = [0, false, false];
  const reduced = new Set<Value>();
  const inside = definedIn(body);
  const sourcesOf = (value: Value): readonly Value[] =>
    inputsOf(value).filter((one) => inside.has(one));
  walkOps(body, (op) => {
    isLong ||= LONG.has(op.name);
    if (hasBlockBarrier(op)) barriers++;
    if (op.name !== "reduce" && op.name !== "scan") return;
    hasTiles ||= op.results.some(({ type }) => product(type.shape) > 1);
    for (const operand of op.operands) {
      sourcesFirst(operand, (at) => reduced.has(at), sourcesOf)
        .forEach((source) => reduced.add(source));
    }
  });
  if (isLong) return undefined;
  const early = earlyLoads(loop, stores, reduced);
  if (early === undefined) return undefined;
  const storesTiles = early.stores.some(({ operands: [pointer] }) =>
    pointer !== undefined && pointer.type.shape.length > 0
  );
  return {
    loop,
    ...early,
    barriers,
    hasFewPrograms: isInLoop || hasTiles,
    storesTiles,
    waits: true,
  };
}

/** The same of a loop that adds up tiles element by element, if it is a loop that waits for memory. */
export function accumulatingLoop(
  loop: OpOf<"while">,
  stores: Stores,
  hasFewPrograms: boolean,
): AheadLoop | undefined {
  const { body, end } = loopOf(loop);
  const isPlain = body.ops.every((op) =>
    op.regions.length === 0 && !hasBlockBarrier(op) && !LONG.has(op.name) && !REDUCES.has(op.name)
  );
  if (!isPlain) return undefined;
  const inside = definedIn(body);
  const sourcesOf = (value: Value): readonly Value[] =>
    inputsOf(value).filter((one) => inside.has(one));
  const added = new Set<Value>();
  for (const sum of end.operands) {
    sourcesFirst(sum, (at) => added.has(at), sourcesOf).forEach((source) => added.add(source));
  }
  const early = earlyLoads(loop, stores, added);
  if (early === undefined || early.stores.length > 0) return undefined;
  // Tiles of one tensor overlap, as windows do: the cache has what they share, or it is loaded once.
  const roots = new Set(early.loads.map((load) => stores.rootOf(operandsOf(load).pointer)));
  if (roots.size < early.loads.length) return undefined;
  if (workOf(body, early.loads) > MOST_WORK * bytesOfAll(early.loads)) return undefined;
  return { loop, ...early, barriers: 0, hasFewPrograms, storesTiles: false, waits: false };
}

const REDUCES: ReadonlySet<Op["name"]> = new Set(["reduce", "scan"]);

/** Instructions for each byte that is loaded, of loops that wait for memory rather than for their own instructions. */
const MOST_WORK = 3;
/** Instructions of a function or a quotient of an element; of other operations one. */
const FUNCTION_WORK = 16;

/** About how many instructions elements take that are computed of loads. */
function workOf(body: Region, loads: readonly Op[]): number {
  const loaded = new Set<Value>(loads.map(resultOf));
  let work = 0;
  for (const op of body.ops) {
    if (!op.operands.some((operand) => loaded.has(operand))) continue;
    const isFunction = op.name === "div" || op.name === "rem" ||
      (op.name === "math" && op.attrs.function !== "fma");
    for (const result of op.results) {
      loaded.add(result);
      work += (isFunction ? FUNCTION_WORK : 1) * product(result.type.shape);
    }
  }
  return work;
}

/** What a loop can load an iteration earlier of what some values come from, and what it stores. */
function earlyLoads(
  loop: OpOf<"while">,
  stores: Stores,
  wanted: ReadonlySet<Value>,
): Pick<AheadLoop, "loads" | "carried"> & { readonly stores: readonly Op[] } | undefined {
  const { body } = loopOf(loop);
  const inLoop = stores.inLoop(loop);
  if (inLoop === undefined) return undefined;
  const inBody = body.ops.filter((op): op is OpOf<"load"> => op.name === "load");
  const needs = loopNeeds(loop);
  const isForNext = forNext(loop);
  const loads = inBody.filter((load) =>
    wanted.has(resultOf(load)) && isEarly(loop, load, needs) && !isForNext(resultOf(load)) &&
    !stores.meet(load, inLoop)
  );
  // What is not wanted is under way while threads wait: if that is most, there is nothing to gain.
  if (2 * bytesOfAll(loads) < bytesOfAll(inBody)) return undefined;
  const carried = addressState(loop, loads.flatMap(({ operands }) => operands), needs);
  if (loads.length === 0 || carried === undefined) return undefined;
  // Tables that say where later iterations load from are read earlier too.
  const next = pick(loopOf(loop).repeated, carried.entering);
  const readsTables = needs.ofBody(next, false) === undefined;
  if (readsTables && inLoop.length > 0) return undefined;
  return { loads, carried, stores: inLoop };
}

const bytesOfAll = (loads: readonly OpOf<"load">[]): number =>
  loads.reduce((sum, load) => sum + tileBytes(resultOf(load).type), 0);

/** Cache operators with which a load must happen when the program says so. */
const NOW: ReadonlySet<string> = new Set(["volatile", "cv"]);

/** Whether a tile may be loaded in the iteration before: nothing that the iteration computes or reads says where it is. */
function isEarly(
  loop: OpOf<"while">,
  load: OpOf<"load">,
  needs: ReturnType<typeof loopNeeds>,
): boolean {
  const { shape, layout } = resultOf(load).type;
  const { modifiers, slice } = load.attrs;
  if (shape.length === 0 || layout === undefined || slice !== undefined || isLookup(load)) {
    return false;
  }
  if (modifiers.some((modifier) => NOW.has(modifier))) return false;
  // What tables say would be waited for in front of the reduction.
  const needed = needs.ofBody(load.operands, false);
  if (needed === undefined || needed.size === 0) return false;
  return addressState(loop, load.operands, needs) !== undefined;
}

/** Whether the program itself loads something ahead: its next iteration takes it, and nothing else. */
function forNext(loop: OpOf<"while">): (loaded: Value) => boolean {
  const { body, end } = loopOf(loop);
  const passed = new Set(end.operands);
  const used = new Set(body.ops.flatMap((op) => op === end ? [] : op.operands));
  return (loaded) => passed.has(loaded) && !used.has(loaded);
}

/** Which stores may change what loads read. */
export class Stores {
  readonly #aliasFree: ReadonlySet<Value | undefined>;
  /** What writes, and loops, in print order. */
  readonly #order: readonly Op[];

  constructor(func: Func, readonly rootOf: (pointer: Value) => Value | undefined) {
    this.#aliasFree = new Set(func.params.filter((_, i) => func.paramFacts[i]?.noalias === true));
    const order: Op[] = [];
    walkOps(func.body, (op) => {
      if (rowOf(op).effect === "write" || op.name === "while") order.push(op);
    });
    this.#order = order;
  }

  /** The stores of a loop; undefined if it does more than that to memory. */
  inLoop(loop: OpOf<"while">): readonly Op[] | undefined {
    const found: Op[] = [];
    let isMore = false;
    for (const region of loop.regions) {
      walkOps(region, (op) => {
        const { effect } = rowOf(op);
        if (op.name === "store") found.push(op);
        else isMore ||= effect === "write" || effect === "sync";
      });
    }
    return isMore ? undefined : found;
  }

  /** Whether one of some stores may write what a load reads. */
  meet(load: OpOf<"load">, stores: readonly Op[]): boolean {
    if (load.attrs.modifiers.includes("nc")) return false;
    const from = this.rootOf(operandsOf(load).pointer);
    return stores.some(({ operands: [pointer] }) => {
      const to = pointer && this.rootOf(pointer);
      if (from === undefined || to === undefined || from === to) return true;
      return !this.#aliasFree.has(from) && !this.#aliasFree.has(to);
    });
  }

  /** Whether stores outside of a loop of the text may write what its loads read, before it and behind it. */
  around({ loads }: AheadLoop, loop: Op, isInLoop: boolean): { before: boolean; behind: boolean } {
    const at = this.#order.indexOf(loop);
    const [first, last] = [this.#order.slice(0, at), this.#order.slice(at)]
      .map((ops) => loads.some((load) => this.meet(load, ops.filter((op) => op.name !== "while"))));
    const [before = true, behind = true] = [first, last];
    return isInLoop ? { before: before || behind, behind: before || behind } : { before, behind };
  }
}

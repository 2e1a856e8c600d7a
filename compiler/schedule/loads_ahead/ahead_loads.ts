/** Which loops load ahead, and which of their loads can happen an iteration earlier. */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { isLookup, rowOf } from "../../ir/table.ts";
import { walkOps } from "../../ir/walk.ts";
import { hasBlockBarrier } from "../../layout/exchanges.ts";
import { parametersNeeded } from "../backward_slice.ts";
import { type AddressState, addressState } from "../pipeline/prefetch.ts";

/** A loop, and what it loads ahead. */
export interface AheadLoop {
  readonly loop: OpOf<"while">;
  readonly loads: readonly OpOf<"load">[];
  /** What the loop carries for their addresses. */
  readonly carried: AddressState;
  /** How often threads of a block wait for each other in an iteration. */
  readonly barriers: number;
}

/** Sorts and their like take longer than loads. */
const LONG: ReadonlySet<Op["name"]> = new Set(["exchange", "gather", "histogram"]);

/** What a loop can load ahead; undefined: nothing, or it waits for nothing else. */
export function aheadLoop(loop: OpOf<"while">, stores: Stores): AheadLoop | undefined {
  const { body } = loopOf(loop);
  let [barriers, reduces, isLong] = [0, false, false];
  walkOps(body, (op) => {
    isLong ||= LONG.has(op.name);
    reduces ||= op.name === "reduce" || op.name === "scan";
    if (hasBlockBarrier(op)) barriers++;
  });
  if (isLong || !reduces) return undefined;
  const inLoop = stores.inLoop(loop);
  if (inLoop === undefined) return undefined;
  const loads = body.ops.flatMap((op): OpOf<"load">[] =>
    op.name === "load" && isEarly(loop, op) && !stores.meet(op, inLoop) ? [op] : []
  );
  const carried = addressState(loop, loads.flatMap(({ operands }) => operands));
  return loads.length === 0 || carried === undefined
    ? undefined
    : { loop, loads, carried, barriers };
}

/** Cache operators with which a load must happen when the program says so. */
const NOW: ReadonlySet<string> = new Set(["volatile", "cv"]);

/** Whether a tile may be loaded in the iteration before: nothing that the iteration computes or reads says where it is. */
function isEarly(loop: OpOf<"while">, load: OpOf<"load">): boolean {
  const { shape, layout } = resultOf(load).type;
  const { modifiers, slice } = load.attrs;
  if (shape.length === 0 || layout === undefined || slice !== undefined || isLookup(load)) {
    return false;
  }
  if (modifiers.some((modifier) => NOW.has(modifier))) return false;
  // What tables say would be waited for in front of the reduction.
  const needed = parametersNeeded(loopOf(loop).body, load.operands, false);
  if (needed === undefined || needed.size === 0) return false;
  return addressState(loop, load.operands) !== undefined && !isForNext(loop, resultOf(load));
}

/** Whether the program itself loads ahead. */
function isForNext(loop: OpOf<"while">, loaded: Value): boolean {
  const { body, end } = loopOf(loop);
  return body.ops.every((op) => op === end || !op.operands.includes(loaded)) &&
    end.operands.includes(loaded);
}

/** Which stores may change what loads read. */
export class Stores {
  readonly #aliasFree: ReadonlySet<Value | undefined>;
  readonly #all: readonly Op[];

  constructor(func: Func, readonly rootOf: (pointer: Value) => Value | undefined) {
    this.#aliasFree = new Set(func.params.filter((_, i) => func.paramFacts[i]?.noalias === true));
    const all: Op[] = [];
    walkOps(func.body, (op) => {
      if (rowOf(op).effect === "write") all.push(op);
    });
    this.#all = all;
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

  /** Whether a store of the function may write what one of some loads reads. */
  meetAny(loads: readonly OpOf<"load">[]): boolean {
    return loads.some((load) => this.meet(load, this.#all));
  }
}

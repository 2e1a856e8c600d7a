/**
 * atom and red (PTX ISA 9.0, 9.7.13). Lanes take their turns in ascending order, elements of vectors too; each element
 * is changed in one step.
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { must } from "../../compiler/support/bug.ts";
import { Fault } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import type { Views } from "../memory.ts";
import { lockMemory, unlockMemory, updateLong, updateWord } from "./atomic_memory.ts";
import { type LongUpdate, narrowUpdate, type Update, wideUpdate } from "./atomic_ops.ts";
import {
  type Element,
  elementRows,
  elementsOf,
  findOperand,
  operandOf,
  type Row,
} from "./element.ts";
import { canCarry, carryLoad, carryStore, markBytes, shadowElements } from "../shadow/memory.ts";
import { prepareAccess } from "./lanes.ts";
import { KIND } from "./reach.ts";
import { addressSpace, orderingOf } from "./spelling.ts";

const OPERATIONS: ReadonlySet<string> = new Set(
  ["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"],
);

/** An element of an atomic operation: its operand, the third one of cas, and where the old value goes. */
interface AtomicElement {
  readonly element: Element;
  readonly third: Row | undefined;
  readonly result: Row | undefined;
}

/** Changes an element of a lane; `kind` says what memory it is in. */
type Step = (views: Views, w: number, lane: number, location: number, kind: number) => void;

export function atomic(match: Match, context: HandlerContext): WarpFunction {
  const by = operandOf(match, "b");
  const [third, result] = ["c", "d"].map((name) => {
    const bound = findOperand(match, name);
    return bound === undefined ? [] : elementRows(context, bound);
  });
  const elements = elementsOf(context, by);
  const steps = elements.map((element, i) =>
    stepOf(match, context, by.type, { element, third: third?.[i], result: result?.[i] })
  );
  const bytes = elements.reduce((sum, element) => sum + element.bytes, 0);
  const ref = context.address(operandOf(match, "a").operand);
  const { access, before } = prepareAccess(context, {
    verb: "atomic operation",
    bytes,
    align: bytes,
    reads: true,
    writes: true,
    strong: true,
    polls: match.opcode === "atom",
    leavesOut: true,
    isUpdate: () => true,
    ref,
    space: addressSpace(match, ref),
    ordering: { ...orderingOf(match), strong: true },
    atomic: true,
    carries: canCarry(findOperand(match, "d")?.operand, context),
  });
  const { machine } = context;
  const { reach } = access;
  const watch = machine.checks ? undefinedOperands(match, context) : undefined;
  return (w, mask) => {
    const lanes = before(w, mask);
    watch?.(w, lanes, access.unwritten);
    const { views } = machine;
    const { locations, kinds, kind } = reach;
    for (let lane = 0; lane < LANES; lane++) {
      if (((lanes >>> lane) & 1) === 0) continue;
      const own = kind === KIND.mixed ? kinds[lane] ?? 0 : kind;
      for (const step of steps) step(views, w, lane, locations[lane] ?? 0, own);
    }
  };
}

/**
 * Undefined values among the operands go to memory as those of stores do, and what was undefined there stays so unless
 * it is exchanged. `lanes` are those that read bytes which hold nothing.
 */
function undefinedOperands(
  match: Match,
  context: HandlerContext,
): (w: number, mask: number, lanes: number) => void {
  const elements = (name: string): ReturnType<typeof shadowElements> => {
    const bound = findOperand(match, name);
    if (bound === undefined) return [];
    return shadowElements(context, bound.operand, TYPES[bound.type].bits / 8, false);
  };
  const stores = ["b", "c"].flatMap((name) => carryStore(context, elements(name)) ?? []);
  const results = elements("d");
  const load = carryLoad(context, "atomic operation", results);
  const exchanges = [...match.bound.values()].includes("exch");
  const bytes = elements("b").reduce((sum, element) => sum + element.bytes, 0);
  return (w, mask, lanes) => {
    if (lanes !== 0) {
      // The check has taken them for written already.
      markBytes(context, lanes, bytes, false);
      load(w, lanes);
      if (exchanges) markBytes(context, lanes, bytes, true);
    }
    for (const store of stores) store(w, mask);
  };
}

function stepOf(
  match: Match,
  { site }: HandlerContext,
  type: string,
  element: AtomicElement,
): Step {
  const operation = must(
    [...match.bound.values()].find((word) => OPERATIONS.has(word)),
    "operation",
  );
  switch (element.element.bytes) {
    case 16:
      return quadStep(operation, element);
    case 8: {
      if (operation === "cas") return longSwap(element);
      const update = wideUpdate(operation, type, "shared");
      const globalUpdate = wideUpdate(operation, type, "global");
      if (update !== undefined && globalUpdate !== undefined) {
        return longStep(element, update, globalUpdate);
      }
      break;
    }
    default: {
      if (operation === "cas") return wordSwap(element);
      const update = narrowUpdate(operation, type, "shared");
      const globalUpdate = narrowUpdate(operation, type, "global");
      if (update !== undefined && globalUpdate !== undefined) {
        return wordStep(element, update, globalUpdate);
      }
    }
  }
  throw new Fault(
    "unsupported instruction",
    `${match.opcode}.${operation}.${type}`,
    undefined,
    site,
  );
}

function wordStep(
  { element: { row: { row, words }, bytes, at }, result }: AtomicElement,
  update: Update,
  globalUpdate: Update,
): Step {
  const keep = bytes === 2 ? 0xffff : 0xffffffff;
  return ({ u16, u32 }, w, lane, location, kind) => {
    const value = ((u32[((w + row) >>> 2) + lane * words] ?? 0) & keep) >>> 0;
    const change = kind === KIND.global ? globalUpdate : update;
    const old = bytes === 2
      ? updateWord(u16, (location + at) >>> 1, value, change)
      : updateWord(u32, (location + at) >>> 2, value, change);
    if (result !== undefined) u32[((w + result.row) >>> 2) + lane * result.words] = old;
  };
}

function wordSwap(
  { element: { row: { row, words }, bytes, at }, third, result }: AtomicElement,
): Step {
  const swap = must(third, "third operand of cas");
  const keep = bytes === 2 ? 0xffff : 0xffffffff;
  return ({ u16, u32 }, w, lane, location) => {
    const expected = ((u32[((w + row) >>> 2) + lane * words] ?? 0) & keep) >>> 0;
    const value = ((u32[((w + swap.row) >>> 2) + lane * swap.words] ?? 0) & keep) >>> 0;
    const old = bytes === 2
      ? Atomics.compareExchange(u16, (location + at) >>> 1, expected, value)
      : Atomics.compareExchange(u32, (location + at) >>> 2, expected, value);
    if (result !== undefined) u32[((w + result.row) >>> 2) + lane * result.words] = old;
  };
}

function longStep(
  { element: { row: { row }, at }, result }: AtomicElement,
  update: LongUpdate,
  globalUpdate: LongUpdate,
): Step {
  return ({ u64 }, w, lane, location, kind) => {
    const value = u64[((w + row) >>> 3) + lane] ?? 0n;
    const change = kind === KIND.global ? globalUpdate : update;
    const old = updateLong(u64, (location + at) >>> 3, value, change);
    if (result !== undefined) u64[((w + result.row) >>> 3) + lane] = old;
  };
}

function longSwap({ element: { row: { row }, at }, third, result }: AtomicElement): Step {
  const swap = must(third, "third operand of cas");
  return ({ u64 }, w, lane, location) => {
    const expected = u64[((w + row) >>> 3) + lane] ?? 0n;
    const value = u64[((w + swap.row) >>> 3) + lane] ?? 0n;
    const old = Atomics.compareExchange(u64, (location + at) >>> 3, expected, value);
    if (result !== undefined) u64[((w + result.row) >>> 3) + lane] = old;
  };
}

/** exch and cas of 16 bytes. */
function quadStep(
  operation: string,
  { element: { row: { row } }, third, result }: AtomicElement,
): Step {
  const swap = operation === "cas" ? must(third, "third operand of cas") : undefined;
  return (views, w, lane, location) => {
    const { u64 } = views;
    const by = ((w + row) >>> 3) + 2 * lane;
    const at = location >>> 3;
    lockMemory(views);
    const [low, high] = [u64[at] ?? 0n, u64[at + 1] ?? 0n];
    const from = swap === undefined ? by : ((w + swap.row) >>> 3) + 2 * lane;
    if (swap === undefined || (low === u64[by] && high === u64[by + 1])) {
      u64[at] = u64[from] ?? 0n;
      u64[at + 1] = u64[from + 1] ?? 0n;
    }
    unlockMemory(views);
    if (result === undefined) return;
    const to = ((w + result.row) >>> 3) + 2 * lane;
    u64[to] = low;
    u64[to + 1] = high;
  };
}

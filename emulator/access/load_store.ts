/** ld, ldu and st (PTX ISA 9.0, 9.7.9). Cache operators, eviction priorities and policies change nothing here. */
import type { Match } from "../../compiler/ptx/match.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import type { Views } from "../memory.ts";
import { failTwice } from "./check.ts";
import { type Element, elementsOf, loadMove, type Move, operandOf, storeMove } from "./element.ts";
import {
  canCarry,
  carryLoad,
  carryStore,
  type ShadowElement,
  shadowElements,
} from "../shadow/memory.ts";
import { prepareAccess, type PreparedAccess } from "./lanes.ts";
import { addressSpace, orderingOf } from "./spelling.ts";
import { strongLoadMove, strongStoreMove } from "./strong.ts";

/** Elements, and the access that moves all of them at once. */
function vectorAccess(
  match: Match,
  context: HandlerContext,
  value: string,
  verb: "load" | "store",
): {
  readonly elements: readonly Element[];
  readonly prepared: PreparedAccess;
  readonly strong: boolean;
  readonly shadows: readonly ShadowElement[];
} {
  const { operand, type } = operandOf(match, value);
  const elements = elementsOf(context, operandOf(match, value));
  const bytes = elements.reduce((sum, element) => sum + element.bytes, 0);
  const ref = context.address(operandOf(match, "a").operand);
  const ordering = orderingOf(match);
  // The swap compares the value again, so a plain load of an old one does no harm (PTX ISA 9.0, 8.7: without moral
  // strength, the two race, and the load may return any value of the race).
  const isExpected = verb === "load" && !ordering.strong && context.isExpected?.() === true;
  const polls = ordering.volatile && context.polls?.() === true;
  const prepared = prepareAccess(context, {
    verb,
    bytes,
    align: bytes,
    reads: verb === "load",
    writes: verb === "store",
    strong: ordering.strong || isExpected,
    isVolatile: ordering.volatile && !polls,
    polls: ordering.strong && verb === "load" && (!ordering.volatile || polls),
    readOnly: [...match.bound.values()].includes("nc"),
    leavesOut: true,
    isUpdate: () => context.isUpdate?.() === true,
    ref,
    space: addressSpace(match, ref),
    ordering,
    atomic: false,
    carries: verb === "load" && canCarry(operand, context),
  });
  const [first] = elements;
  const shadows = shadowElements(context, operand, first?.bytes ?? 0, /^s\d+$/.test(type));
  return { elements, prepared, strong: ordering.strong, shadows };
}

/** Does all moves of an access. */
function all(moves: readonly Move[]): Move {
  const [first, second] = moves;
  if (first !== undefined && second === undefined) return first;
  return (views, locations, mask, w) => {
    for (const move of moves) move(views, locations, mask, w);
  };
}

export function load(match: Match, context: HandlerContext): WarpFunction {
  const { elements, prepared, strong, shadows } = vectorAccess(match, context, "d", "load");
  const move = all(elements.map(strong ? strongLoadMove : loadMove));
  const { machine } = context;
  const { access, before } = prepared;
  const { locations } = access.reach;
  if (!machine.checks) {
    return (w, mask) => {
      before(w, mask);
      move(machine.views, locations, mask, w);
    };
  }
  const carry = carryLoad(context, "load", shadows);
  return (w, mask) => {
    const lanes = before(w, mask);
    move(machine.views, locations, lanes, w);
    if (access.unwritten !== 0) carry(w, access.unwritten);
    if (lanes !== mask) clear(machine.views, elements, mask & ~lanes, w);
  };
}

/** Gives lanes zeros. */
function clear({ i32 }: Views, elements: readonly Element[], lanes: number, w: number): void {
  for (let m = lanes; m !== 0; m &= m - 1) {
    const lane = 31 - Math.clz32(m & -m);
    for (const { row: { row, words } } of elements) {
      const at = ((w + row) >>> 2) + words * lane;
      i32.fill(0, at, at + words);
    }
  }
}

export function store(match: Match, context: HandlerContext): WarpFunction {
  const { elements, prepared, strong, shadows } = vectorAccess(match, context, "b", "store");
  const move = all(elements.map(strong ? strongStoreMove : storeMove));
  const { machine } = context;
  const { access, check, before } = prepared;
  const { locations } = access.reach;
  const carry = machine.checks ? carryStore(context, shadows) : undefined;
  return (w, mask) => {
    const lanes = before(w, mask);
    carry?.(w, lanes);
    move(machine.views, locations, lanes, w);
    if (machine.checks && check.twice.lanes !== 0 && (!strong || check.isVolatile)) {
      const twice = check.twice.lanes & lanes;
      const lane = check.isVolatile && check.isUpdate()
        ? 31 - Math.clz32(twice)
        : overwrittenLane(machine.views, elements, locations, twice, w);
      if (lane >= 0) failTwice(access, check, lane);
    }
  };
}

/** The first of the lanes whose values are not what memory has, or -1. */
function overwrittenLane(
  { u8 }: Views,
  elements: readonly Element[],
  locations: Uint32Array,
  lanes: number,
  w: number,
): number {
  for (let m = lanes; m !== 0; m &= m - 1) {
    const lane = 31 - Math.clz32(m & -m);
    for (const { row: { row, words }, bytes, at } of elements) {
      const from = (w >>> 0) + row + 4 * words * lane;
      const to = (locations[lane] ?? 0) + at;
      for (let i = 0; i < bytes; i++) if (u8[from + i] !== u8[to + i]) return lane;
    }
  }
  return -1;
}

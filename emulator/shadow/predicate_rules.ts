/** Rules of instructions that read or write predicates: comparisons, selections, votes. */
import { laneOperation } from "../lanes/mod.ts";
import { modifiersOf, scalarDestinations, scalarSources } from "../lanes/shape.ts";
import type { Bits, WarpFunction } from "../machine.ts";
import type { Views } from "../memory.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { type Carrying, shadowRow, whole } from "./carrying.ts";
import { fillShadow, settleRow, undefinedLanes, wordsOf } from "./shadow_row.ts";

const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** selp: the bits of the chosen source; where the choice is undefined, also those in which the sources differ. */
export function selectRule(carrying: Carrying): WarpFunction {
  const { match, context, results } = carrying;
  const [result] = results;
  const [a, b, c] = scalarSources(match);
  if (result === undefined || a === undefined || b === undefined || c === undefined) {
    return whole(carrying);
  }
  const { machine } = context;
  const { row: choice, invert } = context.predicate(c.operand);
  const undecided = context.shadow(c.operand);
  const [rowA, rowB] = [a, b].map(({ operand, type }) => context.row(operand, type));
  const [shadowA, shadowB] = [a, b].map(({ operand, type }) => shadowRow(context, operand, type));
  const words = wordsOf(result.register);
  return (w, lanes) => {
    const { views } = machine;
    const { i32 } = views;
    const chosen = (i32[(w + choice) >>> 2] ?? 0) ^ invert;
    const open = undecided === undefined ? 0 : undefinedLanes(views, w, undecided, lanes);
    const at = (row = 0): number => (w + row) >>> 2;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      for (let i = words * lane; i < words * (lane + 1); i++) {
        const [ua, ub] = [i32[at(shadowA) + i] ?? 0, i32[at(shadowB) + i] ?? 0];
        const differ = (i32[at(rowA) + i] ?? 0) ^ (i32[at(rowB) + i] ?? 0);
        i32[at(result.row) + i] = ((open >>> lane) & 1) === 1
          ? ua | ub | differ
          : ((chosen >>> lane) & 1) === 1
          ? ua
          : ub;
      }
    }
    settleRow(views, w, result, lanes);
  };
}

/** Whether two values differ in bits that are defined in both. */
function differsForSure(
  { i32 }: Views,
  [a, b]: readonly [number, number],
  [ua, ub]: readonly [number, number],
  from: number,
  words: number,
): boolean {
  for (let i = from; i < from + words; i++) {
    const differ = (i32[a + i] ?? 0) ^ (i32[b + i] ?? 0);
    if ((differ & ~((i32[ua + i] ?? 0) | (i32[ub + i] ?? 0))) !== 0) return true;
  }
  return false;
}

/**
 * setp: undefined where a source is, unless bits that are defined settle whether integers are equal, or one side of
 * `.and` or `.or` settles the other.
 */
export function compareRule(carrying: Carrying): WarpFunction {
  const { match, context } = carrying;
  const [a, b, c] = scalarSources(match);
  const operation = laneOperation(match);
  const isPacked = match.modifiers.some((name) => name.endsWith("x2"));
  if (a === undefined || b === undefined || operation === undefined || isPacked) {
    return whole(carrying);
  }
  const { machine } = context;
  const modifiers = modifiersOf(match);
  const isEquality = (modifiers.has("eq") || modifiers.has("ne")) &&
    TYPES[a.type].class !== "float";
  const settles = modifiers.has("and") ? 0 : modifiers.has("or") ? 1 : undefined;
  const [rowA = 0, rowB = 0] = [a, b].map(({ operand, type }) => context.row(operand, type));
  const [shadowA = 0, shadowB = 0] = [a, b].map(({ operand, type }) =>
    shadowRow(context, operand, type)
  );
  const compared = [a, b].flatMap(({ operand }) => context.shadow(operand) ?? []);
  const third = c === undefined ? undefined : context.predicate(c.operand);
  const thirdShadow = c === undefined ? undefined : context.shadow(c.operand);
  const { bits } = TYPES[a.operand.kind === "register" ? a.operand.type : a.type];
  const words = Math.max(1, bits / 32);
  const evaluates = [operation, ...operation.more ?? []].map(({ evaluate }) => evaluate);
  const targets = scalarDestinations(match).map(({ operand }) => context.shadow(operand));
  const valueAt = ({ u32, u64 }: Views, at: number, lane: number): Bits =>
    words === 2 ? u64[(at >>> 1) + lane] ?? 0n : u32[at + lane] ?? 0;
  /** Lanes whose comparison is undefined. */
  const openLanes = (w: number, lanes: number): number => {
    const { views } = machine;
    let open = 0;
    for (const shadow of compared) open |= undefinedLanes(views, w, shadow, lanes);
    if (!isEquality) return open;
    const [at, under] = [
      [(w + rowA) >>> 2, (w + rowB) >>> 2],
      [(w + shadowA) >>> 2, (w + shadowB) >>> 2],
    ] as const;
    for (let m = open; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      if (differsForSure(views, at, under, words * lane, words)) open &= ~(1 << lane);
    }
    return open;
  };
  return (w, lanes) => {
    const { views } = machine;
    const open = openLanes(w, lanes);
    const thirdOpen = thirdShadow === undefined ? 0 : undefinedLanes(views, w, thirdShadow, lanes);
    const value = third === undefined ? 0 : (views.i32[(w + third.row) >>> 2] ?? 0) ^ third.invert;
    for (const [i, target] of targets.entries()) {
      if (target === undefined) continue;
      const evaluate = evaluates[i];
      let bad = 0;
      for (let m = open | thirdOpen; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        const isOpen = ((open >>> lane) & 1) === 1;
        if (isOpen && (((thirdOpen >>> lane) & 1) === 1 || ((value >>> lane) & 1) !== settles)) {
          bad |= 1 << lane;
        } else if (!isOpen && evaluate !== undefined) {
          const [x, y] = [
            valueAt(views, (w + rowA) >>> 2, lane),
            valueAt(views, (w + rowB) >>> 2, lane),
          ];
          if (evaluate(x, y, 0, 0) !== evaluate(x, y, 1, 0)) bad |= 1 << lane;
        }
      }
      fillShadow(views, w, target, lanes, bad);
    }
  };
}

/** Votes: a lane's bit of a ballot; of others nothing, if lanes that are defined settle the outcome. */
export function voteRule(carrying: Carrying): WarpFunction {
  const { match, context, results } = carrying;
  const [source] = scalarSources(match);
  const [result] = results;
  const shadow = source === undefined ? undefined : context.shadow(source.operand);
  if (source === undefined || shadow === undefined || result === undefined) return whole(carrying);
  const { machine } = context;
  const { row, invert } = context.predicate(source.operand);
  const modifiers = modifiersOf(match);
  if (modifiers.has("ballot")) {
    return (w, lanes) => {
      const { views } = machine;
      const open = undefinedLanes(views, w, shadow, lanes);
      for (let m = lanes; m !== 0; m &= m - 1) {
        views.i32[((w + result.row) >>> 2) + lowestLane(m)] = open;
      }
      settleRow(views, w, result, lanes);
    };
  }
  return (w, lanes) => {
    const { views } = machine;
    const open = undefinedLanes(views, w, shadow, lanes);
    const votes = (views.i32[(w + row) >>> 2] ?? 0) ^ invert;
    const [yes, no] = [votes & lanes & ~open, ~votes & lanes & ~open];
    const settled = modifiers.has("any")
      ? yes !== 0
      : modifiers.has("all")
      ? no !== 0
      : yes !== 0 && no !== 0;
    fillShadow(views, w, result, lanes, open === 0 || settled ? 0 : lanes);
  };
}

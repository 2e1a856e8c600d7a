/** What an instruction does with the shadows of its registers, before it runs. */
import type { Register } from "../../compiler/ptx/func.ts";
import { accessOf } from "../access/state.ts";
import type { Line } from "../compile/lines.ts";
import { usesOf } from "../compile/uses.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { type Demand, rolesOf } from "./roles.ts";
import {
  cleanRow,
  clearShadow,
  fillShadow,
  SHADOW,
  type Shadow,
  undefinedLanes,
} from "./shadow_row.ts";
import { failUndefined } from "./report.ts";
import { ruleOf } from "./rules.ts";
import { addAssignment } from "./state.ts";

/** The shadows that an instruction has to do with. */
export interface LineShadow {
  /** Offsets of the words: while all of them are 0 in its lanes, there is nothing to do. */
  readonly words: readonly number[];
  /** Names of the registers. */
  readonly registers: readonly string[];
  /** To be called for the lanes that come to the instruction, whatever its guard says. */
  readonly run: WarpFunction;
}

/** Instructions whose results are values as they were. */
const COPIES: ReadonlySet<string> = new Set(["mov", "selp", "shfl", "shfl.sync"]);

const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

interface Watched {
  readonly shadow: Shadow;
  readonly use: string;
}

function watched(context: HandlerContext, demands: readonly Demand[]): Watched[] {
  return demands.flatMap(({ register, use }) => {
    const shadow = context.shadow(register);
    return shadow === undefined ? [] : [{ shadow, use }];
  });
}

function shadowsOf(context: HandlerContext, registers: readonly Register[]): Shadow[] {
  const byWord = new Map<number, Shadow>();
  for (const register of registers) {
    const shadow = context.shadow(register);
    if (shadow !== undefined) byWord.set(shadow.word, shadow);
  }
  return [...byWord.values()];
}

/** Demands that registers are defined; nothing where they have no shadow. */
export function demandDefined(
  demands: readonly Demand[],
  context: HandlerContext,
): LineShadow | undefined {
  const all = watched(context, demands);
  if (all.length === 0) return undefined;
  const { machine, site } = context;
  const state = accessOf(machine).shadows;
  return {
    words: [...new Set(all.map(({ shadow }) => shadow.word))],
    registers: all.map(({ shadow }) => shadow.register.name),
    run: (w, mask) => {
      for (const { shadow, use } of all) {
        const bad = undefinedLanes(machine.views, w, shadow, mask);
        if (bad !== 0) failUndefined(machine, state, w, shadow, lowestLane(bad), use, site);
      }
    },
  };
}

/** What a line does with shadows; undefined if none of its registers has one. */
export function lineShadow(line: Line, context: HandlerContext): LineShadow | undefined {
  const { match, instruction } = line;
  if (typeof match === "string") return undefined;
  const { machine, site } = context;
  const { carried, demanded } = rolesOf(instruction, match);
  const { guard } = instruction;
  const results = shadowsOf(context, usesOf(line).writes);
  const sources = shadowsOf(
    context,
    carried.filter((register) => register !== guard?.register),
  );
  // A predicate that is undefined where the instruction would run is a demand like others.
  const guardDemand = demanded.find(({ register }) => register === guard?.register);
  const demands = watched(context, demanded.filter((demand) => demand !== guardDemand));
  const guardShadow = guard === undefined ? undefined : context.shadow(guard.register);
  const all = [
    ...results,
    ...sources,
    ...demands.map(({ shadow }) => shadow),
    ...(guardShadow === undefined ? [] : [guardShadow]),
  ];
  if (all.length === 0) return undefined;
  const state = accessOf(machine).shadows;
  const number = addAssignment(state, site, COPIES.has(match.opcode));
  const predicate = guard === undefined ? undefined : context.predicate(
    guard.negated ? { kind: "negated", operand: guard.register } : guard.register,
  );
  const rule = results.length === 0 || sources.length === 0
    ? undefined
    : ruleOf({ match, context, sources, results });
  const fail = (w: number, shadow: Shadow, bad: number, use: string): void =>
    failUndefined(machine, state, w, shadow, lowestLane(bad), use, site);
  /** Notes for messages where what is undefined now came from, by the lane that a message would name. */
  const trace = (w: number, from: readonly Shadow[], lanes: number): void => {
    const { views } = machine;
    for (const result of results) {
      const bad = undefinedLanes(views, w, result, lanes);
      if (bad === 0) continue;
      const source = from.find((each) => undefinedLanes(views, w, each, bad & -bad) !== 0) ??
        from.find((each) => undefinedLanes(views, w, each, -1) !== 0);
      if (source === undefined) continue;
      const origin = views.i32[(w + source.word + SHADOW.origin) >>> 2] ?? 0;
      views.i32[(w + result.word + SHADOW.origin) >>> 2] = origin;
      views.i32[(w + result.word + SHADOW.line) >>> 2] = number;
    }
  };
  const run: WarpFunction = (w, mask) => {
    const { views } = machine;
    let lanes = mask;
    let open = 0;
    if (predicate !== undefined) {
      lanes &= (views.i32[(w + predicate.row) >>> 2] ?? 0) ^ predicate.invert;
      open = guardShadow === undefined ? 0 : undefinedLanes(views, w, guardShadow, mask);
      if (open !== 0 && guardShadow !== undefined && guardDemand !== undefined) {
        fail(w, guardShadow, open, guardDemand.use);
      }
    }
    for (const { shadow, use } of demands) {
      const bad = undefinedLanes(views, w, shadow, lanes);
      if (bad !== 0) fail(w, shadow, bad, use);
    }
    const isDefined = sources.every((source) => undefinedLanes(views, w, source, lanes) === 0);
    if (isDefined || rule === undefined) {
      for (const result of results) clearShadow(views, w, result, lanes);
    } else {
      for (const source of sources) cleanRow(views, w, source, lanes);
      rule(w, lanes);
      trace(w, sources, lanes);
    }
    // It is not known whether these lanes ran it.
    if (open !== 0 && guardShadow !== undefined) {
      for (const result of results) fillShadow(views, w, result, open, open);
      trace(w, [guardShadow], open);
    }
  };
  return {
    words: [...new Set(all.map(({ word }) => word))],
    registers: all.map(({ register }) => register.name),
    run,
  };
}

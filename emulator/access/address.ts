/** cvta, isspacep, mapa and getctarank: instructions on addresses, not on memory (PTX ISA 9.0, 9.7.9). */
import type { Match } from "../../compiler/ptx/match.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext, Machine, WarpFunction } from "../machine.ts";
import { SHARED_OFFSET_MASK, SHARED_RANK_SHIFT, WINDOW, type Window } from "../memory.ts";
import { elementRows, operandOf, type Row } from "./element.ts";
import { spaceOf } from "./spelling.ts";
import { must } from "../../compiler/support/bug.ts";

function rowOf(match: Match, context: HandlerContext, name: string): Row {
  return must(elementRows(context, operandOf(match, name))[0], `row of ${name}`);
}

function windowOf(match: Match): Window {
  const space = spaceOf(match);
  return space === "generic" ? "global" : space;
}

/** A generic address from one of a state space, or back. Pointers to global memory are generic already. */
export function convertAddress(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const [to, from] = [rowOf(match, context, "d").row, rowOf(match, context, "a").row];
  const space = windowOf(match);
  const window = WINDOW[space];
  const [expected, wanted] = space === "global"
    ? [window, window]
    : match.bound.has("to")
    ? [window, 0]
    : [0, window];
  return (w, mask) => {
    const { u32 } = machine.views;
    const [target, source] = [(w + to) >>> 2, (w + from) >>> 2];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const upper = u32[source + 2 * lane + 1] ?? 0;
      u32[target + 2 * lane] = u32[source + 2 * lane] ?? 0;
      // Addresses of other spaces stay what they are, so that their use is noticed.
      u32[target + 2 * lane + 1] = upper === expected ? wanted : upper;
    }
  };
}

/** Whether a generic address lies in a state space. */
export function isInSpace(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const from = rowOf(match, context, "a").row;
  const { row } = context.predicate(operandOf(match, "d").operand);
  const space = windowOf(match);
  const ownOnly = !match.bound.has("shared::cluster") &&
    ![...match.bound.values()].includes("shared::cluster");
  const holds = (lower: number, upper: number): boolean => {
    if (space === "global") {
      // The windows of the others are cut out of global memory, but for that of parameters (PTX ISA, 6.4.1.1).
      return upper !== WINDOW.shared && upper !== WINDOW.local && upper !== WINDOW.const;
    }
    if (upper !== WINDOW[space]) return false;
    return space !== "shared" || !ownOnly || isOwn(machine, lower);
  };
  return (w, mask) => {
    const { u32, i32 } = machine.views;
    const source = (w + from) >>> 2;
    let lanes = 0;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      if (holds(u32[source + 2 * lane] ?? 0, u32[source + 2 * lane + 1] ?? 0)) lanes |= 1 << lane;
    }
    const at = (w + row) >>> 2;
    i32[at] = ((i32[at] ?? 0) & ~mask) | lanes;
  };
}

/** Rank of the block that a shared address belongs to. */
function rankOf({ block }: Machine, address: number): number {
  const rank = address >>> SHARED_RANK_SHIFT;
  return rank === 0 ? block.rank : rank - 1;
}

function isOwn(machine: Machine, address: number): boolean {
  return rankOf(machine, address) === machine.block.rank;
}

/** The same shared address in another block of the cluster. */
export function mapToRank(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const [to, from, rank] = ["d", "a", "b"].map((name) => rowOf(match, context, name));
  const [d, a, b] = [must(to, "d"), must(from, "a"), must(rank, "b")];
  return (w, mask) => {
    const { u32 } = machine.views;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const source = ((w + a.row) >>> 2) + a.words * lane;
      const target = ((w + d.row) >>> 2) + d.words * lane;
      const block = u32[((w + b.row) >>> 2) + b.words * lane] ?? 0;
      const upper = a.words === 2 ? u32[source + 1] ?? 0 : 0;
      const offset = (u32[source] ?? 0) & SHARED_OFFSET_MASK;
      u32[target] = offset | ((block + 1) << SHARED_RANK_SHIFT);
      if (d.words === 2) u32[target + 1] = upper;
    }
  };
}

/** The rank of the block of the cluster that a shared address belongs to. */
export function rankOfAddress(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const [d, a] = [rowOf(match, context, "d"), rowOf(match, context, "a")];
  return (w, mask) => {
    const { u32 } = machine.views;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const address = u32[((w + a.row) >>> 2) + a.words * lane] ?? 0;
      u32[((w + d.row) >>> 2) + d.words * lane] = rankOf(machine, address);
    }
  };
}

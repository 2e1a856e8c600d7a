/** Votes, matching lanes, and which lanes run (PTX ISA 9.0, 9.7.13.2, 9.7.13.8 to 9.7.13.11 and 9.7.13.14). */
import { TYPES } from "../../compiler/ptx/types.ts";
import { meetLanes } from "../access/state.ts";
import { HEADER, LANES } from "../register_file.ts";
import { modifiersOf, scalarSources, typeOf } from "../lanes/shape.ts";
import type { Handler } from "../machine.ts";
import type { Views } from "../memory.ts";
import { destinationRows, sourceRow, storePredicate, storeWord } from "./words.ts";

/** What lanes say together: yes are those that say yes, mask all that are asked. */
const SAYS: Readonly<Record<string, (yes: number, mask: number) => boolean>> = {
  all: (yes, mask) => yes === mask,
  any: (yes) => yes !== 0,
  uni: (yes, mask) => yes === mask || yes === 0,
};

const vote: Handler = (match, context) => {
  const modifiers = modifiersOf(match);
  const [source] = scalarSources(match);
  const { row, invert } = source === undefined
    ? { row: 0, invert: 0 }
    : context.predicate(source.operand);
  const [d] = destinationRows(match, context);
  const { machine } = context;
  const votes = (w: number, mask: number): number =>
    ((machine.views.i32[(w + row) >>> 2] ?? 0) ^ invert) & mask;
  if (modifiers.has("ballot")) {
    return (w, mask) => storeWord(machine.views, w + d, votes(w, mask), mask);
  }
  const says = SAYS[["all", "any", "uni"].find((name) => modifiers.has(name)) ?? "all"];
  return (w, mask) => {
    const word = says?.(votes(w, mask), mask) === true ? -1 : 0;
    storePredicate(machine.views, w + d, word, mask);
  };
};

/** Whether two lanes have the same value, words being compared one after the other. */
function sameValue(views: Views, at: number, words: number, lane: number, other: number): boolean {
  for (let word = 0; word < words; word++) {
    const base = (at >>> 2) + word;
    if (views.i32[base + words * lane] !== views.i32[base + words * other]) return false;
  }
  return true;
}

/** The lanes of a mask with the value of its first lane. */
function likeFirst(views: Views, at: number, words: number, mask: number): number {
  const first = 31 - Math.clz32(mask & -mask);
  let same = 0;
  for (let lane = first; lane < LANES; lane++) {
    if ((mask >>> lane) & 1 && sameValue(views, at, words, first, lane)) same |= 1 << lane;
  }
  return same;
}

const matchLanes: Handler = (match, context) => {
  const words = TYPES[typeOf(match, "a")].bits / 32;
  const a = sourceRow(match, context);
  const [d, p] = destinationRows(match, context);
  const { machine } = context;
  if (modifiersOf(match).has("all")) {
    return (w, mask) => {
      const { views } = machine;
      const same = likeFirst(views, w + a, words, mask) === mask;
      storeWord(views, w + d, same ? mask : 0, mask);
      if (p !== undefined) storePredicate(views, w + p, same ? -1 : 0, mask);
    };
  }
  return (w, mask) => {
    const { views } = machine;
    const groups: number[] = [];
    for (let rest = mask; rest !== 0;) {
      const group = likeFirst(views, w + a, words, rest);
      groups.push(group);
      rest &= ~group;
    }
    for (const group of groups) storeWord(views, w + d, group, group);
  };
};

/** elect.sync: the leader is the lowest lane. */
const elect: Handler = (match, context) => {
  const [d, p] = destinationRows(match, context);
  const { machine } = context;
  return (w, mask) => {
    const leader = mask & -mask;
    storeWord(machine.views, w + d, 31 - Math.clz32(leader), mask);
    if (p !== undefined) storePredicate(machine.views, w + p, leader, mask);
  };
};

const activeMask: Handler = (match, context) => {
  const [d] = destinationRows(match, context);
  const { machine } = context;
  return (w, mask) => storeWord(machine.views, w + d, mask, mask);
};

/** bar.warp.sync: the lanes have met; their accesses before and after are ordered. */
const meet: Handler = (_match, { machine }) => (w, mask) => {
  meetLanes(machine, mask, machine.views.i32[(w + HEADER.live) >>> 2] ?? 0);
};

export const VOTE: Readonly<Record<string, Handler>> = {
  vote,
  "vote.sync": vote,
  match: matchLanes,
  "elect.sync": elect,
  activemask: activeMask,
  "bar.warp.sync": meet,
};

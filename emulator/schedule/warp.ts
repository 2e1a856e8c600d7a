/**
 * A warp that runs: its lanes in fragments that stand at the same place. The fragment that is furthest behind runs,
 * until it meets another one: blocks are numbered in the order of the text, so lanes that parted come together again
 * where the text does (the thread frontiers of Diamos et al., "SIMD Re-convergence at Thread Frontiers", MICRO 2011).
 */
import type { Program } from "../compile/program.ts";
import { STOP } from "../compile/program.ts";
import { HEADER } from "../frame.ts";
import type { Machine, WarpState } from "../machine.ts";
import { meetLanes } from "../access/state.ts";
import { checkMembers } from "../collective/mod.ts";
import type { Block } from "./barriers.ts";
import { checkPassing, noteExit } from "./passing.ts";

/** What a fragment waits for. */
export type Waiting = "lanes" | "barrier" | "cluster" | "fault";

/** Lanes that go together. */
export interface Fragment {
  pc: number;
  mask: number;
  waiting: Waiting | undefined;
  /** Number of the barrier that it waits at. */
  barrier: number;
  /** The slice of its warp in which it ran last. */
  ran: number;
}

export interface Warp extends WarpState {
  readonly block: Block;
  /** Lanes that have not exited; a copy is in the frame's header. */
  live: number;
  fragments: Fragment[];
  /** The fragment that runs or ran last. */
  running: Fragment | undefined;
  /** Slices so far. */
  slice: number;
  /** Whether the last slice ended in the middle of something: then another fragment begins the next one. */
  exhausted: boolean;
  /** Lanes that have arrived at the cluster's barrier and not been let go. */
  clusterArrived: number;
}

const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** Whether a warp has nothing left to do. */
export function isDone(warp: Warp): boolean {
  return warp.live === 0;
}

/** Puts lanes at a place, together with those that are there already. */
function place(program: Program, machine: Machine, warp: Warp, pc: number, mask: number): void {
  if (mask === 0) return;
  const ran = warp.slice;
  if (pc >= program.blocks.length) {
    noteExit(program, machine, warp);
    setLive(machine, warp, warp.live & ~mask);
    return;
  }
  const there = warp.fragments.find((f) => f.pc === pc && f.waiting === undefined);
  if (there === undefined) warp.fragments.push({ pc, mask, waiting: undefined, barrier: 0, ran });
  else {
    there.mask |= mask;
    there.ran = ran;
  }
}

function setLive(machine: Machine, warp: Warp, live: number): void {
  warp.live = live;
  machine.views.i32[(warp.frame + HEADER.live) >> 2] = live;
  // Those who wait for lanes that are gone need not wait any longer.
  for (const fragment of warp.fragments) {
    if (fragment.waiting === "lanes") fragment.waiting = undefined;
  }
}

/** Joins fragments that have come to the same place by waiting. */
function join(warp: Warp): void {
  const { fragments } = warp;
  for (let i = fragments.length - 1; i > 0; i--) {
    const late = fragments[i];
    if (late === undefined || late.waiting !== undefined) continue;
    const early = fragments.find((f) => f.pc === late.pc && f.waiting === undefined);
    if (early === undefined || early === late) continue;
    early.mask |= late.mask;
    fragments.splice(i, 1);
  }
}

/**
 * The fragment to run: the one furthest behind. After a slice that ended in the middle of something, the one that has
 * waited longest begins: lanes that spin must not keep those from running that they wait for.
 */
function choose(warp: Warp): Fragment | undefined {
  let chosen: Fragment | undefined;
  for (const fragment of warp.fragments) {
    if (fragment.waiting !== undefined) continue;
    if (
      chosen === undefined ||
      (warp.exhausted ? fragment.ran < chosen.ran : fragment.pc < chosen.pc)
    ) chosen = fragment;
  }
  warp.exhausted = false;
  return chosen;
}

/** The next place where another fragment stands. */
function nextMeeting(program: Program, warp: Warp, running: Fragment): number {
  let stop = program.blocks.length;
  for (const { pc, waiting } of warp.fragments) {
    if (waiting === undefined && pc > running.pc && pc < stop) stop = pc;
  }
  return stop;
}

/** What happens in the block and the launch, told by warps. */
export interface WarpEvents {
  /** A fragment stands at a barrier with all lanes that it needs. */
  arrive(warp: Warp, fragment: Fragment): void;
  /** Lanes of a warp went different ways. */
  parted(warp: Warp): void;
}

/** Runs a warp until its fuel is spent or all of its fragments wait. Returns whether it ran at all. */
export function runWarp(
  program: Program,
  machine: Machine,
  warp: Warp,
  events: WarpEvents,
): boolean {
  const { code } = program;
  machine.warp = warp;
  machine.block = warp.block;
  warp.slice++;
  let ran = false;
  while (code.fuel.value > 0) {
    if (warp.fragments.length > 1) join(warp);
    const fragment = choose(warp);
    if (fragment === undefined) return ran;
    ran = true;
    warp.running = fragment;
    const { pc, mask } = fragment;
    const passing = checkPassing(program, machine, warp, fragment);
    const meeting = nextMeeting(program, warp, fragment);
    const status = code.run(warp.frame, mask, pc, Math.min(meeting, passing));
    settle(program, machine, warp, fragment, status, events);
  }
  warp.exhausted = warp.fragments.length > 1;
  return ran;
}

function remove(warp: Warp, fragment: Fragment): void {
  warp.fragments.splice(warp.fragments.indexOf(fragment), 1);
}

function settle(
  program: Program,
  machine: Machine,
  warp: Warp,
  fragment: Fragment,
  status: number,
  events: WarpEvents,
): void {
  const { i32 } = machine.views;
  const { frame } = warp;
  if (status >= 0) {
    remove(warp, fragment);
    place(program, machine, warp, status, fragment.mask);
    return;
  }
  if (status === STOP.parted) {
    const taken = i32[(frame + HEADER.parted) >> 2] ?? 0;
    remove(warp, fragment);
    place(program, machine, warp, i32[(frame + HEADER.target) >> 2] ?? 0, fragment.mask & taken);
    place(program, machine, warp, i32[(frame + HEADER.other) >> 2] ?? 0, fragment.mask & ~taken);
    events.parted(warp);
    return;
  }
  fragment.pc = program.code.stoppedAt.value;
  if (status === STOP.later) return;
  const facts = program.blocks[fragment.pc];
  if (status === STOP.barrier) {
    const together = facts?.barrier?.aligned !== true ||
      gather(program, machine, warp, fragment, "all").length > 0;
    if (together) events.arrive(warp, fragment);
    return;
  }
  for (const each of gather(program, machine, warp, fragment, facts?.needs ?? "all")) {
    i32[(frame + HEADER.forced) >> 2] = 1;
    warp.running = each;
    // One block only: others may be behind.
    const next = program.code.run(frame, each.mask, each.pc, 0);
    settle(program, machine, warp, each, next, events);
  }
}

/**
 * Joins a fragment with those that wait at the same place for the same lanes. If all are there, the result is the
 * fragment, and others that go on with it; if not, it waits. `needs` is the row of the lanes' masks.
 */
function gather(
  program: Program,
  machine: Machine,
  warp: Warp,
  fragment: Fragment,
  needs: number | "all",
): readonly Fragment[] {
  const { u32 } = machine.views;
  const maskOf = (lane: number): number =>
    needs === "all" ? -1 : (u32[((warp.frame + needs) >> 2) + lane] ?? 0) | 0;
  // Lanes with different masks are different groups.
  const mask = maskOf(lowestLane(fragment.mask));
  let group = 0;
  for (let m = fragment.mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    if (maskOf(lane) === mask) group |= 1 << lane;
  }
  const site = program.blocks[fragment.pc]?.site;
  if (needs !== "all" && machine.checks) checkMembers(machine, site, mask, group);
  const rest = fragment.mask & ~group;
  if (rest !== 0) {
    warp.fragments.push({
      pc: fragment.pc,
      mask: rest,
      waiting: undefined,
      barrier: 0,
      ran: warp.slice,
    });
  }
  fragment.mask = group;
  for (const other of [...warp.fragments]) {
    if (other === fragment || other.pc !== fragment.pc || other.waiting !== "lanes") continue;
    if (maskOf(lowestLane(other.mask)) !== mask) continue;
    fragment.mask |= other.mask;
    remove(warp, other);
  }
  const complete = (mask & warp.live & ~fragment.mask) === 0;
  fragment.waiting = complete ? undefined : "lanes";
  if (complete) return [fragment];
  return program.blocks[fragment.pc]?.meets === true
    ? meetAnywhere(program, machine, warp, mask)
    : [];
}

/**
 * Fragments at any `bar.warp.sync` with a mask, if all of its lanes are at one: they meet, also at different ones
 * (PTX ISA 9.0, 9.7.13.2; "in convergence" is asked for sm_6x and before only).
 */
function meetAnywhere(
  program: Program,
  machine: Machine,
  warp: Warp,
  mask: number,
): readonly Fragment[] {
  const { u32 } = machine.views;
  const here = warp.fragments.filter(({ pc, waiting, mask: lanes }) => {
    const { meets, needs } = program.blocks[pc] ?? {};
    if (waiting !== "lanes" || meets !== true || typeof needs !== "number") return false;
    return ((u32[((warp.frame + needs) >> 2) + lowestLane(lanes)] ?? 0) | 0) === mask;
  });
  const lanes = here.reduce((all, fragment) => all | fragment.mask, 0);
  if ((mask & warp.live & ~lanes) !== 0) return [];
  for (const fragment of here) fragment.waiting = undefined;
  if (machine.checks) meetLanes(machine, lanes, warp.live);
  return here;
}

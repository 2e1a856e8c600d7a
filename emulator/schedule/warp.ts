/**
 * A warp that runs: its lanes in paths, each of lanes at one basic block. The path at the lowest block runs until it
 * meets another one: blocks are numbered in the order of the text, so lanes that diverged reconverge
 * where the text does (the thread frontiers of Diamos et al., "SIMD Re-convergence at Thread Frontiers", MICRO 2011).
 */
import type { Program } from "../compile/program.ts";
import { STOP } from "../compile/program.ts";
import { HEADER } from "../register_file.ts";
import type { Machine } from "../machine.ts";
import { meetLanes } from "../access/state.ts";
import { checkMembers } from "../collective/mod.ts";
import { announceStep, mayContinue, type Observed, observedOf } from "../debug/observer.ts";
import { Fault, type FaultKind } from "../fault.ts";
import { withOrigin } from "./fault_origin.ts";
import { checkPassing, noteExit } from "./passing.ts";
import type { Path, Warp } from "./state.ts";

const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** Whether a warp has nothing left to do. */
export function isDone(warp: Warp): boolean {
  return warp.live === 0;
}

/** Adds lanes to the path at a basic block, together with those that are there already. */
function addLanes(program: Program, machine: Machine, warp: Warp, pc: number, mask: number): void {
  if (mask === 0) return;
  const ran = warp.slice;
  if (pc >= program.blocks.length) {
    noteExit(program, machine, warp);
    setLive(machine, warp, warp.live & ~mask);
    return;
  }
  const there = warp.paths.find((f) => f.pc === pc && f.waiting === undefined);
  if (there === undefined) warp.paths.push({ pc, mask, waiting: undefined, barrier: 0, ran });
  else {
    there.mask |= mask;
    there.ran = ran;
  }
}

function setLive(machine: Machine, warp: Warp, live: number): void {
  warp.live = live;
  machine.views.i32[(warp.registerFile + HEADER.live) >> 2] = live;
  // Paths that wait for lanes that have exited need not wait any longer.
  for (const path of warp.paths) {
    if (path.waiting === "lanes") path.waiting = undefined;
  }
}

/** Joins paths that have come to the same basic block by waiting. */
function join(warp: Warp): void {
  const { paths } = warp;
  for (let i = paths.length - 1; i > 0; i--) {
    const late = paths[i];
    if (late === undefined || late.waiting !== undefined) continue;
    const early = paths.find((f) => f.pc === late.pc && f.waiting === undefined);
    if (early === undefined || early === late) continue;
    early.mask |= late.mask;
    paths.splice(i, 1);
  }
}

/**
 * The path to run: the one at the lowest block. After a slice that ended in the middle of something, the one that has
 * waited longest begins: lanes that spin must not keep those from running that they wait for.
 */
function choose(warp: Warp): Path | undefined {
  let chosen: Path | undefined;
  for (const path of warp.paths) {
    if (path.waiting !== undefined) continue;
    if (
      chosen === undefined ||
      (warp.exhausted ? path.ran < chosen.ran : path.pc < chosen.pc)
    ) chosen = path;
  }
  warp.exhausted = false;
  return chosen;
}

/** The next basic block at which another path is. */
function nextMeeting(program: Program, warp: Warp, running: Path): number {
  let stop = program.blocks.length;
  for (const { pc, waiting } of warp.paths) {
    if (waiting === undefined && pc > running.pc && pc < stop) stop = pc;
  }
  return stop;
}

/** What a warp reports to its block and launch. */
export interface WarpEvents {
  /** A path is at a barrier with all lanes that it needs. */
  arrive(warp: Warp, path: Path): void;
  /** Lanes of a warp diverged. */
  diverged(warp: Warp): void;
}

/** Slices of an observed warp, which have one instruction each, before another of its paths has a turn. */
const OBSERVED_PATIENCE = 10_000;

/** What became of a warp that was to run; paused: an observer wants it to go on later, from the same instruction. */
export type Outcome = "ran" | "waits" | "paused";

/**
 * Runs a warp until its fuel is spent or all of its paths wait; then it has waited all the time, or run.
 * `resumes`: it was paused.
 */
export function runWarp(
  program: Program,
  machine: Machine,
  warp: Warp,
  events: WarpEvents,
  resumes = false,
): Outcome {
  const { code } = program;
  const observed = observedOf(machine);
  machine.warp = warp;
  machine.block = warp.block;
  if (!resumes) warp.slice++;
  let ran = resumes;
  while (code.fuel.value > 0) {
    if (warp.paths.length > 1) join(warp);
    const { exhausted } = warp;
    const path = choose(warp);
    if (path === undefined) return ran ? "ran" : "waits";
    if (observed !== undefined && announceStep(observed, warp, path)) {
      // It is chosen again.
      warp.exhausted = exhausted;
      return "paused";
    }
    ran = true;
    warp.running = path;
    const { pc, mask } = path;
    const passing = checkPassing(program, machine, warp, path);
    const meeting = nextMeeting(program, warp, path);
    const status = observed === undefined
      ? code.run(warp.registerFile, mask, pc, Math.min(meeting, passing))
      : runObserved(program, machine, observed, warp, mask, pc);
    settle(program, machine, warp, path, status, events);
  }
  warp.exhausted = warp.paths.length > 1 &&
    (observed === undefined || warp.slice % OBSERVED_PATIENCE === 0);
  return ran ? "ran" : "waits";
}

/** Runs one instruction, or leaves it out if it fails and the observer wants to see more. */
function runObserved(
  program: Program,
  machine: Machine,
  { at }: Observed,
  warp: Warp,
  mask: number,
  pc: number,
): number {
  at.mask = mask;
  try {
    return program.code.run(warp.registerFile, mask, pc, 0);
  } catch (error) {
    const fault = withOrigin(error, machine, program.kernel);
    if (!(fault instanceof Fault) || ENDS.has(fault.kind)) throw fault;
    if (!mayContinue(machine, fault)) throw fault;
    return pc + 1;
  }
}

/** Faults after which a warp cannot go on. */
const ENDS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "trap",
  "illegal instruction",
  "unsupported instruction",
]);

function remove(warp: Warp, path: Path): void {
  warp.paths.splice(warp.paths.indexOf(path), 1);
}

function settle(
  program: Program,
  machine: Machine,
  warp: Warp,
  path: Path,
  status: number,
  events: WarpEvents,
): void {
  const { i32 } = machine.views;
  const { registerFile } = warp;
  if (status >= 0) {
    remove(warp, path);
    addLanes(program, machine, warp, status, path.mask);
    return;
  }
  if (status === STOP.diverged) {
    const taken = i32[(registerFile + HEADER.diverged) >> 2] ?? 0;
    remove(warp, path);
    addLanes(
      program,
      machine,
      warp,
      i32[(registerFile + HEADER.target) >> 2] ?? 0,
      path.mask & taken,
    );
    addLanes(
      program,
      machine,
      warp,
      i32[(registerFile + HEADER.other) >> 2] ?? 0,
      path.mask & ~taken,
    );
    events.diverged(warp);
    return;
  }
  path.pc = program.code.stoppedAt.value;
  if (status === STOP.later) return;
  const facts = program.blocks[path.pc];
  if (status === STOP.barrier) {
    const together = facts?.barrier?.aligned !== true ||
      gather(program, machine, warp, path, "all").length > 0;
    if (together) events.arrive(warp, path);
    return;
  }
  for (const each of gather(program, machine, warp, path, facts?.needs ?? "all")) {
    i32[(registerFile + HEADER.forced) >> 2] = 1;
    warp.running = each;
    const observed = observedOf(machine);
    // One block only: other paths may be at lower ones.
    const next = observed === undefined
      ? program.code.run(registerFile, each.mask, each.pc, 0)
      : runObserved(program, machine, observed, warp, each.mask, each.pc);
    settle(program, machine, warp, each, next, events);
  }
}

/**
 * Joins a path with those that wait at the same block for the same lanes. If all are there, the result is the
 * path, and others that continue with it; if not, it waits. `needs` is the row of the lanes' masks.
 */
function gather(
  program: Program,
  machine: Machine,
  warp: Warp,
  path: Path,
  needs: number | "all",
): readonly Path[] {
  const { u32 } = machine.views;
  const maskOf = (lane: number): number =>
    needs === "all" ? -1 : (u32[((warp.registerFile + needs) >> 2) + lane] ?? 0) | 0;
  // Lanes with different masks are different groups.
  const mask = maskOf(lowestLane(path.mask));
  let group = 0;
  for (let m = path.mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    if (maskOf(lane) === mask) group |= 1 << lane;
  }
  const site = program.blocks[path.pc]?.site;
  if (needs !== "all" && machine.checks) checkMembers(machine, site, mask, group);
  const rest = path.mask & ~group;
  if (rest !== 0) {
    warp.paths.push({
      pc: path.pc,
      mask: rest,
      waiting: undefined,
      barrier: 0,
      ran: warp.slice,
    });
  }
  path.mask = group;
  for (const other of [...warp.paths]) {
    if (other === path || other.pc !== path.pc || other.waiting !== "lanes") continue;
    if (maskOf(lowestLane(other.mask)) !== mask) continue;
    path.mask |= other.mask;
    remove(warp, other);
  }
  const complete = (mask & warp.live & ~path.mask) === 0;
  path.waiting = complete ? undefined : "lanes";
  if (complete) return [path];
  return program.blocks[path.pc]?.meets === true ? meetAnywhere(program, machine, warp, mask) : [];
}

/**
 * Paths at any `bar.warp.sync` with a mask, if all of its lanes are at one: they meet, also at different ones
 * (PTX ISA 9.0, 9.7.13.2; "in convergence" is asked for sm_6x and before only).
 */
function meetAnywhere(
  program: Program,
  machine: Machine,
  warp: Warp,
  mask: number,
): readonly Path[] {
  const { u32 } = machine.views;
  const here = warp.paths.filter(({ pc, waiting, mask: lanes }) => {
    const { meets, needs } = program.blocks[pc] ?? {};
    if (waiting !== "lanes" || meets !== true || typeof needs !== "number") return false;
    return ((u32[((warp.registerFile + needs) >> 2) + lowestLane(lanes)] ?? 0) | 0) === mask;
  });
  const lanes = here.reduce((all, path) => all | path.mask, 0);
  if ((mask & warp.live & ~lanes) !== 0) return [];
  for (const path of here) path.waiting = undefined;
  if (machine.checks) meetLanes(machine, lanes, warp.live);
  return here;
}

/**
 * Walks through a launch. Forward it runs on; backward it puts memory back as it was and runs from the beginning: an
 * observed launch is the same each time.
 */
import { printerOf, setPrinter } from "../calls/print.ts";
import { type CheckLevels, checkOf } from "../check/levels.ts";
import { warningKey } from "../check/report.ts";
import { Fault } from "../fault.ts";
import type { Machine } from "../machine.ts";
import { ConditionError, holds, isUnknown, parseCondition, type Quantity } from "./condition.ts";
import type { LaunchReport } from "../report.ts";
import type {
  BreakpointAnswer,
  DebugLaunch,
  DebugState,
  Finding,
  Focus,
  StopReason,
  Until,
} from "./debug_launch.ts";
import { type Found, type Goal, type Judge, NO_JUDGE, type Seen } from "./goal.ts";
import { fitNames } from "./named_values.ts";
import type { ObservedLaunch, Turn } from "./observed_launch.ts";
import type { Observer } from "./observer.ts";
import { isFile, type Stop, stopOf, touches, type Watched, watchedOf } from "./points.ts";
import type { LaunchNames } from "./launch_names.ts";
import { stateOf } from "./state.ts";
import { newTrack, type Track } from "./track.ts";

/** What is walked through. */
export interface DebuggedLaunch {
  readonly machine: Machine;
  readonly kernel: string;
  /** Begins the launch from the beginning. */
  readonly begin: (observer: Observer) => ObservedLaunch;
  /** Puts memory back as it was before the launch. */
  readonly restore: () => void;
  readonly levels: CheckLevels;
}

/** A debugged launch, for its owner. */
export interface OwnedDebugLaunch extends DebugLaunch {
  /** Runs to the end; what it counted. Throws the first mistake that the launch's checks take for an error. */
  finish(): LaunchReport;
  /** Gives its memory back; the launch must not be used afterwards. */
  close(): void;
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((each, axis) => each === b[axis]);

/** A run from the beginning. */
interface Run {
  readonly launch: ObservedLaunch;
  readonly track: Track;
  turn: Turn;
  /** The step that was reported last, and what is known at it. */
  now: number;
  seen: Seen | undefined;
  /** What happened in the step before: a mistake to stop at, a watchpoint touched, the focused warp at a barrier. */
  faulted: Finding | undefined;
  touched: number;
  arrived: boolean;
}

/** Walks through a launch; nothing has run yet, and the focus is the first thread of the first program. */
export function debugLaunch(options: DebuggedLaunch): OwnedDebugLaunch {
  const { machine } = options;
  let goal: Goal = { from: 0, last: 0, judge: NO_JUDGE, first: true, found: undefined };
  let focus: Focus = { program: [0, 0, 0], warp: 0, lane: 0 };
  let breakpoints: readonly Stop[] = [];
  let watchpoints: readonly Watched[] = [];
  let stopsAt: DebugLaunch["stopsAt"] = "none";
  let also: Omit<Observer, "fault"> = {};
  let named: LaunchNames | undefined;
  const findings = new Map<string, Finding>();
  /** The steps before it have been reported before: what they print and find is known. */
  let furthest = 0;
  let position = 0;
  /** No run has started: a breakpoint at the first step has not been reported. */
  let isNew = true;

  const observer: Observer = {
    step(at): "go" | "pause" {
      const { number } = at;
      run.now = number;
      const seen: Seen = { number, ...run.track.step(at) };
      run.seen = seen;
      also.step?.(at);
      const stop = stopHere(seen);
      const isAsked = number >= goal.from && number < goal.last;
      const found = isAsked ? stop ?? goal.judge(seen) : undefined;
      [run.faulted, run.touched, run.arrived] = [undefined, -1, false];
      if (found !== undefined) goal.found = { ...found, number };
      return (found !== undefined && goal.first) || number >= goal.last ? "pause" : "go";
    },
    access(at, access): void {
      also.access?.(at, access);
      if (!access.writes || run.touched >= 0) return;
      run.touched = watchpoints.findIndex((each) => touches(each, access));
    },
    sync(at, event): void {
      also.sync?.(at, event);
      if (event.kind !== "barrier arrives") return;
      const { block, index } = at.warp;
      if (index === focus.warp && isSame(block.index, focus.program)) run.arrived = true;
    },
    block(block, event): void {
      run.track.block(block, event);
      also.block?.(block, event);
    },
    fault(fault, at): "continue" {
      const key = warningKey(fault);
      const step = Math.max(0, at.number);
      const known = findings.get(key) ?? { fault: { ...fault }, step, count: 0 };
      const finding = at.number < furthest ? known : { ...known, count: known.count + 1 };
      findings.set(key, finding);
      if (run.faulted === undefined && isStopping(finding)) run.faulted = finding;
      return "continue";
    },
  };
  const start = (): Run => {
    options.restore();
    const launch = options.begin(observer);
    const track = newTrack(launch, named?.loops);
    const turn: Turn = { kind: "paused" };
    const nothing = { seen: undefined, faulted: undefined, touched: -1, arrived: false };
    return { launch, track, turn, now: -1, ...nothing };
  };
  let run = start();

  const print = printerOf(machine);
  setPrinter(machine, (text) => {
    if (run.now >= furthest) print(text);
  });

  const isFocused = ({ warp: { warp } }: Seen): boolean =>
    warp.index === focus.warp && isSame(warp.block.index, focus.program);

  /** Why a run stops at a step, whatever it is to do. */
  const stopHere = (seen: Seen): Found | undefined => {
    const changed = seen.begins && isFocused(seen) ? changedValue() : -1;
    const { faulted, touched } = run;
    if (faulted !== undefined) {
      return { reason: { kind: "fault", finding: faulted }, focus };
    }
    const number = touched >= 0 ? touched : changed;
    if (number >= 0) return { reason: { kind: "watchpoint", number }, focus };
    const { warp, file, line } = seen.warp;
    if (!seen.begins || warp.index !== focus.warp) return undefined;
    const here = { ...focus, program: warp.block.index };
    for (const [number, stop] of breakpoints.entries()) {
      if (stop.line !== line || (stop.file !== undefined && !isFile(file, stop.file))) continue;
      const found = (reason: StopReason): Found => ({ reason, focus: here });
      try {
        if (stop.asks !== undefined && !holds(stop.asks.evaluate((name) => lookUp(name, here)))) {
          continue;
        }
      } catch (error) {
        if (!(error instanceof ConditionError)) throw error;
        return found({ kind: "condition", number, message: error.message });
      }
      return found({ kind: "breakpoint", number });
    }
    return undefined;
  };

  const isStopping = ({ fault: { kind } }: Finding): boolean =>
    stopsAt === "all" || (stopsAt !== "none" && stopsAt.has(kind));

  const isOver = (): boolean => run.turn.kind !== "paused";

  const stateAt = (of: Focus): DebugState =>
    stateOf({
      machine,
      launch: run.launch,
      track: run.track,
      focus: of,
      named,
    });

  const lookUp = (name: string, of: Focus): Quantity | undefined => {
    const [program_x, program_y, program_z] = of.program;
    const { warp, lane } = of;
    const fixed: Readonly<Record<string, number>> = {
      ...{ program_x, program_y, program_z, warp, lane },
      step: isOver() ? position : run.now,
    };
    if (Object.hasOwn(fixed, name)) return fixed[name];
    const state = stateAt(of);
    if (name.startsWith("%")) {
      const register = state.registers().find((each) => `%${each.name}` === name);
      return register === undefined ? undefined : Number(register.bits);
    }
    const value = state.value(name);
    if (value === undefined) return undefined;
    const values = Array.from(value.values, Number);
    return value.shape.length === 0 ? values[0] : { shape: value.shape, values };
  };

  /** The first watchpoint on a value that has changed since it was asked last; -1: none. */
  const changedValue = (): number => {
    let changed = -1;
    for (const [number, each] of watchpoints.entries()) {
      if (each.kind !== "value") continue;
      try {
        const value = each.asks.evaluate((name) => lookUp(name, focus));
        // What is not known for a while has not changed.
        if (isUnknown(value)) continue;
        const text = JSON.stringify(value);
        if (each.last !== undefined && text !== each.last && changed < 0) changed = number;
        each.last = text;
      } catch (error) {
        // It has no value yet, or none any more.
        if (!(error instanceof ConditionError)) throw error;
      }
    }
    return changed;
  };

  /** Runs on until a goal is met. */
  const seek = (wanted: Omit<Goal, "found">): Goal["found"] => {
    goal = { ...wanted, found: undefined };
    run.turn = run.launch.turn();
    position = isOver() ? run.now + 1 : run.now;
    furthest = Math.max(furthest, position);
    return goal.found;
  };

  const restart = (): void => {
    run.launch.close();
    for (const each of watchpoints) if (each.kind === "value") each.last = undefined;
    run = start();
    seek({ from: 0, last: 0, judge: NO_JUDGE, first: true });
  };

  const endReason = (): StopReason => {
    const { turn } = run;
    const finding = turn.kind === "failed" ? findings.get(warningKey(turn.fault)) : undefined;
    return finding === undefined ? { kind: "end" } : { kind: "fault", finding };
  };

  const goto = (step: number): StopReason => {
    if (step < position) restart();
    if (!isOver() && step > position) {
      seek({ from: Infinity, last: step, judge: NO_JUDGE, first: true });
    }
    if (isOver()) return endReason();
    return { kind: position === 0 ? "start" : "step" };
  };

  const judgeFor = (until: Until, direction: 1 | -1): Judge => {
    const step = { reason: { kind: "step" }, focus } as const;
    switch (until) {
      case "instruction":
        return (seen) => isFocused(seen) ? step : undefined;
      case "statement":
        return (seen) => seen.begins && isFocused(seen) ? step : undefined;
      case "barrier":
        return () => run.arrived ? step : undefined;
      case "program":
        return direction > 0 ? afterProgram(step) : atProgram(step);
      case "end":
        return NO_JUDGE;
    }
  };

  /** The first step after the focused program has ended; the focus moves to the program that has it. */
  const afterProgram = (step: Found): Judge => ({ warp: { warp } }) => {
    const runs = [...run.track.blocks.values()].some(({ index }) => isSame(index, focus.program));
    if (runs) return undefined;
    return { ...step, focus: { ...focus, program: warp.block.index } };
  };

  /** The first step of the focused program. */
  const atProgram = (step: Found): Judge => {
    let has = false;
    return ({ warp: { warp } }) => {
      if (has || !isSame(warp.block.index, focus.program)) return undefined;
      has = true;
      return step;
    };
  };

  const forward = (until: Until, steps: number): StopReason => {
    if (isOver()) return endReason();
    const met = isNew && run.seen !== undefined ? stopHere(run.seen) : undefined;
    isNew = false;
    if (met !== undefined) {
      focus = met.focus;
      return met.reason;
    }
    const last = position + steps;
    const found = seek({ from: position + 1, last, judge: judgeFor(until, 1), first: true });
    if (found === undefined) return isOver() ? endReason() : { kind: "limit" };
    focus = found.focus;
    return found.reason;
  };

  const backward = (until: Until): StopReason => {
    isNew = false;
    const before = position;
    restart();
    if (before === 0) return { kind: "start" };
    const judge = judgeFor(until, -1);
    const found = seek({ from: 0, last: before, judge, first: false });
    restart();
    if (found === undefined || found.number === 0) return { kind: "start" };
    goto(found.number);
    focus = found.focus;
    return found.reason;
  };

  seek({ from: 0, last: 0, judge: NO_JUDGE, first: true });
  const { grid, block } = run.launch.launch;
  return {
    kernel: options.kernel,
    grid,
    block,
    instructions: run.launch.instructions.map(({ site }) => site),
    get position(): number {
      return position;
    },
    get focus(): Focus {
      return focus;
    },
    set focus(wanted: Focus) {
      focus = wanted;
    },
    get stopsAt(): DebugLaunch["stopsAt"] {
      return stopsAt;
    },
    set stopsAt(wanted: DebugLaunch["stopsAt"]) {
      stopsAt = wanted;
    },
    get findings(): readonly Finding[] {
      return [...findings.values()];
    },
    run: (until, direction = 1, steps = Infinity) =>
      direction > 0 ? forward(until, steps) : backward(until),
    goto(step): StopReason {
      isNew = false;
      return goto(step);
    },
    setBreakpoints(points): readonly BreakpointAnswer[] {
      const all = points.map((point) => stopOf(run.launch.instructions, point));
      breakpoints = all.map(({ stop }) => stop);
      return all.map(({ answer }) => answer);
    },
    setWatchpoints(points): readonly BreakpointAnswer[] {
      const all = points.map(watchedOf);
      watchpoints = all.map(({ watched }) => watched);
      changedValue();
      return all.map(({ answer }) => answer);
    },
    nameValues(names): boolean {
      named = fitNames(run.launch.instructions, names);
      const before = position;
      restart();
      goto(before);
      return named !== undefined;
    },
    evaluate: (expression) => parseCondition(expression).evaluate((name) => lookUp(name, focus)),
    state: () => stateAt(focus),
    record(observer): void {
      also = observer;
      try {
        restart();
        goto(Infinity);
      } finally {
        also = {};
      }
    },
    finish(): LaunchReport {
      goto(Infinity);
      const { turn } = run;
      if (turn.kind === "failed") throw turn.fault;
      const error = [...findings.values()].find(({ fault: { kind } }) => {
        const check = checkOf(kind);
        return check === undefined || options.levels[check] === "error";
      });
      if (error !== undefined) {
        const { kind, detail, lane, site, origin, hint } = error.fault;
        throw new Fault(kind, detail, lane, site, origin, hint);
      }
      if (turn.kind !== "ended") throw new RangeError("a launch ends");
      return turn.report;
    },
    close(): void {
      setPrinter(machine, print);
      run.launch.close();
    },
  };
}

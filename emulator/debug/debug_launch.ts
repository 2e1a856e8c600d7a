/** A launch that one can walk through, forward and backward: its types. */
import type { FaultFacts, FaultKind, Site } from "../fault.ts";
import type { Window } from "../memory.ts";
import type { Quantity } from "./condition.ts";
import type { Observer } from "./observer.ts";
import type { NamedValue, SourceNames } from "../../compiler/support/variables.ts";

/** A position in a grid, or its extent. */
export type Triple = readonly [x: number, y: number, z: number];

/** The thread whose statements are followed: a program (a block of the grid), a warp of it, and a lane of that. */
export interface Focus {
  /** The program's position in the grid. */
  readonly program: Triple;
  /** The warp's number in its program. */
  readonly warp: number;
  /** From 0 to 31. */
  readonly lane: number;
}

/**
 * How far to run: to the next instruction or statement of the focused warp, to where its program begins or ends, to its
 * next barrier, or to the end of the launch. Breakpoints and watchpoints stop all of these.
 */
export type Until = "instruction" | "statement" | "program" | "barrier" | "end";

/** A mistake that was found, the first of its kind at its instruction. */
export interface Finding {
  /** What was found, where, and by which thread first. */
  readonly fault: FaultFacts;
  /** The step in which it was found first. */
  readonly step: number;
  /** How often it was found so far. */
  readonly count: number;
}

/** Why a launch stopped where it is. */
export type StopReason =
  | { readonly kind: "step" }
  /** By the number of the breakpoint or watchpoint in the list that was set. */
  | { readonly kind: "breakpoint"; readonly number: number }
  | { readonly kind: "watchpoint"; readonly number: number }
  /** The instruction before this step made a mistake, or the launch cannot go on. */
  | { readonly kind: "fault"; readonly finding: Finding }
  /** A breakpoint's condition cannot be asked. */
  | { readonly kind: "condition"; readonly number: number; readonly message: string }
  /** As many steps as were allowed have been done. */
  | { readonly kind: "limit" }
  | { readonly kind: "start" }
  | { readonly kind: "end" };

/** A line of the source to stop at, in any program; the focus moves there. */
export interface Breakpoint {
  /** Counted from 1. */
  readonly line: number;
  /** The source file's name or the end of its path; absent: any file. */
  readonly file?: string;
  /** See `condition.ts`. Names: variables, `program_x`, `program_y`, `program_z`, `warp`, `lane`, `step`, registers. */
  readonly condition?: string;
}

/** What to stop after a change of. */
export type Watchpoint =
  /** Bytes of global memory that an instruction writes. */
  | { readonly kind: "memory"; readonly address: bigint; readonly bytes: number }
  /** An expression over variables of the focused program, such as `x[3, 5]` or `x`; asked at each statement. */
  | { readonly kind: "value"; readonly expression: string };

/** A breakpoint as it was understood: where it is, or why it will not be met. */
export interface BreakpointAnswer {
  /** Whether it can be met. */
  readonly verified: boolean;
  /** Why not. */
  readonly message?: string;
  /** The line it is at: the next one that has instructions. */
  readonly line: number;
}

/** A register of the focused lane. */
export interface RegisterValue {
  /** Without its percent sign. */
  readonly name: string;
  /** Its PTX type. */
  readonly type: string;
  /** Its bits, without sign; of a predicate 0 or 1. */
  readonly bits: bigint;
  /** Whether the lane has written it; what it holds is arbitrary if not. */
  readonly isSet: boolean;
}

/** What can be seen where a launch is. */
export interface DebugState {
  /** The instruction that comes next in the focused warp; undefined if the focused program does not run now. */
  readonly site: Site | undefined;
  /** Lanes of the focused warp that run it. */
  readonly mask: number;
  /** The warps of the focused program. */
  readonly warps: number;
  /** The registers of a lane of the focused warp; of the focused one if none is given. */
  registers(lane?: number): readonly RegisterValue[];
  /** The variables in scope before the statement that the focused warp is in, once `nameValues` has named them. */
  values(): readonly string[];
  /** The value of one of them; undefined for other names, and while the focused program does not run. */
  value(name: string): NamedValue | undefined;
  /** Global memory by address, shared memory of the focused program by offset; undefined where there is none. */
  memory(space: Window, from: number, bytes: number): Uint8Array | undefined;
}

/** A launch that one can walk through. */
export interface DebugLaunch {
  /** The name of the kernel's entry. */
  readonly kernel: string;
  /** Programs by axis. */
  readonly grid: Triple;
  /** Threads of a program by axis. */
  readonly block: Triple;
  /** By `Step.pc`. */
  readonly instructions: readonly Site[];
  /** The step that comes next. */
  readonly position: number;
  /** May be set: to look at another thread. */
  focus: Focus;
  /** Kinds of mistakes after which to stop; all are recorded. */
  stopsAt: ReadonlySet<FaultKind> | "all" | "none";
  /** Mistakes found so far. */
  readonly findings: readonly Finding[];
  /**
   * Runs forward, or backward with -1, for at most `steps` steps. The first run stops at the first step if a breakpoint is
   * met there; after a `goto` or another run, runs begin with the next step.
   */
  run(until: Until, direction?: 1 | -1, steps?: number): StopReason;
  /** Goes to a step, forward or backward, past all breakpoints. */
  goto(step: number): StopReason;
  /** Replaces all breakpoints; an answer for each. */
  setBreakpoints(points: readonly Breakpoint[]): readonly BreakpointAnswer[];
  /** Replaces all watchpoints; an answer for each, whose line is 0. */
  setWatchpoints(points: readonly Watchpoint[]): readonly BreakpointAnswer[];
  /** Names variables of the source; false where the names are of other code. */
  nameValues(names: SourceNames): boolean;
  /** The value of an expression where the launch is; throws `ConditionError`. */
  evaluate(expression: string): Quantity;
  /** What can be seen where the launch is now; to be asked again after it has moved. */
  state(): DebugState;
  /** Runs all of it, from the beginning, while someone else looks on as well. */
  record(observer: Omit<Observer, "fault">): void;
}

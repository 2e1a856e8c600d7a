/**
 * Those who look on while a kernel runs. An observed launch runs in one thread of the host, an instruction of each warp
 * at a time, in an order that is always the same; without an observer nothing is asked.
 */
import type { FaultFacts, Site } from "../fault.ts";
import type { BlockState, Machine, WarpState } from "../machine.ts";
import type { Window } from "../memory.ts";

/**
 * A warp is about to run an instruction. It is a step also when the warp then waits there: for lanes, for others, or at a
 * barrier. One object is used for all steps: copy what you keep.
 */
export interface Step {
  /** Counts from 0; the same step has the same number in every run of the launch. */
  readonly number: number;
  /** The warp, and its block. */
  readonly warp: WarpState;
  /** The instruction, by its position in {@linkcode ObservedLaunch.instructions}. */
  readonly pc: number;
  /** The lanes that are there. */
  readonly mask: number;
}

/**
 * What an instruction accesses. Copies tell of what they read and what they write separately, and bulk copies of each piece,
 * which a lane copies.
 */
export interface ObservedAccess {
  /** What the instruction does. */
  readonly verb: "load" | "store" | "atomic" | "copy";
  /** Whether memory may change. */
  readonly writes: boolean;
  /** The state space that the places are in. */
  readonly space: Window;
  /** The lanes that access; those that a check has left out are not among them. */
  readonly lanes: number;
  /** By lane: offsets in shared memory, else locations in the emulator's memory. Copy what you keep. */
  readonly places: Uint32Array;
  /** Of each lane. */
  readonly bytes: number;
}

/** An asynchronous copy, or the reads of products; the same object each time that it is spoken of. */
export interface CopyFacts {
  /** What it does to shared memory, or out of shared memory to global. */
  readonly effect: "reads" | "writes" | "combines";
  /** The instruction that waits for it. */
  readonly wait: string;
  /** The instruction that began it. */
  readonly site: Site;
}

/** Threads that wait for others or for copies, and lanes of a warp that part. */
export type SyncEvent =
  | { readonly kind: "barrier arrives"; readonly barrier: number | "cluster" }
  | { readonly kind: "barrier ends"; readonly barrier: number | "cluster" }
  | { readonly kind: "lanes part"; readonly taken: number; readonly others: number }
  | { readonly kind: "copy begins"; readonly copy: CopyFacts; readonly lanes: number }
  | { readonly kind: "copy is waited for"; readonly copy: CopyFacts; readonly lanes: number };

/** An observer; what is absent is not reported. */
export interface Observer {
  /** Before an instruction. After a pause the launch continues with this instruction, which is not reported again. */
  step?(at: Step): "go" | "pause";
  /** Before memory is accessed. */
  access?(at: Step, access: ObservedAccess): void;
  /** After threads have come to a barrier or left it, lanes parted, and copies began or were waited for. */
  sync?(at: Step, event: SyncEvent): void;
  /** Before the first step of a block, and after its last one. */
  block?(block: BlockState, event: "begins" | "ends"): void;
  /**
   * A check or an instruction has found a mistake. "continue": the launch goes on. What must not be accessed is left out,
   * and its loads give 0; an instruction that cannot leave out single lanes is left out for the warp.
   */
  fault?(fault: FaultFacts, at: Step): "stop" | "continue";
}

/** An observer, and where the launch is. */
export interface Observed {
  readonly observer: Observer;
  readonly at: { -readonly [Name in keyof Step]: Step[Name] };
  /** Whether the observer has paused the launch before the instruction that comes next. */
  isPaused: boolean;
  /** Whether it has stopped the launch because of a fault. */
  isStopped: boolean;
}

const observers = new WeakMap<Machine, Observed>();
/** How many machines are observed: while none is, none is looked up, at each barrier and whenever a warp has its turn. */
let observedMachines = 0;

/** Who looks on at what a machine runs. */
export function observedOf(machine: Machine): Observed | undefined {
  return observedMachines === 0 ? undefined : observers.get(machine);
}

/** Lets someone look on until the result is called. */
export function observe(machine: Machine, observer: Observer): () => void {
  const at = { number: -1, warp: machine.warp, pc: 0, mask: 0 };
  const observed: Observed = { observer, at, isPaused: false, isStopped: false };
  if (!observers.has(machine)) observedMachines++;
  observers.set(machine, observed);
  return () => {
    if (observers.get(machine) !== observed) return;
    observers.delete(machine);
    observedMachines--;
  };
}

/** Reports that a warp is about to run an instruction. True: not now. */
export function announceStep(
  observed: Observed,
  warp: WarpState,
  { pc, mask }: { readonly pc: number; readonly mask: number },
): boolean {
  if (observed.isPaused) {
    observed.isPaused = false;
    return false;
  }
  const { at, observer } = observed;
  at.number++;
  [at.warp, at.pc, at.mask] = [warp, pc, mask];
  observed.isPaused = observer.step?.(at) === "pause";
  return observed.isPaused;
}

/** Reports a barrier, a copy or a branch. */
export function announceSync(machine: Machine, event: SyncEvent): void {
  const observed = observedOf(machine);
  observed?.observer.sync?.(observed.at, event);
}

/** Reports a mistake. True: the launch continues; false: it ends with this one, or there is no observer. */
export function mayContinue(machine: Machine, fault: FaultFacts): boolean {
  const observed = observedOf(machine);
  if (observed?.observer.fault === undefined || observed.isStopped) return false;
  observed.isStopped = observed.observer.fault(fault, observed.at) === "stop";
  return !observed.isStopped;
}

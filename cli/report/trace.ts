/** What one program of a launch did: its instructions in order, its accesses, its barriers and copies. */
import type { DebugLaunch, Triple } from "../../emulator/debug/debug_launch.ts";
import type { ObservedAccess, Observer, Step, SyncEvent } from "../../emulator/debug/observer.ts";

/** A tensor of the launch. */
export interface TracedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** In global memory. */
  readonly address: bigint;
  /** Of an element. */
  readonly bytes: number;
}

/** An instruction of the kernel. */
export interface TracedInstruction {
  readonly text: string;
  /** Of the kernel's file; 0 where it is of another one or of none. */
  readonly line: number;
}

/** One access of one instruction of a warp. */
export interface TracedAccess {
  /** The step, by its place in {@linkcode Trace.steps}. */
  readonly at: number;
  readonly warp: number;
  readonly pc: number;
  readonly verb: ObservedAccess["verb"];
  readonly space: ObservedAccess["space"];
  /** Lanes that access, as a mask. */
  readonly lanes: number;
  /** By lane: the byte in its tensor or in shared memory. */
  readonly places: readonly number[];
  /** Of each lane. */
  readonly bytes: number;
  /** The tensor that it lies in; empty for shared memory. */
  readonly tensor: string;
}

/** Something that orders threads. */
export interface TracedEvent {
  readonly at: number;
  readonly warp: number;
  readonly pc: number;
  readonly kind: SyncEvent["kind"];
  readonly text: string;
}

/** What the program did. */
export interface Trace {
  readonly kind: "trace";
  readonly grid: Triple;
  readonly program: Triple;
  readonly warps: number;
  readonly instructions: readonly TracedInstruction[];
  /** By step of the program: its number in the launch, its warp, its instruction. */
  readonly steps: Uint32Array;
  readonly stepWarps: Uint8Array;
  readonly stepPcs: Uint32Array;
  readonly accesses: readonly TracedAccess[];
  readonly events: readonly TracedEvent[];
  readonly tensors: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly shape: readonly number[];
  }[];
  /** Steps of the whole launch. */
  readonly total: number;
  /** Not all of it was kept. */
  readonly isCut: boolean;
}

/** A trace keeps so much; a picture shows no more. */
const MOST_STEPS = 50_000;
const MOST_ACCESSES = 4_000;
/** The location of a byte of global memory is the lower half of its address. */
const LOCATION = 0xffff_ffffn;

/** The position in the grid that is nearest to a wanted one. */
export function inGrid(wanted: Triple, grid: Triple): Triple {
  const [x, y, z] = wanted.map((at, axis) => Math.max(0, Math.min(at, (grid[axis] ?? 1) - 1)));
  return [x ?? 0, y ?? 0, z ?? 0];
}

/** Looks on at one program of a launch; `file` is the name of the kernel's file. */
export function recordTrace(
  file: string,
  launch: DebugLaunch,
  tensors: readonly TracedTensor[],
  wanted: Triple,
): Trace {
  const { grid, instructions } = launch;
  const focus = inGrid(wanted, grid);
  const steps: number[] = [];
  const stepWarps: number[] = [];
  const stepPcs: number[] = [];
  const accesses: TracedAccess[] = [];
  const events: TracedEvent[] = [];
  let [total, isCut] = [0, false];
  const isFocus = ({ warp: { block } }: Step): boolean =>
    block.index.every((at, axis) => at === focus[axis]);
  const observer: Omit<Observer, "fault"> = {
    step(at): "go" | "pause" {
      total = at.number + 1;
      if (!isFocus(at)) return "go";
      if (steps.length === MOST_STEPS) isCut = true;
      else {
        steps.push(at.number);
        stepWarps.push(at.warp.index);
        stepPcs.push(at.pc);
      }
      return "go";
    },
    access(at, access): void {
      if (!isFocus(at) || isCut) return;
      if (accesses.length === MOST_ACCESSES) isCut = true;
      else accesses.push(tracedAccess(steps.length - 1, at, access, tensors));
    },
    sync(at, event): void {
      if (!isFocus(at) || isCut) return;
      const { warp: { index: warp }, pc } = at;
      events.push({ at: steps.length - 1, warp, pc, kind: event.kind, text: describe(event) });
    },
  };
  launch.record(observer);
  return {
    kind: "trace",
    grid,
    program: focus,
    warps: Math.ceil(launch.block.reduce((a, b) => a * b, 1) / 32),
    instructions: instructions.map(({ text, line = 0, ...at }) => ({
      text,
      line: at.file === file ? line : 0,
    })),
    steps: Uint32Array.from(steps),
    stepWarps: Uint8Array.from(stepWarps),
    stepPcs: Uint32Array.from(stepPcs),
    accesses,
    events,
    tensors: tensors.map(({ name, bytes, shape }) => ({ name, bytes, shape })),
    total,
    isCut,
  };
}

function tracedAccess(
  at: number,
  { warp, pc }: Step,
  { verb, space, lanes, places, bytes }: ObservedAccess,
  tensors: readonly TracedTensor[],
): TracedAccess {
  const first = places[31 - Math.clz32(lanes)] ?? 0;
  const inside = space === "global"
    ? tensors.find((tensor) => {
      const from = locationOf(tensor);
      const size = tensor.shape.reduce((a, b) => a * b, tensor.bytes);
      return from <= first && first < from + Math.max(size, 1);
    })
    : undefined;
  const from = inside === undefined ? 0 : locationOf(inside);
  return {
    at,
    warp: warp.index,
    pc,
    verb,
    space,
    lanes,
    places: Array.from(places, (place) => place - from),
    bytes,
    tensor: inside?.name ?? "",
  };
}

const locationOf = ({ address }: TracedTensor): number => Number(address & LOCATION);

function describe(event: SyncEvent): string {
  switch (event.kind) {
    case "barrier arrives":
      return `comes to barrier ${event.barrier}`;
    case "barrier ends":
      return `barrier ${event.barrier} lets all pass`;
    case "lanes part":
      return "its lanes part";
    case "copy begins":
      return `a copy begins that ${event.copy.effect} memory until ${event.copy.wait}`;
    case "copy is waited for":
      return "a copy is complete, and waited for";
  }
}

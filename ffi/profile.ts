/** What a kernel did in one launch: counters that only the emulator has. */
import type { FaultKind } from "../emulator/fault.ts";

/** Accesses of global memory. A request is one instruction of one warp. */
export interface GlobalTraffic {
  /** Loads, stores and atomic operations of warps. */
  readonly requests: number;
  /** Bytes that their lanes asked for. */
  readonly bytes: number;
  /** Aligned pieces of 32 bytes that the requests touched; this is what memory moves. */
  readonly sectors: number;
  /** The fewest sectors that could hold the bytes; bytes that several lanes of a request ask for count once. */
  readonly idealSectors: number;
}

/** Accesses of shared memory. */
export interface SharedTraffic {
  /** Loads, stores and atomic operations of warps. */
  readonly requests: number;
  /** Passes that they took; each serves one word of each of the 32 banks. */
  readonly wavefronts: number;
  /** Passes beyond the first that they took because lanes wanted different words of one bank. */
  readonly bankConflicts: number;
}

/** What one instruction accessed. */
export interface AccessProfile {
  /** The PTX instruction. */
  readonly instruction: string;
  /** Location of its source, such as "transpose.tc:14:3", if the image says so. */
  readonly source: string | undefined;
  /** What it did to global memory. */
  readonly global: GlobalTraffic;
  /** What it did to shared memory. */
  readonly shared: SharedTraffic;
}

/** What a check of the emulator has found and does not stop the launch for. */
export interface EmulatorWarning {
  /** The check's name: a key of the option `checks`. */
  readonly check: string;
  /** What is wrong. */
  readonly kind: FaultKind;
  /** What was found, where, and what to do about it, as an error would say it. */
  readonly message: string;
  /** What was found, as a clause. */
  readonly detail: string;
  /** The entry that was launched. */
  readonly kernel: string;
  /** The block that did it, and the thread of that block, if one did. */
  readonly block: readonly [x: number, y: number, z: number] | undefined;
  /** The thread of that block. */
  readonly thread: readonly [x: number, y: number, z: number] | undefined;
  /** The PTX instruction. */
  readonly instruction: string | undefined;
  /** Location of its source, such as "transpose.tc:14:3". */
  readonly source: string | undefined;
}

/** Counters of one launch. */
export interface LaunchProfile {
  /** The entry that ran. */
  readonly kernel: string;
  /** Blocks. */
  readonly grid: readonly [x: number, y: number, z: number];
  /** Threads per block. */
  readonly block: readonly [x: number, y: number, z: number];
  /** Instructions of warps by class, such as "load" or "integer"; classes that did not occur are absent. */
  readonly instructions: Readonly<Record<string, number>>;
  /** Instructions of warps. */
  readonly warpInstructions: number;
  /** The same for threads: each counts as often as lanes took part. */
  readonly threadInstructions: number;
  /** Accesses of global memory. */
  readonly global: GlobalTraffic;
  /** Accesses of shared memory. */
  readonly shared: SharedTraffic;
  /** The same by instruction. */
  readonly accesses: readonly AccessProfile[];
  /** Barriers that warps came to. */
  readonly barriers: number;
  /** Branches at which the lanes of a warp diverged. */
  readonly divergentBranches: number;
  /** What checks have found and only warn of: each instruction once for each kind of finding. */
  readonly warnings: readonly EmulatorWarning[];
}

/** What a call with `profile: true` returns beside its result. */
export interface Profiled<Result> {
  /** What the call returns without `profile`. */
  readonly result: Result;
  /** What the launch did. */
  readonly profile: LaunchProfile;
}

/** Of a launch without blocks. */
export function emptyProfile(kernel: string, grid: LaunchProfile["grid"]): LaunchProfile {
  const [x, y, z] = grid;
  return {
    kernel,
    grid: [x, y, z],
    block: [0, 0, 0],
    instructions: {},
    warpInstructions: 0,
    threadInstructions: 0,
    global: { requests: 0, bytes: 0, sectors: 0, idealSectors: 0 },
    shared: { requests: 0, wavefronts: 0, bankConflicts: 0 },
    accesses: [],
    barriers: 0,
    divergentBranches: 0,
    warnings: [],
  };
}

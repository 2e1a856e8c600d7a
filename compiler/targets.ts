/**
 * TARGETS: what each architecture can do, one record each. No other file compares architecture numbers.
 * Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; PTX ISA 9.0,
 * ".target" and the release notes table for the oldest PTX version that knows a target; units in which shared memory and
 * registers are handed out: the CUDA toolkit's cuda_occupancy.h.
 */

/** Matrix instructions of warps: type of the operands and shape. Rows of MMA (`layout/mma.ts`). */
export type MmaName =
  | "f16.m8n8k4"
  | "f16.m16n8k8"
  | "f16.m16n8k16"
  | "bf16.m16n8k8"
  | "bf16.m16n8k16"
  | "tf32.m16n8k4"
  | "tf32.m16n8k8"
  | "f64.m8n8k4"
  | "f64.m16n8k4"
  | "f64.m16n8k8"
  | "f64.m16n8k16"
  | "s8.m8n8k16"
  | "s8.m16n8k16"
  | "s8.m16n8k32"
  | "e4m3.m16n8k32";

/** An architecture. */
export interface Target {
  /** Such as `sm_90`. */
  readonly name: string;
  /** Compute capability, major times ten plus minor. */
  readonly sm: number;
  /** Runs only on exactly this architecture (the `a` targets). */
  readonly exact: boolean;
  /** Oldest PTX version that has this target, times ten. */
  readonly ptx: number;
  /** The most shared memory that a block can have. */
  readonly sharedBytesPerBlock: number;
  /** Shared memory of a multiprocessor. */
  readonly sharedBytesPerSm: number;
  /** What the system takes of it for each block. */
  readonly sharedBytesReserved: number;
  /** Blocks get multiples of this. */
  readonly sharedBytesUnit: number;
  /** 32-bit registers of a multiprocessor; each of its four parts has a quarter. */
  readonly registersPerSm: number;
  /** The most warps that a multiprocessor holds. */
  readonly warpsPerSm: number;
  /** The most blocks that a multiprocessor holds. */
  readonly blocksPerSm: number;
  /** Has `cvt.rn.bf16.f32`, and `cvt` of two floats into one word. */
  readonly bfloat16: boolean;
  /** Has `redux.sync`. */
  readonly redux: boolean;
  /** Has `cvt` from and to float8. */
  readonly float8: boolean;
  /** Has `atom.add.noftz.bf16`. */
  readonly bfloat16Atomics: boolean;
  /** `ld.global.L1::no_allocate`, `createpolicy`, … : which cache hints exist. */
  readonly cacheHints: readonly ("L1" | "L2::128B" | "L2::256B" | "L2::cache_hint")[];
  /** What its tensor cores execute; not what ptxas emulates. */
  readonly mma: readonly MmaName[];
  /** Has `ldmatrix`. */
  readonly ldmatrix: boolean;
  /** Has `cp.async`. */
  readonly asyncCopies: boolean;
}

const HINTS_70 = ["L1"] as const;
const HINTS_75 = ["L1", "L2::128B"] as const;
const HINTS_80 = ["L1", "L2::128B", "L2::256B", "L2::cache_hint"] as const;

const MMA_70 = ["f16.m8n8k4"] as const;
const MMA_75 = ["f16.m16n8k8", "s8.m8n8k16"] as const;
const MMA_80 = [
  "f16.m16n8k8",
  "f16.m16n8k16",
  "bf16.m16n8k8",
  "bf16.m16n8k16",
  "tf32.m16n8k4",
  "tf32.m16n8k8",
  "f64.m8n8k4",
  "s8.m8n8k16",
  "s8.m16n8k16",
  "s8.m16n8k32",
] as const;
const MMA_89 = [...MMA_80, "e4m3.m16n8k32"] as const;
const MMA_90 = [...MMA_89, "f64.m16n8k4", "f64.m16n8k8", "f64.m16n8k16"] as const;

/** All architectures by name, oldest first. */
export const TARGETS = {
  sm_70: {
    name: "sm_70",
    sm: 70,
    exact: false,
    ptx: 60,
    sharedBytesPerBlock: 98304,
    sharedBytesPerSm: 98304,
    sharedBytesReserved: 0,
    sharedBytesUnit: 256,
    registersPerSm: 65536,
    warpsPerSm: 64,
    blocksPerSm: 32,
    bfloat16: false,
    redux: false,
    float8: false,
    bfloat16Atomics: false,
    cacheHints: HINTS_70,
    mma: MMA_70,
    ldmatrix: false,
    asyncCopies: false,
  },
  sm_75: {
    name: "sm_75",
    sm: 75,
    exact: false,
    ptx: 63,
    sharedBytesPerBlock: 65536,
    sharedBytesPerSm: 65536,
    sharedBytesReserved: 0,
    sharedBytesUnit: 256,
    registersPerSm: 65536,
    warpsPerSm: 32,
    blocksPerSm: 16,
    bfloat16: false,
    redux: false,
    float8: false,
    bfloat16Atomics: false,
    cacheHints: HINTS_75,
    mma: MMA_75,
    ldmatrix: true,
    asyncCopies: false,
  },
  sm_80: {
    name: "sm_80",
    sm: 80,
    exact: false,
    ptx: 70,
    sharedBytesPerBlock: 166912,
    sharedBytesPerSm: 167936,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 64,
    blocksPerSm: 32,
    bfloat16: true,
    redux: true,
    float8: false,
    bfloat16Atomics: false,
    cacheHints: HINTS_80,
    mma: MMA_80,
    ldmatrix: true,
    asyncCopies: true,
  },
  sm_86: {
    name: "sm_86",
    sm: 86,
    exact: false,
    ptx: 71,
    sharedBytesPerBlock: 101376,
    sharedBytesPerSm: 102400,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 48,
    blocksPerSm: 16,
    bfloat16: true,
    redux: true,
    float8: false,
    bfloat16Atomics: false,
    cacheHints: HINTS_80,
    mma: MMA_80,
    ldmatrix: true,
    asyncCopies: true,
  },
  sm_89: {
    name: "sm_89",
    sm: 89,
    exact: false,
    ptx: 78,
    sharedBytesPerBlock: 101376,
    sharedBytesPerSm: 102400,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 48,
    blocksPerSm: 24,
    bfloat16: true,
    redux: true,
    float8: true,
    bfloat16Atomics: false,
    cacheHints: HINTS_80,
    mma: MMA_89,
    ldmatrix: true,
    asyncCopies: true,
  },
  sm_90: {
    name: "sm_90",
    sm: 90,
    exact: false,
    ptx: 78,
    sharedBytesPerBlock: 232448,
    sharedBytesPerSm: 233472,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 64,
    blocksPerSm: 32,
    bfloat16: true,
    redux: true,
    float8: true,
    bfloat16Atomics: true,
    cacheHints: HINTS_80,
    mma: MMA_90,
    ldmatrix: true,
    asyncCopies: true,
  },
  sm_90a: {
    name: "sm_90a",
    sm: 90,
    exact: true,
    ptx: 80,
    sharedBytesPerBlock: 232448,
    sharedBytesPerSm: 233472,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 64,
    blocksPerSm: 32,
    bfloat16: true,
    redux: true,
    float8: true,
    bfloat16Atomics: true,
    cacheHints: HINTS_80,
    mma: MMA_90,
    ldmatrix: true,
    asyncCopies: true,
  },
  sm_100: {
    name: "sm_100",
    sm: 100,
    exact: false,
    ptx: 86,
    sharedBytesPerBlock: 232448,
    sharedBytesPerSm: 233472,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 64,
    blocksPerSm: 32,
    bfloat16: true,
    redux: true,
    float8: true,
    bfloat16Atomics: true,
    cacheHints: HINTS_80,
    mma: MMA_90,
    ldmatrix: true,
    asyncCopies: true,
  },
  sm_120: {
    name: "sm_120",
    sm: 120,
    exact: false,
    ptx: 87,
    sharedBytesPerBlock: 101376,
    sharedBytesPerSm: 102400,
    sharedBytesReserved: 1024,
    sharedBytesUnit: 128,
    registersPerSm: 65536,
    warpsPerSm: 48,
    blocksPerSm: 24,
    bfloat16: true,
    redux: true,
    float8: true,
    bfloat16Atomics: true,
    cacheHints: HINTS_80,
    mma: MMA_90,
    ldmatrix: true,
    asyncCopies: true,
  },
} as const satisfies Record<string, Target>;

/** The name of an architecture. */
export type TargetName = keyof typeof TARGETS;

type Answer = string | number | boolean;

/** A target that somebody works for, and what they have asked of it. */
interface Watched {
  readonly target: Target;
  readonly asked: { readonly question: (target: Target) => unknown; readonly answer: unknown }[];
}

/** By view. */
const WATCHED = new WeakMap<Target, Watched>();

/** A target to work for, and whether another one would have led to the same. */
export interface TargetWatch {
  /** Reads like the target. */
  readonly view: Target;
  /** The other target gives the same answers to everything that was read and asked until now. */
  readonly agrees: (other: Target) => boolean;
}

/** Watches what is read of a target, so that work that does not tell targets apart is done once for all of them. */
export function watchTarget(target: Target): TargetWatch {
  const read = new Map<string | symbol, unknown>();
  const view = new Proxy(target, {
    get: (of, key): unknown => {
      const value: unknown = Reflect.get(of, key);
      read.set(key, value);
      return value;
    },
  });
  const asked: Watched["asked"][number][] = [];
  WATCHED.set(view, { target, asked });
  return {
    view,
    agrees: (other) =>
      [...read].every(([key, value]) => Reflect.get(other, key) === value) &&
      asked.every(({ question, answer }) => question(other) === answer),
  };
}

/** Asks what more targets agree about than about the fields that answer it: `shared memory >= 4096`. */
export function ask<T extends Answer>(target: Target, question: (target: Target) => T): T {
  const watched = WATCHED.get(target);
  if (watched === undefined) return question(target);
  const answer = question(watched.target);
  watched.asked.push({ question, answer });
  return answer;
}

/** Whether a block can have so much shared memory. */
export function fitsShared(target: Target, bytes: number): boolean {
  return ask(target, ({ sharedBytesPerBlock }) => bytes <= sharedBytesPerBlock);
}

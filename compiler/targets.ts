/**
 * TARGETS: what each architecture can do, one record each. No other file compares architecture numbers.
 * Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; PTX ISA 9.0,
 * ".target" and the release notes table for the oldest PTX version that has a target; units in which shared memory and
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
  | "s8.m8n8k16"
  | "s8.m16n8k16"
  | "s8.m16n8k32"
  | "e4m3.m16n8k32";

/** An architecture that is compiled for. */
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
  /** Multiprocessors of the largest known GPU: for estimates only. */
  readonly multiprocessors: number;
  /** Has `cvt.rn.bf16.f32`, and `cvt` of two floats into one word. */
  readonly bfloat16: boolean;
  /** Has `redux.sync`. */
  readonly redux: boolean;
  /** Has `cvt` from and to float8. */
  readonly float8: boolean;
  /** Has `atom.add.noftz.bf16`. */
  readonly bfloat16Atomics: boolean;
  /** `add`, `sub` and `mul` of two bfloat16 at once: PTX ISA 9.0, 9.7.4. */
  readonly bfloat16Pairs: boolean;
  /** `ld.global.L1::no_allocate`, `createpolicy`, … : which cache hints exist. */
  readonly cacheHints: readonly ("L1" | "L2::128B" | "L2::256B" | "L2::cache_hint")[];
  /** What its tensor cores execute; not what ptxas emulates. */
  readonly mma: readonly MmaName[];
  /** Has `ldmatrix`. */
  readonly ldmatrix: boolean;
  /** Has `stmatrix`. */
  readonly stmatrix: boolean;
  /** Has `cp.async`. */
  readonly asyncCopies: boolean;
  /** Has `wgmma`. */
  readonly warpGroups: boolean;
  /** Copies boxes of tensors into shared memory for dots (`cp.async.bulk.tensor`). */
  readonly tensorCopies: boolean;
  /** Has clusters of blocks, which read each other's shared memory. */
  readonly clusters: boolean;
  /** Starts grids before those that they depend on have ended (`griddepcontrol`). */
  readonly startsEarly: boolean;
}

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
const MMA_90 = [...MMA_89, "f64.m16n8k4", "f64.m16n8k8"] as const;

const SM_70 = {
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
  multiprocessors: 80, // V100
  bfloat16: false,
  redux: false,
  float8: false,
  bfloat16Atomics: false,
  bfloat16Pairs: false,
  cacheHints: ["L1"],
  mma: MMA_70,
  ldmatrix: false,
  stmatrix: false,
  asyncCopies: false,
  warpGroups: false,
  tensorCopies: false,
  clusters: false,
  startsEarly: false,
} as const satisfies Target;

const SM_75 = {
  ...SM_70,
  name: "sm_75",
  sm: 75,
  ptx: 63,
  sharedBytesPerBlock: 65536,
  sharedBytesPerSm: 65536,
  warpsPerSm: 32,
  blocksPerSm: 16,
  multiprocessors: 40, // T4
  cacheHints: ["L1", "L2::128B"],
  mma: MMA_75,
  ldmatrix: true,
} as const satisfies Target;

const SM_80 = {
  ...SM_75,
  name: "sm_80",
  sm: 80,
  ptx: 70,
  sharedBytesPerBlock: 166912,
  sharedBytesPerSm: 167936,
  sharedBytesReserved: 1024,
  sharedBytesUnit: 128,
  warpsPerSm: 64,
  blocksPerSm: 32,
  multiprocessors: 108, // A100
  bfloat16: true,
  redux: true,
  cacheHints: ["L1", "L2::128B", "L2::256B", "L2::cache_hint"],
  mma: MMA_80,
  asyncCopies: true,
} as const satisfies Target;

const SM_86 = {
  ...SM_80,
  name: "sm_86",
  sm: 86,
  ptx: 71,
  sharedBytesPerBlock: 101376,
  sharedBytesPerSm: 102400,
  warpsPerSm: 48,
  blocksPerSm: 16,
  multiprocessors: 84, // A40
} as const satisfies Target;

const SM_89 = {
  ...SM_86,
  name: "sm_89",
  sm: 89,
  ptx: 78,
  blocksPerSm: 24,
  multiprocessors: 142, // L40
  float8: true,
  mma: MMA_89,
} as const satisfies Target;

const SM_90 = {
  ...SM_89,
  name: "sm_90",
  sm: 90,
  ptx: 78,
  sharedBytesPerBlock: 232448,
  sharedBytesPerSm: 233472,
  warpsPerSm: 64,
  blocksPerSm: 32,
  multiprocessors: 132, // H100 and H200
  bfloat16Atomics: true,
  bfloat16Pairs: true,
  stmatrix: true,
  clusters: true,
  startsEarly: true,
  mma: MMA_90,
} as const satisfies Target;

const SM_90A = {
  ...SM_90,
  name: "sm_90a",
  exact: true,
  ptx: 80,
  warpGroups: true,
  tensorCopies: true,
} as const satisfies Target;

const SM_100 = {
  ...SM_90,
  name: "sm_100",
  sm: 100,
  ptx: 86,
  multiprocessors: 148, // B200
} as const satisfies Target;

const SM_120 = {
  ...SM_100,
  name: "sm_120",
  sm: 120,
  ptx: 87,
  sharedBytesPerBlock: 101376,
  sharedBytesPerSm: 102400,
  warpsPerSm: 48,
  blocksPerSm: 24,
  multiprocessors: 170, // RTX 5090
} as const satisfies Target;

const SM_87 = {
  ...SM_80,
  name: "sm_87",
  sm: 87,
  ptx: 74,
  warpsPerSm: 48,
  blocksPerSm: 16,
  multiprocessors: 16, // Jetson AGX Orin
} as const satisfies Target;

/** The Programming Guide does not list it: limits of sm_86. */
const SM_88 = {
  ...SM_86,
  name: "sm_88",
  sm: 88,
  ptx: 90,
  multiprocessors: 16,
} as const satisfies Target;

const SM_103 = { ...SM_100, name: "sm_103", sm: 103, ptx: 88 } as const satisfies Target; // B300

const SM_110 = {
  ...SM_100,
  name: "sm_110",
  sm: 110,
  ptx: 90,
  warpsPerSm: 48,
  blocksPerSm: 24,
  multiprocessors: 20, // Jetson AGX Thor
} as const satisfies Target;

const SM_121 = {
  ...SM_120,
  name: "sm_121",
  sm: 121,
  ptx: 88,
  multiprocessors: 48, // DGX Spark
} as const satisfies Target;

/** The targets of `--arch all` by name, oldest first; each record says what differs from a generation before. */
export const TARGETS = {
  sm_70: SM_70,
  sm_75: SM_75,
  sm_80: SM_80,
  sm_86: SM_86,
  sm_89: SM_89,
  sm_90: SM_90,
  sm_90a: SM_90A,
  sm_100: SM_100,
  sm_120: SM_120,
} as const satisfies Record<string, Target>;

/** Targets that `--arch` has to name. Their GPUs also run the images of a target before them, which is as fast for most kernels. */
const FURTHER_TARGETS = {
  sm_87: SM_87,
  sm_88: SM_88,
  sm_103: SM_103,
  sm_110: SM_110,
  sm_121: SM_121,
} as const satisfies Record<string, Target>;

/** All targets by name. */
export const ALL_TARGETS = { ...TARGETS, ...FURTHER_TARGETS } as const;

/** What an emulator must have of an architecture. */
export type Architecture = Pick<Target, "name" | "sm" | "sharedBytesPerBlock">;

/** The architectures of devices, oldest first: targets, and those that run the images of a target before them. */
export const ARCHITECTURES: readonly Architecture[] = [
  SM_70,
  SM_75,
  SM_80,
  SM_86,
  SM_87,
  SM_88,
  SM_89,
  SM_90,
  SM_100,
  SM_103,
  SM_110,
  SM_120,
  SM_121,
];

/** The name of a target. */
export type TargetName = keyof typeof ALL_TARGETS;

type Answer = string | number | boolean;

/** A traced target, and the queries made of it. */
interface Traced {
  readonly target: Target;
  readonly queries: { readonly question: (target: Target) => unknown; readonly answer: unknown }[];
}

/** By view. */
const TRACED = new WeakMap<Target, Traced>();

/** A target whose reads are recorded, and whether another one would have given the same. */
export interface TracedTarget {
  /** Reads like the target. */
  readonly view: Target;
  /** Whether another target gives the same values and answers to everything that was read and queried until now. */
  readonly sameAnswers: (other: Target) => boolean;
}

/** Records what is read of a target, so that work that is the same for several targets is done once. */
export function traceTarget(target: Target): TracedTarget {
  const read = new Map<string | symbol, unknown>();
  const view = new Proxy(target, {
    get: (of, key): unknown => {
      const value: unknown = Reflect.get(of, key);
      read.set(key, value);
      return value;
    },
  });
  const queries: Traced["queries"][number][] = [];
  TRACED.set(view, { target, queries });
  return {
    view,
    sameAnswers: (other) =>
      [...read].every(([key, value]) => Reflect.get(other, key) === value) &&
      queries.every(({ question, answer }) => question(other) === answer),
  };
}

/** Queries a target: more targets agree about `shared memory >= 4096` than about the size of it. */
export function query<T extends Answer>(target: Target, question: (target: Target) => T): T {
  const traced = TRACED.get(target);
  if (traced === undefined) return question(target);
  const answer = question(traced.target);
  traced.queries.push({ question, answer });
  return answer;
}

/** Whether a block can have so much shared memory. */
export function fitsShared(target: Target, bytes: number): boolean {
  return query(target, ({ sharedBytesPerBlock }) => bytes <= sharedBytesPerBlock);
}

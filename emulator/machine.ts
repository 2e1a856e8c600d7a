/**
 * What instructions see while they run, and how they are written. An instruction that the WebAssembly library
 * does not have is a {@linkcode WarpFunction} made by a {@linkcode Handler}: it acts on all lanes of a warp at once.
 */
import type { Operand } from "../compiler/ptx/func.ts";
import type { Match } from "../compiler/ptx/match.ts";
import type { TypeName } from "../compiler/ptx/types.ts";
import type { Site } from "./fault.ts";
import type { Views, Window } from "./memory.ts";
import type { Shadow } from "./shadow/shadow_row.ts";

/** A block that runs. */
export interface BlockState {
  /** Its position in the grid. */
  readonly index: readonly [x: number, y: number, z: number];
  /** Its number in the grid, x fastest. */
  readonly linear: number;
  /** Threads. */
  readonly threads: number;
  /** Threads by axis. */
  readonly shape: readonly [x: number, y: number, z: number];
  /** Where its shared memory is. */
  readonly shared: number;
  /** Bytes of its shared memory. */
  readonly sharedBytes: number;
  /** Where what is reserved of it begins, which is zero at the start; absent if nothing is. */
  readonly reserved?: number;
  /** Its warps, by number. */
  readonly warps: readonly WarpState[];
  /** The blocks of its cluster by rank; itself alone without clusters. */
  readonly cluster: readonly BlockState[];
  /** Its position in that list. */
  readonly rank: number;
  /** How many barriers of the whole block have passed: accesses before and after one are ordered. */
  phase: number;
  /** What asynchronous instructions remember of the block: mbarriers by address, and the like. Made by their owner. */
  async: unknown;
}

/** A warp of a block. */
export interface WarpState {
  /** The block that it is in. */
  readonly block: BlockState;
  /** Its number in the block; lane l is thread 32 * index + l. */
  readonly index: number;
  /** Its register file. */
  readonly registerFile: number;
  /** How many barriers of the warp have passed. */
  phase: number;
  /** What asynchronous instructions remember of the warp: groups of copies. Made by their owner. */
  async: unknown;
}

/** What is shared by everything that runs in one thread of the host. */
export interface Machine {
  readonly memory: WebAssembly.Memory;
  /** Read it at every call: growing replaces the views. */
  views: Views;
  /** The warp that runs, and its block. */
  warp: WarpState;
  block: BlockState;
  /** Whether memory accesses are checked; the same during a launch. */
  checks: boolean;
  /** Whether memory accesses are counted; the same during a launch. */
  profile: boolean;
  /** Lets other warps run after this instruction: called by instructions that wait in a loop, such as try_wait. */
  yield(): void;
}

/** Runs an instruction for the lanes of `mask` (never 0) of the warp whose register file is at `w`. */
export type WarpFunction = (w: number, mask: number) => void;

/** An address operand: the value of a row, if there is one, plus a constant. */
export interface AddressRef {
  /** Offset of the base register's row. */
  readonly row: number | undefined;
  /** Width of the base register. */
  readonly bits: 32 | 64;
  /** What to add: the offset, and the address of the symbol if the base is one. */
  readonly offset: number;
  /** The symbol that it names. */
  readonly symbol: string | undefined;
  /** The state space of that symbol: parameters of inlined functions are in local memory. */
  readonly space?: Window;
}

/** Queries of a handler while an instruction is compiled. */
export interface HandlerContext {
  readonly machine: Machine;
  readonly site: Site;
  /** The architecture times ten: 90 for sm_90a. */
  readonly sm: number;
  /**
   * Offset in the register file of the row of a register, literal, special register or symbol; of a sink, a spare row.
   */
  row(operand: Operand, type: TypeName): number;
  /** Rows of the elements of a vector, or of the operand itself. */
  rows(operand: Operand, type: TypeName): readonly number[];
  /** Offset of a predicate's word, and what to xor its bits with: -1 for `!p`. Literals have a word as well. */
  predicate(operand: Operand): { readonly row: number; readonly invert: 0 | -1 };
  /** The shadow of a register, if it has one; registers that are always defined have none. */
  shadow(operand: Operand): Shadow | undefined;
  /** The value of an integer literal. */
  literal(operand: Operand): bigint;
  /** Whether the instruction loads or stores what an update of one location does, `x = x + 1`; absent: unknown. */
  isUpdate?(): boolean;
  /** Whether it is a load by whose value a loop decides whether to go on; absent: no. */
  polls?(): boolean;
  /** Whether it is a load whose value a compare and swap of the same address expects; absent: no. */
  isExpected?(): boolean;
  /**
   * The values of other stores that copy a structure together with this one, and the bytes of each of their elements;
   * undefined: it copies no padding.
   */
  copiedBeside?(): readonly { readonly value: Operand; readonly bytes: number }[] | undefined;
  /** An address; coordinates of tensor maps are read with `rows`. */
  address(operand: Operand): AddressRef;
  /** What the kernel is in; absent for single instructions. */
  readonly surroundings?: Surroundings;
}

/** What messages say of the module and the kernel that an instruction is in. */
export interface Surroundings {
  /** Why calls of a function are left: it is recursive, only declared, or calls were too many to expand. */
  callee(name: string): "recursive" | "declared" | "expanded too often" | "unknown";
  /** Whether the kernel asks for the barrier of a cooperative launch. */
  wantsGridBarrier(): boolean;
  /** What the kernel's directives say of registers: the most of a thread, blocks on a multiprocessor, block size. */
  registers(): {
    readonly most: number | undefined;
    readonly blocks: number;
    readonly isBlockSizeKnown: boolean;
  };
}

/** Compiles an instruction. */
export type Handler = (match: Match, context: HandlerContext) => WarpFunction;

/** Bits of a value: a number up to 32 bits and for predicates (0 or 1), a bigint above; both without sign. */
export type Bits = number | bigint;

/** Widths of values; 1 is a predicate. */
export type Width = 1 | 8 | 16 | 32 | 64 | 128;

/** From the bits of the sources to those of a result; only conversions of four values have a fifth source. */
export type LaneFunction = (a: Bits, b: Bits, c: Bits, d: Bits, e?: Bits) => Bits;

/** An instruction that does the same to each lane on its own: bits of the sources to bits of the result. */
export interface LaneOperation {
  /** Sources in the order of the instruction, vectors flattened. */
  readonly sources: readonly Width[];
  readonly result: Width;
  readonly evaluate: LaneFunction;
  /** The other destination of a pair or the further elements of a destination vector. */
  readonly more?: readonly {
    readonly result: Width;
    readonly evaluate: LaneFunction;
  }[];
}

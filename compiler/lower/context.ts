/** What every lowering rule gets: the emitter and the values lowered so far. Types only. */
import type { Op, Value } from "../ir/func.ts";
import type { TensorMap } from "../ir/tensor_map.ts";
import type { Operand, Register } from "../ptx/func.ts";
import type { Emitter, Scope } from "./emitter.ts";
import type { Ref } from "./element.ts";
import type { CallTable } from "./calls/call_table.ts";
import type { StartedDot } from "./dots/group_parts.ts";
import type { HomeRecorder } from "./homes.ts";

/** The elements one thread holds of a value, by register index; computed when first asked for. */
export type Lowered = (register: number) => Ref;

/** What a thread contributes to a linear map. */
export interface ThreadPart {
  readonly part: Operand;
  /** All bits that it may set. */
  readonly reach: number;
  /** It was asked for here. */
  readonly scope: Scope;
}

export interface LowerContext {
  readonly emitter: Emitter;
  /** Of a program. */
  readonly numWarps: number;
  /** Programs that a block does at a time, and which of them is the thread's; undefined: there is one. */
  readonly partitions: { readonly count: number; readonly own: Operand } | undefined;
  /** Blocks of a program. */
  readonly numCtas: number;
  /** What threads do with other blocks of their program. */
  readonly remote: {
    /** They read the shared memory of others, which then must not end before. */
    hasReads: boolean;
    /** They have said that they are there, and not waited for the others to be. */
    isMeeting: boolean;
    /** The parity of the phase that a reduction over several blocks waits for next, if it is done several times. */
    readonly phases: Map<Op, Register>;
    /** Reductions over several blocks that have sent their parts and do not have those of the others. */
    readonly awaited: (() => void)[];
  };
  /** Operands of `bar.sync` for the threads of the program. */
  readonly blockBarrier: readonly Operand[];
  /** The function has dots: then the warps of a multiprocessor are few, and a thread has many elements. */
  readonly hasDots: boolean;
  readonly values: Map<Value, Lowered>;
  /** What threads contribute to linear maps, by the maps' bases. */
  readonly threadParts: Map<readonly number[], ThreadPart>;
  /** How many operations in a row, up to a value, compute their elements on demand (chain_length.ts). */
  readonly chainLengths: Map<Value, number>;
  /** Bytes of the constant buffers that are used, by name. */
  readonly constants: Map<string, number>;
  /** Tensor maps of the function, and the parameters that hold them. */
  readonly maps: readonly (TensorMap & { readonly symbol: string })[];
  /** Parameters of code whose blocks do several programs in turn. */
  readonly turns: {
    /** The numbers of programs along axes of the grid. */
    readonly programs: readonly string[];
    /** How far along each axis the next program of a block is. */
    readonly steps: readonly string[];
    /** Which queue of the module the launch takes programs from, where blocks do not do them in a fixed order. */
    readonly queue?: string;
  };
  /** Calls of functions of the device. */
  readonly calls: CallTable;
  /** Loads that others repeat (memory/repeated_loads.ts). */
  readonly repeated: {
    /** Of a parameter that no program writes. */
    readonly isReadOnly: (pointer: Value) => boolean;
    /** What accesses gave, by what they are. */
    readonly known: WeakMap<Scope, Map<string, readonly Ref[]>>;
  };
  /** 32-bit registers that loads fill: what a thread must hold at once, roughly. */
  readonly loaded: { registers: number };
  /** Loads of slices so far (memory/slice_loads.ts). */
  readonly slices: {
    /** The slice whose loads came last, and a register that they fill. */
    slice: number | undefined;
    loaded: Register | undefined;
    /** Zero when the slice before that one is there. */
    zero: Operand | undefined;
  };
  /**
   * 32-bit registers with the addresses of asynchronous copies, which stay across iterations: for each buffer that narrow
   * copies fill, and for all wide ones, which have bases in common.
   */
  readonly copied: Map<Value | "wide", number>;
  /** Dots of which parts are under way, by their results. */
  readonly unfinished: Map<Value, StartedDot>;
  /** Another copy of the body of a loop follows this one, which takes up dots as they are left. */
  readonly unrolled: { isFollowed: boolean };
  /** Sums that are zero, and have nothing in their registers, before the dot that comes next. */
  readonly fresh: Set<Value>;
  /** Loads from shared memory and copies into it, to be emitted between the instructions of the dots that follow. */
  readonly deferred: (() => void)[];
  /** Lowers the operations of a region by their rules. */
  readonly lowerOps: (ops: readonly Op[]) => void;
  /** Notes which registers hold the elements of values, for someone who wants to look at them. */
  readonly homes: HomeRecorder | undefined;
  /** The value that one differs from by a uniform delta (tile/induction.ts); itself where none is known. */
  readonly inductionBase: (value: Value) => Value;
}

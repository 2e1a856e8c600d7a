/** The functions of NCCL that are called, and its numbers. Those of nccl.h, versions 2.14 and newer. */
import type { DType } from "../dtype.ts";
import type { BoundFunctions, ForeignFunctions, ForeignLibrary } from "../foreign.ts";

const POINTERS = ["u64", "u64", "u64"] as const;
const HANDLES = ["u64", "u64"] as const;

/** In the form that `dlopen` takes; each returns a ncclResult_t. */
export const NCCL_FUNCTIONS = {
  ncclGetVersion: { parameters: ["buffer"], result: "i32" },
  ncclGetUniqueId: { parameters: ["buffer"], result: "i32" },
  ncclCommInitAll: { parameters: ["buffer", "i32", "buffer"], result: "i32" },
  ncclCommGetAsyncError: { parameters: ["u64", "buffer"], result: "i32" },
  ncclCommDestroy: { parameters: ["u64"], result: "i32" },
  ncclCommAbort: { parameters: ["u64"], result: "i32" },
  ncclGroupStart: { parameters: [], result: "i32" },
  ncclGroupEnd: { parameters: [], result: "i32" },
  // Input, output, count; type, …; communicator, stream.
  ncclAllReduce: { parameters: [...POINTERS, "i32", "i32", ...HANDLES], result: "i32" },
  ncclReduceScatter: { parameters: [...POINTERS, "i32", "i32", ...HANDLES], result: "i32" },
  ncclAllGather: { parameters: [...POINTERS, "i32", ...HANDLES], result: "i32" },
  ncclBroadcast: { parameters: [...POINTERS, "i32", "i32", ...HANDLES], result: "i32" },
  // Memory, count; type, peer; communicator, stream.
  ncclSend: { parameters: ["u64", "u64", "i32", "i32", ...HANDLES], result: "i32" },
  ncclRecv: { parameters: ["u64", "u64", "i32", "i32", ...HANDLES], result: "i32" },
} as const satisfies ForeignFunctions;

/** Bytes of a ncclUniqueId. */
export const ID_BYTES = 128;

const ID_WORDS = Array.from({ length: ID_BYTES / 8 }, () => "u64" as const);

/**
 * `ncclCommInitRankConfig(comm, size, id, rank, config)` takes the id by value, which no FFI of the three runtimes does
 * in the same way. On x86-64 a structure of this size lies on the stack, after the registers of the others: two
 * further words fill the registers, and the words of the id come last. On arm64 it is a pointer to it.
 */
export const INIT_FUNCTIONS = {
  x64: {
    ncclCommInitRankConfig: {
      parameters: ["buffer", "i32", "i32", "buffer", "u64", "u64", ...ID_WORDS],
      result: "i32",
    },
  },
  arm64: {
    ncclCommInitRankConfig: {
      parameters: ["buffer", "i32", "buffer", "i32", "buffer"],
      result: "i32",
    },
  },
} as const satisfies Record<string, ForeignFunctions>;

/** From version 2.18 on: communicator, color, key; the new communicator, its ncclConfig_t. */
export const SPLIT_FUNCTIONS = {
  ncclCommSplit: { parameters: ["u64", "i32", "i32", "buffer", "buffer"], result: "i32" },
} as const satisfies ForeignFunctions;

/** The functions of an open NCCL. */
export type NcclFunctions = BoundFunctions<typeof NCCL_FUNCTIONS>;

/** An open NCCL. */
export interface NcclLibrary extends ForeignLibrary<typeof NCCL_FUNCTIONS> {
  /** Starts to make the communicator of one rank; NCCL goes on in a thread of its own. */
  initRank(handle: BigUint64Array<ArrayBuffer>, world: RankOfWorld): number;
  /**
   * Starts to make another communicator of the same ranks; `handle` has it when the first one is no longer in progress.
   * Undefined where NCCL is older than 2.18.
   */
  readonly split:
    | ((
      from: bigint,
      rank: number,
      handle: BigUint64Array<ArrayBuffer>,
      config: Uint8Array<ArrayBuffer>,
    ) => number)
    | undefined;
}

/** One rank of a world that other processes belong to. */
export interface RankOfWorld {
  readonly size: number;
  readonly rank: number;
  readonly id: Uint8Array<ArrayBuffer>;
  /** A ncclConfig_t. */
  readonly config: Uint8Array<ArrayBuffer>;
}

/** ncclResult_t. */
export const RESULT_NAMES: readonly string[] = [
  "ncclSuccess",
  "ncclUnhandledCudaError",
  "ncclSystemError",
  "ncclInternalError",
  "ncclInvalidArgument",
  "ncclInvalidUsage",
  "ncclRemoteError",
  "ncclInProgress",
];
export const IN_PROGRESS = 7;

/** How elements of all ranks become one. The average of integers is rounded towards zero. */
export type Reduction = "sum" | "product" | "max" | "min" | "average";

/** ncclRedOp_t. */
export const REDUCTIONS: Readonly<Record<Reduction, number>> = {
  sum: 0,
  product: 1,
  max: 2,
  min: 3,
  average: 4,
};

/** ncclDataType_t of the types that NCCL computes with. */
export const REDUCED_DTYPES: Readonly<Partial<Record<DType, number>>> = {
  int8: 0,
  uint8: 1,
  int32: 2,
  uint32: 3,
  int64: 4,
  uint64: 5,
  float16: 6,
  float32: 7,
  float64: 8,
  bfloat16: 9,
};

/** What is only moved, is moved as bytes. */
export const BYTE_DTYPE = 1;

/**
 * A ncclConfig_t: whether calls block, and whether communicators that are split off share the connections. Of version
 * 2.18; older NCCL ignores what it does not know, newer NCCL sets fields of its own to their defaults.
 */
export function communicatorConfig(calls: "block" | "return"): Uint8Array<ArrayBuffer> {
  const config = new DataView(new ArrayBuffer(48));
  config.setBigUint64(0, BigInt(config.byteLength), true);
  config.setUint32(8, 0xcafebeef, true);
  config.setUint32(12, 21800, true);
  config.setInt32(16, calls === "block" ? 1 : 0, true);
  // Blocks of a cluster, least and most blocks; the name of a network, a pointer, stays null.
  for (const at of [20, 24, 28]) config.setInt32(at, UNDEFINED, true);
  config.setInt32(40, 1, true);
  config.setInt32(44, UNDEFINED, true);
  return new Uint8Array(config.buffer);
}

/** NCCL_CONFIG_UNDEF_INT. */
const UNDEFINED = -(2 ** 31);

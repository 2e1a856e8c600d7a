/** Communication between GPUs, by NCCL. */
import type { Device } from "../device.ts";
import { DTYPES } from "../dtype.ts";
import type { SharedMemory } from "../graph.ts";
import { StreamUses } from "../memory/pool.ts";
import { type Call, type CallKind, dtypeOf, KINDS, shareOf } from "./call.ts";
import { NcclError, RendezvousError } from "./errors.ts";
import {
  BYTE_DTYPE,
  communicatorConfig,
  ID_BYTES,
  IN_PROGRESS,
  type NcclFunctions,
  type NcclLibrary,
  REDUCED_DTYPES,
  REDUCTIONS,
  RESULT_NAMES,
} from "./symbols.ts";
import { isReplayed, replaysOf } from "./replays.ts";
import type { RankCall, Transport } from "./transport.ts";

/** A rank of this process. */
interface OwnRank {
  readonly rank: number;
  readonly device: Device;
  /** The communicator of calls that all ranks make: its connections are there. */
  readonly handle: bigint;
  /** The communicator of calls between two ranks until all pairs are connected; often the same. */
  readonly pairs: bigint;
  /** Has its calls and graphs with calls come one after another, on whichever streams. */
  readonly order: SharedMemory;
}

/** NCCL does so for calls that no graph has; for graphs it would add events to each of their calls. */
function orderOf(device: Device): SharedMemory {
  const uses = new StreamUses(device.defaultStream);
  const order: SharedMemory = {
    use: (stream, write) => {
      stream.recording?.add(order, write);
      uses.add(stream, write);
    },
  };
  return order;
}

/** Queues one call; returns the first ncclResult_t that is no success. */
type Enqueue = (
  symbols: NcclFunctions,
  call: Call,
  communicator: { readonly handle: bigint },
  size: number,
) => number;

/** Which of a rank's communicators a call goes by. */
type CommunicatorOf = (rank: OwnRank) => bigint;

/** What NCCL does by sending and receiving. */
const PAIRED: ReadonlySet<CallKind> = new Set(["send", "receive", "allToAll"]);
const isPaired = ({ call: { kind } }: RankCall): boolean => PAIRED.has(kind);

/** Type and count: what is not computed with is moved as bytes. */
function elementsOf(call: Call, size: number): readonly [count: bigint, dtype: number] {
  const share = shareOf(call, size);
  const dtype = dtypeOf(call);
  const code = REDUCED_DTYPES[dtype];
  return call.reduction !== undefined && code !== undefined
    ? [BigInt(share), code]
    : [BigInt(share * DTYPES[dtype].bytes), BYTE_DTYPE];
}

const ENQUEUE: Readonly<Record<CallKind, Enqueue>> = {
  allReduce: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const operation = REDUCTIONS[call.reduction ?? "sum"];
    const stream = call.stream.handle;
    return symbols.ncclAllReduce(from(call), to(call), count, dtype, operation, handle, stream);
  },
  reduceScatter: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const operation = REDUCTIONS[call.reduction ?? "sum"];
    const stream = call.stream.handle;
    return symbols.ncclReduceScatter(from(call), to(call), count, dtype, operation, handle, stream);
  },
  allGather: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    return symbols.ncclAllGather(from(call), to(call), count, dtype, handle, call.stream.handle);
  },
  broadcast: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const { peer: root = 0, stream } = call;
    return symbols.ncclBroadcast(from(call), to(call), count, dtype, root, handle, stream.handle);
  },
  send: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    return symbols.ncclSend(from(call), count, dtype, call.peer ?? 0, handle, call.stream.handle);
  },
  receive: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    return symbols.ncclRecv(to(call), count, dtype, call.peer ?? 0, handle, call.stream.handle);
  },
  // NCCL has this as a function from 2.28 on alone. The calls are inside of a group.
  allToAll: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const stream = call.stream.handle;
    for (let peer = 0; peer < size; peer++) {
      const at = BigInt(peer) * count;
      const sent = symbols.ncclSend(from(call) + at, count, dtype, peer, handle, stream);
      if (isFailure(sent)) return sent;
      const taken = symbols.ncclRecv(to(call) + at, count, dtype, peer, handle, stream);
      if (isFailure(taken)) return taken;
    }
    return 0;
  },
};

const from = ({ input }: Call): bigint => input?.address ?? 0n;
const to = ({ output }: Call): bigint => output?.address ?? 0n;

function isFailure(result: number): boolean {
  return result !== 0 && result !== IN_PROGRESS;
}

/** One process has all ranks, each on its GPU. */
export function openAll(devices: readonly Device[], library: NcclLibrary): Transport {
  const handles = new BigUint64Array(devices.length);
  const ordinals = Int32Array.from(devices, ({ info }) => info.ordinal);
  for (const device of devices) device.enter();
  const result = library.symbols.ncclCommInitAll(handles, devices.length, ordinals);
  if (result !== 0) throw failure("ncclCommInitAll", result, library);
  const ranks = devices.map((device, rank) => {
    const handle = handles[rank] ?? 0n;
    return { rank, device, handle, pairs: handle, order: orderOf(device) };
  });
  return transportOf(ranks, devices.length, library, []);
}

/** An id that the ranks of a new world share. The process that makes it must live until all of them have come. */
export function makeId(library: NcclLibrary): Uint8Array<ArrayBuffer> {
  const id = new Uint8Array(ID_BYTES);
  const result = library.symbols.ncclGetUniqueId(id);
  if (result !== 0) throw failure("ncclGetUniqueId", result, library);
  return id;
}

/**
 * This process has one rank. Throws `RendezvousError` where the others do not come in time. NCCL queues each call of a
 * communicator that does not block by a thread of its own, which takes ten times as long as the call: only to wait for other
 * ranks, such a communicator is made first. What all ranks call together goes by another one, split off from it.
 */
export async function openRank(
  device: Device,
  world: { readonly rank: number; readonly size: number; readonly id: Uint8Array<ArrayBuffer> },
  library: NcclLibrary,
  deadline: number,
): Promise<Transport> {
  const { rank, size } = world;
  // The second one is written when NCCL has made it.
  const handles = new BigUint64Array(2);
  device.enter();
  const started = library.initRank(handles, { ...world, config: communicatorConfig("return") });
  const pairs = handles[0] ?? 0n;
  const settled = async (started: number, state: () => number): Promise<number> => {
    let result = started;
    while (result === IN_PROGRESS) {
      if (Date.now() > deadline) {
        library.symbols.ncclCommAbort(pairs);
        const message = `Rank ${rank}: NCCL did not connect all ${size} ranks in time`;
        const hint = "every rank needs the same id and world size, and a network between them; " +
          "NCCL_DEBUG=INFO prints what NCCL does";
        throw new RendezvousError(message, [], hint);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
      result = state();
    }
    return result;
  };
  const own = { rank, device, pairs, order: orderOf(device) };
  const result = await settled(started, () => asyncResult(library, pairs));
  if (result !== 0) throw failure("ncclCommInitRankConfig", result, library);
  if (library.split === undefined) {
    return transportOf([{ ...own, handle: pairs }], size, library, [pairs]);
  }
  device.enter();
  const begun = library.split(pairs, rank, handles.subarray(1), communicatorConfig("block"));
  const split = await settled(isFailure(begun) ? begun : IN_PROGRESS, () => {
    const [, handle = 0n] = handles;
    const result = asyncResult(library, pairs);
    return result !== 0 ? result : handle === 0n ? IN_PROGRESS : asyncResult(library, handle);
  });
  if (split !== 0) {
    library.symbols.ncclCommAbort(pairs);
    throw failure("ncclCommSplit", split, library);
  }
  return transportOf([{ ...own, handle: handles[1] ?? 0n }], size, library, [pairs]);
}

/** How long a call that does not block may take to be queued: connections are made by the first one. */
const SETTLE_MILLISECONDS = 60_000;

/** `returning` are the communicators whose calls do not block. */
function transportOf(
  ranks: readonly OwnRank[],
  size: number,
  library: NcclLibrary,
  returning: readonly bigint[],
): Transport {
  const { symbols } = library;
  const demand = (result: number, call: string): void => {
    if (isFailure(result)) throw failure(call, result, library);
  };
  /** Communicators, those that were split off first. */
  const communicators = ranks.flatMap(({ device, handle, pairs }) =>
    [...new Set([handle, pairs])].map((handle) => ({ device, handle }))
  );
  const isSplit = ranks.some(({ handle, pairs }) => handle !== pairs);
  /** The next call must not be made before the last one is queued. */
  const settle = (handle: bigint, call: string): void => {
    const deadline = Date.now() + SETTLE_MILLISECONDS;
    let result = asyncResult(library, handle);
    while (result === IN_PROGRESS && Date.now() < deadline) result = asyncResult(library, handle);
    if (result !== 0) throw failure(call, result, library);
  };
  const ownOf = (rank: number): OwnRank | undefined => ranks.find((one) => one.rank === rank);
  const register = ({ rank, call }: RankCall): void => {
    call.input?.buffer.use(call.stream, false);
    call.output?.buffer.use(call.stream, true);
    ownOf(rank)?.order.use(call.stream, true);
  };
  const enqueue = ({ rank, call }: RankCall, communicatorOf: CommunicatorOf): void => {
    const own = ownOf(rank);
    if (own === undefined) return;
    own.device.enter();
    const communicator = { handle: communicatorOf(own) };
    demand(ENQUEUE[call.kind](symbols, call, communicator, size), KINDS[call.kind].name);
  };
  /** The calls in one group of NCCL; one that is no group for NCCL either needs none. */
  const queue = (calls: readonly RankCall[], communicatorOf: CommunicatorOf): void => {
    const [only, second] = calls;
    if (only !== undefined && second === undefined && only.call.kind !== "allToAll") {
      enqueue(only, communicatorOf);
    } else {
      demand(symbols.ncclGroupStart(), "ncclGroupStart");
      try {
        for (const call of calls) enqueue(call, communicatorOf);
      } catch (error) {
        symbols.ncclGroupEnd();
        throw error;
      }
      demand(symbols.ncclGroupEnd(), "ncclGroupEnd");
    }
    for (const own of ranks) {
      const handle = communicatorOf(own);
      if (returning.includes(handle)) settle(handle, "a call that was queued");
    }
  };
  /** Whether the ranks know of each other that all pairs of them are connected. */
  let isConnected = !isSplit;
  const byHandle: CommunicatorOf = ({ handle }) => handle;
  const replays = replaysOf((calls) => queue(calls, byHandle));
  /** A thread of NCCL queues the calls of a communicator that does not block, so they cannot be recorded. */
  const isBlocking = !ranks.some(({ handle }) => returning.includes(handle));
  return {
    run: (calls) => {
      for (const call of calls) register(call);
      if (isBlocking && isReplayed(calls)) return replays.run(calls);
      if (isConnected || !calls.some(isPaired)) return queue(calls, byHandle);
      // A group of NCCL has communicators that block, or such that do not.
      const others = calls.filter((call) => !isPaired(call));
      if (others.length > 0) queue(others, byHandle);
      queue(calls.filter(isPaired), ({ pairs }) => pairs);
      // All ranks make this call, and the two communicators share their connections.
      isConnected = calls.some(({ call: { kind } }) => kind === "allToAll");
    },
    check: (rank) => {
      const own = ownOf(rank);
      if (own === undefined) return;
      for (const handle of new Set([own.handle, own.pairs])) {
        demand(asyncResult(library, handle), `work of rank ${rank}`);
      }
    },
    abort: () => {
      try {
        replays.close();
      } catch {
        // After a fault graphs cannot be given back; NCCL must still end.
      }
      for (const { handle } of communicators) symbols.ncclCommAbort(handle);
      library.close();
    },
    close: () => {
      replays.close();
      for (const { device, handle } of communicators) {
        if (!device.disposed) {
          device.enter();
          device.synchronize();
        }
        symbols.ncclCommDestroy(handle);
      }
      library.close();
    },
  };
}

function asyncResult({ symbols }: NcclLibrary, handle: bigint): number {
  const result = new Int32Array(1);
  const status = symbols.ncclCommGetAsyncError(handle, result);
  return status === 0 ? result[0] ?? 0 : status;
}

function failure(call: string, result: number, { path }: NcclLibrary): NcclError {
  const name = RESULT_NAMES[result] ?? `result ${result}`;
  return new NcclError(`${call} of ${path} failed: ${name}`, name);
}

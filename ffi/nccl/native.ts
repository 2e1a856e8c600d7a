/** Communication between GPUs, by NCCL. */
import type { Device } from "../device.ts";
import { DTYPES } from "../dtype.ts";
import { type Call, type CallKind, dtypeOf, KINDS, shareOf } from "./call.ts";
import { NcclError, RendezvousError } from "./errors.ts";
import {
  BYTE_DTYPE,
  ID_BYTES,
  IN_PROGRESS,
  type NcclFunctions,
  type NcclLibrary,
  nonBlockingConfig,
  REDUCED_DTYPES,
  REDUCTIONS,
  RESULT_NAMES,
} from "./symbols.ts";
import type { Transport } from "./transport.ts";

/** A rank of this process. */
interface OwnRank {
  readonly rank: number;
  readonly device: Device;
  readonly handle: bigint;
}

/** Queues one call; returns the first ncclResult_t that is no success. */
type Enqueue = (symbols: NcclFunctions, call: Call, rank: OwnRank, size: number) => number;

/** Type and count: what is not computed with is moved as bytes. */
function elementsOf(call: Call, size: number): readonly [count: bigint, dtype: number] {
  const share = shareOf(call, size);
  const dtype = dtypeOf(call);
  const code = REDUCED_DTYPES[dtype];
  return call.reduction !== undefined && code !== undefined
    ? [BigInt(share), code]
    : [BigInt(share * DTYPES[dtype].bytes), BYTE_DTYPE];
}

const addresses = ({ input, output }: Call): readonly [bigint, bigint] => [
  input?.address ?? 0n,
  output?.address ?? 0n,
];

const ENQUEUE: Readonly<Record<CallKind, Enqueue>> = {
  allReduce: (symbols, call, { handle }, size) =>
    symbols.ncclAllReduce(
      ...addresses(call),
      ...elementsOf(call, size),
      ...[REDUCTIONS[call.reduction ?? "sum"], handle, call.stream.handle] as const,
    ),
  reduceScatter: (symbols, call, { handle }, size) =>
    symbols.ncclReduceScatter(
      ...addresses(call),
      ...elementsOf(call, size),
      ...[REDUCTIONS[call.reduction ?? "sum"], handle, call.stream.handle] as const,
    ),
  allGather: (symbols, call, { handle }, size) =>
    symbols.ncclAllGather(
      ...addresses(call),
      ...elementsOf(call, size),
      ...[handle, call.stream.handle] as const,
    ),
  broadcast: (symbols, call, { handle }, size) =>
    symbols.ncclBroadcast(
      ...addresses(call),
      ...elementsOf(call, size),
      ...[call.peer ?? 0, handle, call.stream.handle] as const,
    ),
  send: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const [from] = addresses(call);
    return symbols.ncclSend(from, count, dtype, call.peer ?? 0, handle, call.stream.handle);
  },
  receive: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const [, to] = addresses(call);
    return symbols.ncclRecv(to, count, dtype, call.peer ?? 0, handle, call.stream.handle);
  },
  // NCCL has this as a function from 2.28 on alone. The calls are inside of a group.
  allToAll: (symbols, call, { handle }, size) => {
    const [count, dtype] = elementsOf(call, size);
    const [from, to] = addresses(call);
    const stream = call.stream.handle;
    for (let peer = 0; peer < size; peer++) {
      const at = BigInt(peer) * count;
      const sent = symbols.ncclSend(from + at, count, dtype, peer, handle, stream);
      if (isFailure(sent)) return sent;
      const taken = symbols.ncclRecv(to + at, count, dtype, peer, handle, stream);
      if (isFailure(taken)) return taken;
    }
    return 0;
  },
};

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
  const ranks = devices.map((device, rank) => ({ rank, device, handle: handles[rank] ?? 0n }));
  return transportOf(ranks, devices.length, library);
}

/** An id that the ranks of a new world share. The process that makes it must live until all of them have come. */
export function makeId(library: NcclLibrary): Uint8Array<ArrayBuffer> {
  const id = new Uint8Array(ID_BYTES);
  const result = library.symbols.ncclGetUniqueId(id);
  if (result !== 0) throw failure("ncclGetUniqueId", result, library);
  return id;
}

/** This process has one rank. Throws `RendezvousError` where the others do not come in time. */
export async function openRank(
  device: Device,
  world: { readonly rank: number; readonly size: number; readonly id: Uint8Array<ArrayBuffer> },
  library: NcclLibrary,
  deadline: number,
): Promise<Transport> {
  const { rank, size } = world;
  const handles = new BigUint64Array(1);
  device.enter();
  let result = library.initRank(handles, { ...world, config: nonBlockingConfig() });
  const handle = handles[0] ?? 0n;
  while (result === IN_PROGRESS) {
    if (Date.now() > deadline) {
      library.symbols.ncclCommAbort(handle);
      const message = `Rank ${rank}: NCCL did not connect all ${size} ranks in time`;
      const hint = "every rank needs the same id and world size, and a network between them; " +
        "NCCL_DEBUG=INFO prints what NCCL does";
      throw new RendezvousError(message, [], hint);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    result = asyncResult(library, handle);
  }
  if (result !== 0) throw failure("ncclCommInitRankConfig", result, library);
  return transportOf([{ rank, device, handle }], size, library);
}

/** How long a call that does not block may take to be queued: connections are made by the first one. */
const SETTLE_MILLISECONDS = 60_000;

function transportOf(ranks: readonly OwnRank[], size: number, library: NcclLibrary): Transport {
  const { symbols } = library;
  const demand = (result: number, call: string): void => {
    if (isFailure(result)) throw failure(call, result, library);
  };
  /** The next call must not be made before the last one is queued. */
  const settle = (call: string): void => {
    const deadline = Date.now() + SETTLE_MILLISECONDS;
    for (const { handle } of ranks) {
      let result = asyncResult(library, handle);
      while (result === IN_PROGRESS && Date.now() < deadline) result = asyncResult(library, handle);
      if (result !== 0) throw failure(call, result, library);
    }
  };
  return {
    run: (calls) => {
      demand(symbols.ncclGroupStart(), "ncclGroupStart");
      try {
        for (const { rank, call } of calls) {
          const own = ranks.find((one) => one.rank === rank);
          if (own === undefined) continue;
          call.input?.buffer.use(call.stream, false);
          call.output?.buffer.use(call.stream, true);
          own.device.enter();
          demand(ENQUEUE[call.kind](symbols, call, own, size), KINDS[call.kind].name);
        }
      } catch (error) {
        symbols.ncclGroupEnd();
        throw error;
      }
      demand(symbols.ncclGroupEnd(), "ncclGroupEnd");
      settle("ncclGroupEnd");
    },
    check: (rank) => {
      const handle = ranks.find((one) => one.rank === rank)?.handle;
      if (handle === undefined) return;
      demand(asyncResult(library, handle), `work of rank ${rank}`);
    },
    abort: () => {
      for (const { handle } of ranks) symbols.ncclCommAbort(handle);
      library.close();
    },
    close: () => {
      for (const { device, handle } of ranks) {
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

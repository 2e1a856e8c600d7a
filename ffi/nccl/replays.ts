/**
 * Calls of little data that come again as they were are launched as graphs. For a call, NCCL launches a kernel and queues events
 * and waits, which takes the host longer than the GPU; a graph of it has the kernel alone.
 */
import type { Device } from "../device.ts";
import { DTYPES } from "../dtype.ts";
import type { Stream } from "../stream.ts";
import { type CallKind, dtypeOf, KINDS } from "./call.ts";
import type { Reduction } from "./symbols.ts";
import type { RankCall } from "./transport.ts";

/**
 * Up to this size NCCL takes its protocol for latency, which is the same with and without a graph: ranks need not agree on who
 * has made one. Of more, the GPU takes longer than the host.
 */
const MOST_BYTES = 2 ** 16;

/** How many calls are remembered, those of the ranks of this process counted as one. */
const REMEMBERED = 16;

/** What decides the work of a call. The stream does not. */
interface Work {
  readonly rank: number;
  readonly kind: CallKind;
  readonly from: bigint;
  readonly to: bigint;
  readonly bytes: number;
  readonly dtype: string;
  readonly reduction: Reduction | undefined;
  readonly peer: number | undefined;
}

/** The call of a rank, to be launched. */
interface Recorded {
  readonly device: Device;
  readonly graph: bigint;
  readonly nodes: number;
}

interface Remembered {
  readonly works: readonly Work[];
  /** Undefined before the call has come again; none where NCCL needs more than a kernel. */
  graphs: readonly Recorded[] | undefined;
}

/** What is remembered of the calls of a world. */
export interface Replays {
  /** Queues the calls; their memory is registered with their streams. */
  run(calls: readonly RankCall[]): void;
  /** Gives the graphs back. NCCL waits for that before it gives communicators back. */
  close(): void;
}

/** Whether calls are of the kind and size that pays, one for each rank, and not recorded by the program itself. */
export function isReplayed(calls: readonly RankCall[]): boolean {
  return calls.every(({ rank, call }, at) =>
    KINDS[call.kind].collective && call.kind !== "allToAll" &&
    call.stream.recording === undefined && bytesOf({ rank, call }) <= MOST_BYTES &&
    calls.findIndex((other) => other.rank === rank) === at
  );
}

/** `queue` has NCCL queue calls as one group. */
export function replaysOf(queue: (calls: readonly RankCall[]) => void): Replays {
  /** Those that were used last come last. */
  const remembered: Remembered[] = [];
  const streams = new Map<Device, Stream>();
  const streamOf = (device: Device): Stream => {
    const stream = streams.get(device) ?? device.stream();
    streams.set(device, stream);
    return stream;
  };
  const record = (calls: readonly RankCall[]): readonly Recorded[] => {
    const moved = calls.map(({ rank, call }) => ({
      rank,
      call: { ...call, stream: streamOf(call.stream.device) },
    }));
    const recording = moved.map(({ call }) => call.stream);
    for (const { device, handle } of recording) device.enter().beginCapture(handle);
    const graphs: Recorded[] = [];
    try {
      queue(moved);
      for (const { device, handle } of recording) {
        const { handle: graph, nodes } = device.enter().endCapture(handle);
        graphs.push({ device, graph, nodes });
      }
    } catch (error) {
      destroy(graphs);
      abandon(recording.slice(graphs.length));
      throw error;
    }
    // Over a network the host takes part in a call, which is slower from a graph.
    if (graphs.every(({ nodes }) => nodes === 1)) return graphs;
    destroy(graphs);
    return [];
  };
  return {
    run: (calls) => {
      const works = calls.map(workOf);
      const at = remembered.findLastIndex((one) => areEqual(one.works, works));
      const [known] = at < 0 ? [] : remembered.splice(at, 1);
      if (known === undefined) {
        if (remembered.length === REMEMBERED) destroy(remembered.shift()?.graphs);
        remembered.push({ works, graphs: undefined });
        return queue(calls);
      }
      remembered.push(known);
      known.graphs ??= record(calls);
      if (known.graphs.length === 0) return queue(calls);
      for (const [at, { device, graph }] of known.graphs.entries()) {
        const stream = calls[at]?.call.stream;
        if (stream !== undefined) device.enter().launchGraph(graph, stream.handle);
      }
    },
    close: () => {
      for (const { graphs } of remembered.splice(0)) destroy(graphs);
      for (const stream of streams.values()) stream[Symbol.dispose]();
      streams.clear();
    },
  };
}

function bytesOf({ call: { input, output } }: RankCall): number {
  return Math.max(
    ...[input, output].map((tensor) =>
      tensor === undefined ? 0 : tensor.elements * DTYPES[tensor.dtype].bytes
    ),
  );
}

function workOf({ rank, call }: RankCall): Work {
  const { kind, input, output, reduction, peer } = call;
  const [from, to] = [input?.address ?? 0n, output?.address ?? 0n];
  const bytes = bytesOf({ rank, call });
  return { rank, kind, from, to, bytes, dtype: dtypeOf(call), reduction, peer };
}

function areEqual(some: readonly Work[], others: readonly Work[]): boolean {
  return some.length === others.length && some.every((one, at) => {
    const other = others[at];
    return other !== undefined && one.from === other.from && one.to === other.to &&
      one.bytes === other.bytes && one.kind === other.kind && one.dtype === other.dtype &&
      one.rank === other.rank && one.reduction === other.reduction && one.peer === other.peer;
  });
}

/** Ends recordings; the failure in them is what is reported. */
function abandon(recording: readonly Stream[]): void {
  for (const { device, handle } of recording) {
    try {
      device.enter().destroyGraph(device.enter().endCapture(handle).handle);
    } catch {
      // A failed recording has no graph.
    }
  }
}

/** Launches that are queued are still done. */
function destroy(graphs: readonly Recorded[] = []): void {
  for (const { device, graph } of graphs) {
    if (!device.disposed) device.enter().destroyGraph(graph);
  }
}

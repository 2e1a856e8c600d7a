/** Communicators: a rank's calls, checked before anything is queued. */
import { expectBranded } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import { ArgumentError, DisposedError } from "../errors.ts";
import type { Recording } from "../graph.ts";
import { checkOptions, optionNames } from "../arguments/options.ts";
import type { Stream } from "../stream.ts";
import type { Tensor } from "../tensors/tensor.ts";
import { type Call, checkCall, checkTogether, KINDS } from "./call.ts";
import { CommunicatorAbortedError, NcclError } from "./errors.ts";
import type { Reduction } from "./symbols.ts";
import type { RankCall, Transport } from "./transport.ts";

/** How a call is queued. */
export interface CallOptions {
  /** The stream of the rank's device that it is queued on; the device's default stream by default. */
  readonly stream?: Stream;
}

/** How a call that computes is queued. */
export interface ReductionOptions extends CallOptions {
  /** How the elements of all ranks become one; "sum" by default. */
  readonly reduction?: Reduction;
}

const CALL_OPTIONS = optionNames<CallOptions>({ stream: true });
const REDUCTION_OPTIONS = optionNames<ReductionOptions>({ stream: true, reduction: true });

/** How long `finished` waits. */
export interface FinishedOptions extends CallOptions {
  /** Seconds; without it there is no limit. */
  readonly timeoutSeconds?: number;
}

const FINISHED_OPTIONS = optionNames<FinishedOptions>({ stream: true, timeoutSeconds: true });

/** What the communicators of one world share in a process. */
interface World {
  readonly size: number;
  readonly transport: Transport;
  readonly ranks: Communicator[];
  /** Graphs that have recorded calls: NCCL waits for their end when it gives communicators back. */
  recordings: readonly Recording[];
  /** Why it was aborted, as a clause. */
  aborted?: string;
  closed: boolean;
}

/** What a communicator shares with the other ranks of the process. */
let worldOf: (communicator: Communicator) => World;
let makeCommunicator: (device: Device, rank: number, world: World) => Communicator;

/** The calls that `group` collects; undefined outside of it. */
let collected: { readonly communicator: Communicator; readonly call: Call }[] | undefined;

/**
 * Queues the calls that `body` makes at once, when it has returned: those of all ranks of a process, or several that may
 * wait for each other. They run at the same time, so that none may use what another one writes. They are checked against
 * each other first, and if `body` throws, none is queued. Groups may be nested. Throws `ArgumentError` where the ranks do
 * not make the same calls.
 */
export function group(body: () => void): void {
  if (collected !== undefined) return body();
  collected = [];
  let calls: typeof collected;
  try {
    const returned: unknown = body();
    if (returned instanceof Promise) {
      throw new ArgumentError({
        argument: "body of group",
        expected: "a function that has made all of its calls when it returns",
        actual: "one that returns a promise",
      });
    }
    calls = collected;
  } finally {
    collected = undefined;
  }
  submit(calls);
}

/** Checks and queues the calls of a group, world by world. */
function submit(
  calls: readonly { readonly communicator: Communicator; readonly call: Call }[],
): void {
  const worlds = new Map<World, RankCall[]>();
  for (const { communicator, call } of calls) {
    const { rank } = communicator;
    const world = worldOf(communicator);
    worlds.set(world, [...worlds.get(world) ?? [], { rank, call }]);
  }
  for (const [world, own] of worlds) {
    const ranks = world.ranks.map(({ rank }) => ({
      rank,
      calls: own.filter((one) => one.rank === rank).map(({ call }) => call),
    }));
    checkTogether(ranks, world.size);
  }
  for (const [world, own] of worlds) queue(world, own);
}

function queue(world: World, calls: readonly RankCall[]): void {
  noteRecordings(world, calls);
  try {
    world.transport.run(calls);
  } catch (error) {
    if (error instanceof NcclError) abortWorld(world, `${error.message} (${error.result})`);
    throw error;
  }
}

function noteRecordings(world: World, calls: readonly RankCall[]): void {
  const added = calls.flatMap(({ call }) => call.stream.recording ?? []);
  if (added.length === 0) return;
  const kept = [...world.recordings, ...added].filter(({ graph }) => graph?.disposed !== true);
  world.recordings = [...new Set(kept)];
}

function disposeGraphs(world: World): void {
  for (const { graph } of world.recordings) graph?.[Symbol.dispose]();
  world.recordings = [];
}

function abortWorld(world: World, why: string): void {
  if (world.aborted !== undefined || world.closed) return;
  world.aborted = why;
  disposeGraphs(world);
  world.transport.abort();
}

/**
 * One rank of several that communicate, on one device. Calls are queued on a stream and return at once; tensors are dense
 * and lie on the rank's device. All ranks make the same calls in the same order. Where a process has several ranks, it
 * makes each call for all of them inside of `group`. All methods throw `ArgumentError` for what cannot be called,
 * before anything is queued, and `CommunicatorAbortedError` after an abort.
 */
export class Communicator implements Disposable {
  /** The device of this rank. */
  readonly device: Device;
  /** From 0 to `size`. */
  readonly rank: number;
  /** How many ranks there are in all processes. */
  readonly size: number;
  readonly #world: World;

  static {
    worldOf = (communicator) => communicator.#world;
    makeCommunicator = (device, rank, world) => new Communicator(device, rank, world);
  }

  private constructor(device: Device, rank: number, world: World) {
    this.device = device;
    this.rank = rank;
    this.size = world.size;
    this.#world = world;
  }

  /** output = the reduction of the ranks' inputs, on every rank. Both have the same count; they may be the same memory. */
  allReduce(input: Tensor, output: Tensor, options: ReductionOptions = {}): void {
    checkOptions("options of allReduce", options, REDUCTION_OPTIONS);
    const { reduction = "sum" } = options;
    this.#call({ kind: "allReduce", input, output, reduction, peer: undefined }, options);
  }

  /** The reduction of the inputs in `size` equal parts, of which rank i gets part i. */
  reduceScatter(input: Tensor, output: Tensor, options: ReductionOptions = {}): void {
    checkOptions("options of reduceScatter", options, REDUCTION_OPTIONS);
    const { reduction = "sum" } = options;
    this.#call({ kind: "reduceScatter", input, output, reduction, peer: undefined }, options);
  }

  /** output = the inputs of all ranks one after another, on every rank. */
  allGather(input: Tensor, output: Tensor, options: CallOptions = {}): void {
    const rest = { reduction: undefined, peer: undefined };
    this.#call({ kind: "allGather", input, output, ...rest }, options);
  }

  /** Overwrites the tensor with that of rank `root`. */
  broadcast(tensor: Tensor, root: number, options: CallOptions = {}): void {
    const [kind, reduction] = ["broadcast", undefined] as const;
    this.#call({ kind, input: tensor, output: tensor, reduction, peer: root }, options);
  }

  /** Part i of the input goes to rank i; part i of the output comes from there. `size` equal parts. */
  allToAll(input: Tensor, output: Tensor, options: CallOptions = {}): void {
    const rest = { reduction: undefined, peer: undefined };
    this.#call({ kind: "allToAll", input, output, ...rest }, options);
  }

  /** Sends the tensor to another rank, which receives as many elements of the type. */
  send(tensor: Tensor, peer: number, options: CallOptions = {}): void {
    const [kind, reduction] = ["send", undefined] as const;
    this.#call({ kind, input: tensor, output: undefined, reduction, peer }, options);
  }

  /** Overwrites the tensor with what another rank sends. */
  receive(tensor: Tensor, peer: number, options: CallOptions = {}): void {
    const [kind, reduction] = ["receive", undefined] as const;
    this.#call({ kind, input: undefined, output: tensor, reduction, peer }, options);
  }

  /** Throws `NcclError` where queued work has failed, such as by the end of another process; the communicators are then aborted. */
  check(): void {
    this.#expectUsable("check");
    try {
      this.#world.transport.check(this.rank);
    } catch (error) {
      if (error instanceof NcclError) abortWorld(this.#world, error.message);
      throw error;
    }
  }

  /**
   * Resolves when the work that is queued on the stream is done. Watches for errors meanwhile: throws `NcclError` for those,
   * and after `timeoutSeconds`; the communicators are then aborted, which ends work that waits for other ranks.
   */
  async finished(options: FinishedOptions = {}): Promise<void> {
    checkOptions("options of finished", options, FINISHED_OPTIONS);
    const { stream = this.device.defaultStream, timeoutSeconds = Infinity } = options;
    const deadline = Date.now() + 1000 * timeoutSeconds;
    while (!stream.done) {
      this.check();
      if (Date.now() > deadline) {
        const why = `rank ${this.rank} waited ${timeoutSeconds} s for the others of ` +
          `${this.size} ranks`;
        abortWorld(this.#world, why);
        throw new NcclError(`Time-out: ${why}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    this.check();
  }

  /**
   * Ends the work of all ranks of this process, without waiting. Their communicators cannot be used any more, and graphs
   * that have recorded their calls are disposed.
   */
  abort(): void {
    abortWorld(this.#world, "the program aborted it");
  }

  /**
   * Waits for queued work and gives the communicators of all ranks of this process back. Graphs that have recorded their
   * calls are disposed.
   */
  [Symbol.dispose](): void {
    const world = this.#world;
    if (world.closed) return;
    world.closed = true;
    if (world.aborted !== undefined) return;
    disposeGraphs(world);
    world.transport.close();
  }

  #call(rest: Omit<Call, "stream">, options: CallOptions): void {
    const { name } = KINDS[rest.kind];
    this.#expectUsable(name);
    if (rest.reduction === undefined) checkOptions(`options of ${name}`, options, CALL_OPTIONS);
    const { stream = this.device.defaultStream } = options;
    expectBranded<Stream>("stream", stream, `stream of ${name}`);
    const call = { ...rest, stream };
    checkCall(call, this);
    if (collected !== undefined) collected.push({ communicator: this, call });
    // There is nothing to compare one call of one rank with.
    else if (this.#world.ranks.length === 1) queue(this.#world, [{ rank: this.rank, call }]);
    else submit([{ communicator: this, call }]);
  }

  #expectUsable(call: string): void {
    const { aborted, closed } = this.#world;
    if (aborted !== undefined) throw new CommunicatorAbortedError(call, this.rank, aborted);
    if (closed) throw new DisposedError("Communicator");
  }
}

/** The communicators of a world for the ranks of this process. */
export function makeCommunicators(
  ranks: readonly { readonly device: Device; readonly rank: number }[],
  size: number,
  transport: Transport,
): readonly Communicator[] {
  const world: World = { size, transport, ranks: [], recordings: [], closed: false };
  world.ranks.push(...ranks.map(({ device, rank }) => makeCommunicator(device, rank, world)));
  return world.ranks;
}

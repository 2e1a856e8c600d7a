/**
 * Times the configurations of one run on one GPU, in the process that `tri tune` has started for it: each alone first,
 * to see that it works and how long it takes; those that are much slower are dropped, and the others are interleaved, so that a
 * clock that drifts drifts for all of them.
 */
import {
  defineKernel,
  type Device,
  type Graph,
  type KernelFacts,
  type PreparedCall,
  type Stream,
  TriError,
} from "../../ffi/mod.ts";
import type { Timing } from "../../ffi/kernel/tuning/tune_file.ts";
import { factsOf } from "../report/facts.ts";
import { makeArguments } from "./arguments.ts";
import type { TimedEntry, TimingReport, TimingRequest } from "./messages.ts";

/** What a graph should take at least, so that what starts and ends it does not count. */
const GRAPH_MILLISECONDS = 2;
const MOST_LAUNCHES = 200;
/** Rounds before the first configuration drops out, and after. */
const QUICK_ROUNDS = 3;
const ROUNDS = 9;
/** A configuration slower than the best by this factor after the quick rounds is not timed further. */
const SLOWER = 1.3;

/** A GPU as the process has it that times on it. */
export interface TimedGpu {
  readonly open: () => Device;
  /** Milliseconds that the graph takes on the stream; `label` names what it launches. */
  readonly time: (graph: Graph, stream: Stream, label: string) => Promise<number>;
}

/** The part of a kernel function that this needs. */
interface Launchable {
  prepare(
    args: Readonly<Record<string, unknown>>,
    options: { readonly variant: string; readonly stream: Stream },
  ): PreparedCall<unknown>;
}

/** An entry of a request failed. */
class EntryFailure {
  constructor(readonly report: TimingReport) {}
}

/** Executes requests. */
export class Stopwatch {
  readonly #gpu: TimedGpu;
  readonly #report: (report: TimingReport) => void;
  /** By image, so that each is loaded once. */
  readonly #kernels = new Map<number, Launchable>();
  #device: Device | undefined;

  constructor(gpu: TimedGpu, report: (report: TimingReport) => void) {
    this.#gpu = gpu;
    this.#report = report;
  }

  /** Times a request's entries. After anything but timings, what lies on the GPU may be past freeing. */
  async measure(request: TimingRequest): Promise<TimingReport> {
    const made = new DisposableStack();
    try {
      const timings = await this.#timeAll(request, made);
      made.dispose();
      return { kind: "timings", timings };
    } catch (error) {
      if (error instanceof EntryFailure) return error.report;
      if (error instanceof TriError) return { kind: "broken", reason: firstLine(error) };
      throw error;
    }
  }

  async #timeAll(
    { scalars, entries, ...rest }: TimingRequest,
    made: DisposableStack,
  ): Promise<Record<string, Timing>> {
    const device = this.#device ??= this.#gpu.open();
    const args = makeArguments({ ...rest, scalars: new Map(scalars) }, device, made);
    const stream = made.use(device.stream());
    const runners: Runner[] = [];
    for (const entry of entries) {
      runners.push(await guarded(entry, () => this.#start(entry, args, stream, made)));
    }
    const round = async (runner: Runner): Promise<void> => {
      const { entry, graph, launches, rounds } = runner;
      const milliseconds = await guarded(entry, () => this.#time(graph, stream, entry));
      rounds.push(milliseconds * 1000 / launches);
    };
    for (let i = 0; i < QUICK_ROUNDS; i++) for (const runner of runners) await round(runner);
    const best = Math.min(...runners.map(({ rounds }) => median(rounds)));
    const near = runners.filter(({ rounds }) => median(rounds) <= SLOWER * best);
    for (let i = QUICK_ROUNDS; i < ROUNDS; i++) for (const runner of near) await round(runner);
    return Object.fromEntries(runners.map(({ entry: { config, code }, rounds }) => [config, {
      microseconds: Number(median(rounds).toPrecision(4)),
      rounds: rounds.length,
      code,
    }]));
  }

  /** Launches once, to see that it works; then records as many launches as can be timed. */
  async #start(
    entry: TimedEntry,
    args: Readonly<Record<string, unknown>>,
    stream: Stream,
    made: DisposableStack,
  ): Promise<Runner> {
    const { config, symbol } = entry;
    this.#report({ kind: "loading", config });
    const launch = this.#kernel(entry).prepare(args, { variant: symbol, stream });
    this.#report({ kind: "running", config });
    launch();
    await stream.finished();
    const record = (launches: number): Graph =>
      made.use(stream.capture(() => {
        for (let i = 0; i < launches; i++) launch();
      }));
    const once = await this.#time(record(1), stream, entry);
    const wanted = Math.ceil(GRAPH_MILLISECONDS / Math.max(once, 1e-6));
    const launches = Math.min(Math.max(wanted, 1), MOST_LAUNCHES);
    return { entry, graph: record(launches), launches, rounds: [] };
  }

  #kernel(entry: TimedEntry): Launchable {
    const known = this.#kernels.get(entry.image);
    if (known !== undefined) return known;
    const made: Launchable = defineKernel(factsFor(entry));
    this.#kernels.set(entry.image, made);
    return made;
  }

  async #time(graph: Graph, stream: Stream, { config }: TimedEntry): Promise<number> {
    this.#report({ kind: "running", config });
    return await this.#gpu.time(graph, stream, config);
  }
}

/** An entry that has run. */
interface Runner {
  readonly entry: TimedEntry;
  readonly graph: Graph;
  readonly launches: number;
  /** Microseconds of a launch, by round. */
  readonly rounds: number[];
}

/** Every instance is a variant of its own, so that each can be launched. */
function factsFor({ kernel, module, cubin }: TimedEntry): KernelFacts {
  const facts = factsOf(kernel, module);
  if (cubin === undefined) return facts;
  return {
    ...facts,
    images: [{ target: module.target, kind: "cubin", base64: cubin }, ...facts.images],
  };
}

/** Errors of an entry's launches are its own; they may come with a later wait. */
async function guarded<T>({ config }: TimedEntry, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    throw new EntryFailure({ kind: "failed", config, reason: firstLine(error) });
  }
}

function firstLine({ message }: TriError): string {
  return message.split("\nhint: ")[0] ?? message;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

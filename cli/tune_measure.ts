/**
 * Times the configurations of one run on one GPU: each alone first, to see that it works and how long it takes; those
 * that are far behind drop out, and the others take turns, so that a clock that drifts drifts for all of them.
 */
import { must } from "../compiler/support/bug.ts";
import {
  CudaError,
  defineKernel,
  type Device,
  type Graph,
  type KernelFacts,
  type PreparedCall,
  type Stream,
  TriError,
} from "../ffi/mod.ts";
import { base64Of, factsOf } from "./report_facts.ts";
import { makeArguments, type Run } from "./tune_arguments.ts";
import type { BenchGpu } from "./tune_bench.ts";
import type { Candidate, CompiledConfig } from "./tune_candidates.ts";
import type { Timing } from "../ffi/kernel/tune_file.ts";

/** What a graph should take at least, so that what starts and ends it does not count. */
const GRAPH_MILLISECONDS = 2;
const MOST_LAUNCHES = 200;
/** Rounds before anybody drops out, and after. */
const QUICK_ROUNDS = 3;
const ROUNDS = 9;
/** What is slower than the best by this factor after the quick rounds is not timed further. */
const BEHIND = 1.3;

/** The part of a kernel function that this needs. */
interface Launchable {
  prepare(
    args: Readonly<Record<string, unknown>>,
    options: { readonly variant: string; readonly stream: Stream },
  ): PreparedCall<unknown>;
}

/** A GPU with what is loaded on it. */
export class OpenGpu implements Disposable {
  readonly bench: BenchGpu;
  #device: Device | undefined;
  #kernels = new Map<CompiledConfig, Launchable>();

  constructor(bench: BenchGpu) {
    this.bench = bench;
  }

  get device(): Device {
    return this.#device ??= this.bench.open();
  }

  /** The configuration's kernel, loaded once. */
  kernel(compiled: CompiledConfig): Launchable {
    const known = this.#kernels.get(compiled);
    if (known !== undefined) return known;
    const made: Launchable = defineKernel(factsFor(compiled));
    this.#kernels.set(compiled, made);
    return made;
  }

  /** Gives the device up; the next use opens it anew. */
  [Symbol.dispose](): void {
    const device = this.#device;
    this.#device = undefined;
    this.#kernels = new Map();
    try {
      device?.[Symbol.dispose]();
    } catch (error) {
      // After a fault every step of it fails; a new context is what helps.
      if (!(error instanceof TriError)) throw error;
    }
  }
}

/** Every instance is a variant of its own, so that each can be launched. */
function factsFor({ kernel, module, cubin }: CompiledConfig): KernelFacts {
  const facts = factsOf(kernel, module);
  if (cubin === undefined) return facts;
  return {
    ...facts,
    images: [{ target: module.target, kind: "cubin", base64: base64Of(cubin) }, ...facts.images],
  };
}

/** A configuration failed; the others can be tried again. */
class CandidateFailure {
  constructor(readonly candidate: Candidate, readonly error: TriError) {}
}

/** What the candidates take, by configuration. */
export async function measure(
  run: Run,
  candidates: readonly Candidate[],
  gpu: OpenGpu,
): Promise<Record<string, Timing>> {
  const timings: Record<string, Timing> = {};
  const fail = ({ compiled, code }: Candidate, failed: string): void => {
    timings[compiled.config] = { failed, code };
  };
  let rest: readonly Candidate[] = candidates.filter((candidate) => {
    if (candidate.misfit !== undefined) fail(candidate, candidate.misfit);
    return candidate.misfit === undefined;
  });
  while (rest.length > 0) {
    try {
      return { ...timings, ...await timeAll(run, rest, gpu) };
    } catch (failure) {
      if (!(failure instanceof CandidateFailure)) throw failure;
      const { candidate, error } = failure;
      fail(candidate, must(error.message.split("\nhint: ")[0], "message"));
      rest = rest.filter((one) => one !== candidate);
      // What the driver reports late leaves its context unusable.
      if (error instanceof CudaError) gpu[Symbol.dispose]();
    }
  }
  return timings;
}

/** A candidate that has run. */
interface Runner {
  readonly candidate: Candidate;
  readonly graph: Graph;
  readonly launches: number;
  /** Microseconds of a launch, by round. */
  readonly rounds: number[];
}

async function timeAll(
  { arguments: chosen }: Run,
  candidates: readonly Candidate[],
  gpu: OpenGpu,
): Promise<Record<string, Timing>> {
  const { device } = gpu;
  using made = new DisposableStack();
  const args = makeArguments(chosen, device, made);
  const stream = made.use(device.stream());
  const runners: Runner[] = [];
  for (const candidate of candidates) {
    runners.push(
      await guarded(candidate, () => startRunner(candidate, args, stream, gpu, made)),
    );
  }
  const round = async (runner: Runner): Promise<void> => {
    const { candidate, graph, launches, rounds } = runner;
    const milliseconds = await guarded(
      candidate,
      () => gpu.bench.time(graph, stream, candidate.compiled.config),
    );
    rounds.push(milliseconds * 1000 / launches);
  };
  for (let i = 0; i < QUICK_ROUNDS; i++) for (const runner of runners) await round(runner);
  const best = Math.min(...runners.map(({ rounds }) => median(rounds)));
  const near = runners.filter(({ rounds }) => median(rounds) <= BEHIND * best);
  for (let i = QUICK_ROUNDS; i < ROUNDS; i++) for (const runner of near) await round(runner);
  return Object.fromEntries(runners.map(({ candidate, rounds }): [string, Timing] => [
    candidate.compiled.config,
    {
      microseconds: Number(median(rounds).toPrecision(4)),
      rounds: rounds.length,
      code: candidate.code,
    },
  ]));
}

/** Launches once, to see that it works; then records as many launches as can be timed. */
async function startRunner(
  candidate: Candidate,
  args: Readonly<Record<string, unknown>>,
  stream: Stream,
  gpu: OpenGpu,
  made: DisposableStack,
): Promise<Runner> {
  const { compiled, instance } = candidate;
  const launch = gpu.kernel(compiled).prepare(args, { variant: instance.symbol, stream });
  launch();
  await stream.finished();
  const record = (launches: number): Graph =>
    made.use(stream.capture(() => {
      for (let i = 0; i < launches; i++) launch();
    }));
  const once = await gpu.bench.time(record(1), stream, compiled.config);
  const wanted = Math.ceil(GRAPH_MILLISECONDS / Math.max(once, 1e-6));
  const launches = Math.min(Math.max(wanted, 1), MOST_LAUNCHES);
  return { candidate, graph: record(launches), launches, rounds: [] };
}

/** Errors of a candidate's launches are its own; they may come with a later wait. */
async function guarded<T>(candidate: Candidate, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    throw new CandidateFailure(candidate, error);
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

/**
 * The process that times on one GPU, seen from `tri tune`. A configuration that fails, crashes the process or does not
 * end in time costs that process; the next one continues without it. There is no other way: what runs on a GPU cannot be
 * stopped from within, and after a fault a context is useless.
 */
import { must } from "../../compiler/support/bug.ts";
import type { Timing } from "../../ffi/kernel/tuning/tune_file.ts";
import { base64Of } from "../report/facts.ts";
import type { Run } from "./arguments.ts";
import type { BenchGpu, TimingChild } from "./bench.ts";
import type { Candidate, CompiledConfig } from "./candidates.ts";
import {
  printRequest,
  readReports,
  type TimedEntry,
  type TimingReport,
  type TimingRequest,
} from "./messages.ts";

/** Numbers for images, the same in every process. */
const IMAGES = new Map<CompiledConfig, number>();

/** The result of one request. */
type Outcome = Exclude<TimingReport, { readonly kind: "loading" | "running" }>;

/** The result of a run: its timings, and why the rest of it was not timed, if so. */
export interface Measured {
  readonly timings: Readonly<Record<string, Timing>>;
  readonly broken?: string;
}

/** Times on one GPU. */
export class TimingProcess implements AsyncDisposable {
  readonly gpu: BenchGpu;
  /** Seconds that a launch may take. */
  readonly #limit: number;
  #running: Running | undefined;

  constructor(gpu: BenchGpu, limit: number) {
    this.gpu = gpu;
    this.#limit = limit;
  }

  /** What the candidates take, by configuration. */
  async measure({ arguments: chosen }: Run, candidates: readonly Candidate[]): Promise<Measured> {
    const timings: Record<string, Timing> = {};
    const fail = ({ compiled, code }: Candidate, failed: string): void => {
      timings[compiled.config] = { failed, code };
    };
    let rest: readonly Candidate[] = candidates.filter((candidate) => {
      if (candidate.misfit !== undefined) fail(candidate, candidate.misfit);
      return candidate.misfit === undefined;
    });
    while (rest.length > 0) {
      const entries = rest.map(entryOf);
      const outcome = await this.#request({ ...chosen, scalars: [...chosen.scalars], entries });
      if (outcome.kind === "timings") return { timings: { ...timings, ...outcome.timings } };
      await this.#end();
      if (outcome.kind === "broken") return { timings, broken: outcome.reason };
      const { config, reason } = outcome;
      fail(must(rest.find(({ compiled }) => compiled.config === config), config), reason);
      rest = rest.filter(({ compiled }) => compiled.config !== config);
    }
    return { timings };
  }

  async #request(request: TimingRequest): Promise<Outcome> {
    const running = this.#running ??= startRunning(this.gpu);
    const { child, ended, reports } = running;
    let last: TimingReport | undefined;
    child.stdin.write(printRequest(request));
    for (;;) {
      const next = reports.next();
      const limit = last?.kind === "running" ? this.#limit : Infinity;
      const heard = await within(limit, next);
      const config = last !== undefined && "config" in last ? last.config : undefined;
      if (heard === "late") {
        return { kind: "failed", config: config ?? "", reason: `did not end within ${limit} s` };
      }
      if (heard.done === true) {
        const reason = `the process that timed it ended with ${await ended}`;
        return config === undefined
          ? { kind: "broken", reason }
          : { kind: "failed", config, reason };
      }
      const { value } = heard;
      if (value.kind !== "loading" && value.kind !== "running") return value;
      last = value;
    }
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    running.child.kill("SIGKILL");
    await running.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

interface Running {
  readonly child: TimingChild;
  /** What it ended with. */
  readonly ended: Promise<string>;
  readonly reports: AsyncGenerator<TimingReport, void>;
}

function startRunning(gpu: BenchGpu): Running {
  const child = gpu.start();
  // If it ends before it read everything, its reports say why.
  child.stdin.on("error", () => {});
  const ended = new Promise<string>((resolve) => {
    child.on("error", ({ message }) => resolve(message));
    child.on("exit", (code, signal) => resolve(signal ?? `code ${code}`));
  });
  return { child, ended, reports: readReports(child.stdout) };
}

function entryOf({ compiled, instance: { symbol }, code }: Candidate): TimedEntry {
  const { config, kernel, module, cubin } = compiled;
  const image = IMAGES.get(compiled) ?? IMAGES.size;
  IMAGES.set(compiled, image);
  return {
    config,
    code,
    symbol,
    // Other targets' modules are useless there.
    kernel: { ...kernel, modules: [] },
    module,
    cubin: cubin === undefined ? undefined : base64Of(cubin),
    image,
  };
}

/**
 * What the promise gives, unless that takes too many seconds. std's `deadline` needs `Promise.withResolvers`, which
 * Node 20 lacks.
 */
async function within<T>(seconds: number, promise: Promise<T>): Promise<T | "late"> {
  if (seconds === Infinity) return await promise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Threads of the host that help with large launches. The calling thread begins on its own; if it is not done soon, it
 * offers blocks to workers as well. It never waits for one to begin: a worker that is too late finds the launch
 * closed.
 */
import { sendLaunch } from "../check/launch.ts";
import { Fault } from "../fault.ts";
import type { LaunchReport } from "../report.ts";
import { SLOT_ALIGN, slotShape } from "../schedule/slot.ts";
import { sharedWords } from "../sharing.ts";
import { CONTROL, type Job, type Result, type SharedLaunch } from "./job.ts";

/** A thread of the host. */
export interface Worker {
  send(job: Job): void;
  end(): void;
}

/** Starts a thread that runs jobs; undefined where that cannot be done. */
export type Spawn = () => Worker | undefined;

/** Milliseconds that a launch runs in the calling thread alone. */
const ALONE = 30;
/** Bytes of a worker's slots, and how many it has at most. */
const SLOT_BYTES = 32 * 2 ** 20;
const MOST_SLOTS = 32;
/** Words of a result. */
const RESULT_WORDS = 256 * 1024;

/** What a launch lends to its workers. */
export interface ParallelLaunchOptions {
  readonly clusters: number;
  /** Threads, the calling one included. */
  readonly workers: number;
  /** Memory for one worker: its counts and its slots; the same again in the next launch if it fits. */
  area(worker: number, countBytes: number, slotBytes: number): Area;
}

/** Locations in memory. */
export interface Area {
  readonly counts: number;
  readonly slots: number;
}

/** A launch as the calling thread sees it. */
export interface ParallelLaunch {
  /** The next cluster to run. */
  next(): number | undefined;
  /** Waits for the workers that take part; what they counted. Throws the fault of one. */
  finish(): LaunchReport[];
  /** Lets the workers stop as soon as they can, and waits for that. */
  abandon(): void;
}

/** The workers of one emulator. */
export class WorkerPool {
  readonly #memory: WebAssembly.Memory;
  readonly #spawn: Spawn | undefined;
  #workers: Worker[] = [];
  #failed = false;

  constructor(memory: WebAssembly.Memory, spawn: Spawn | undefined) {
    this.#memory = memory;
    this.#spawn = spawn;
  }

  /** Begins a launch. */
  begin(launch: SharedLaunch, options: ParallelLaunchOptions): ParallelLaunch {
    const control = sharedWords(CONTROL.words);
    const results: Int32Array[] = [];
    const { clusters } = options;
    let offered = this.#spawn === undefined || options.workers < 2;
    const started = performance.now();
    const end = (): void => {
      Atomics.store(control, CONTROL.closed, 1);
      for (;;) {
        const active = Atomics.load(control, CONTROL.active);
        if (active === 0) break;
        Atomics.wait(control, CONTROL.active, active);
      }
    };
    return {
      next: () => {
        if (Atomics.load(control, CONTROL.closed) !== 0) return undefined;
        const next = Atomics.add(control, CONTROL.next, 1);
        if (next >= clusters) return undefined;
        if (!offered && performance.now() - started > ALONE) {
          offered = true;
          this.#offer(launch, options, control, results);
        }
        return next;
      },
      finish: () => {
        end();
        return results.flatMap(readResult);
      },
      abandon: end,
    };
  }

  /** Ends all threads. */
  close(): void {
    this.#workers.forEach((worker) => worker.end());
    this.#workers = [];
  }

  #offer(
    launch: SharedLaunch,
    options: ParallelLaunchOptions,
    control: Int32Array,
    results: Int32Array[],
  ): void {
    const { clusters } = options;
    const left = clusters - Atomics.load(control, CONTROL.next);
    const shape = slotShape(launch.launch, launch.registerFileBytes, launch.localBytes);
    const slotBytes = Math.ceil(shape.bytes / SLOT_ALIGN + 1) * SLOT_ALIGN;
    const count = Math.max(1, Math.min(MOST_SLOTS, Math.floor(SLOT_BYTES / slotBytes)));
    const access = sendLaunch(launch.access);
    for (let w = 0; w < Math.min(options.workers - 1, left); w++) {
      const worker = this.#worker(w);
      if (worker === undefined) return;
      const { counts, slots: first } = options.area(w, 16 * launch.blocks, count * slotBytes);
      const result = sharedWords(RESULT_WORDS);
      results.push(result);
      const slots = Array.from({ length: count }, (_, i) => first + i * slotBytes);
      worker.send({
        ...launch,
        access,
        memory: this.#memory,
        control,
        clusters,
        counts,
        slots,
        result,
      });
    }
  }

  #worker(index: number): Worker | undefined {
    const known = this.#workers[index];
    if (known !== undefined || this.#failed) return known;
    const made = this.#spawn?.();
    if (made === undefined) this.#failed = true;
    else this.#workers.push(made);
    return made;
  }
}

/** The report of a worker; none if it did not take part. */
function readResult(words: Int32Array): LaunchReport[] {
  const length = words[0] ?? 0;
  if (length === 0) return [];
  // Text decoders take no shared memory.
  const bytes = new Uint8Array(words.buffer, 4, length).slice();
  const result: Result = JSON.parse(new TextDecoder().decode(bytes));
  switch (result.kind) {
    case "report":
      return [result.report];
    case "fault": {
      const { kind, detail, lane, site, origin, hint } = result.fault;
      throw new Fault(kind, detail, lane, site, origin, hint);
    }
    case "error":
      throw new Error(`a worker of the emulator failed: ${result.message}`);
  }
}

/** Writes a result where the calling thread finds it; one that is too long is left out. */
export function writeResult(words: Int32Array, result: Result): void {
  const bytes = new TextEncoder().encode(JSON.stringify(result));
  const room = new Uint8Array(words.buffer, 4);
  if (bytes.length > room.length) {
    if (result.kind === "report") {
      writeResult(words, { kind: "report", report: { ...result.report, sites: [] } });
    }
    return;
  }
  room.set(bytes);
  words[0] = bytes.length;
}

/**
 * Collects requests into batches without timers: while a batch runs, the requests that arrive wait, and together they are
 * the next one. A request on an idle service runs at once.
 */

/** How large batches get. */
export interface BatcherOptions {
  readonly maxBatch: number;
  /** Batches that run side by side, each in a lane of its own. */
  readonly lanes: number;
}

interface Waiting<I, O> {
  readonly input: I;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs inputs in batches; the outputs of a batch are in the order of its inputs. */
export class Batcher<I, O> {
  readonly #run: (inputs: readonly I[], lane: number) => Promise<readonly O[]>;
  readonly #maxBatch: number;
  readonly #free: number[];
  #waiting: Waiting<I, O>[] = [];

  constructor(
    run: (inputs: readonly I[], lane: number) => Promise<readonly O[]>,
    { maxBatch, lanes }: BatcherOptions,
  ) {
    this.#run = run;
    this.#maxBatch = maxBatch;
    this.#free = Array.from({ length: lanes }, (_, lane) => lane);
  }

  /** What the input gives; rejects with the error of its batch. */
  submit(input: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      // Requests of the same turn of the event loop share a batch.
      queueMicrotask(() => this.#start());
    });
  }

  #start(): void {
    while (this.#waiting.length > 0) {
      const lane = this.#free.pop();
      if (lane === undefined) return;
      const batch = this.#waiting.splice(0, this.#maxBatch);
      void this.#finish(batch, lane);
    }
  }

  async #finish(batch: readonly Waiting<I, O>[], lane: number): Promise<void> {
    try {
      const outputs = await this.#run(batch.map(({ input }) => input), lane);
      batch.forEach(({ resolve, reject }, i) => {
        const output = outputs[i];
        if (output === undefined) {
          reject(new Error(`a batch of ${batch.length} gave ${outputs.length} outputs`));
        } else resolve(output);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#free.push(lane);
      this.#start();
    }
  }
}

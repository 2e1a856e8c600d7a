/** Search by likeness: the entry of an index whose vector has the largest product with the query's. */
import type { Device, Stream, Tensor } from "@tri/tri/ffi";
import { matmul } from "../../generated/matmul.ts";
import { best } from "../../generated/examples/service/search.ts";
import { Batcher } from "./batcher.ts";

/** Queries of a batch: one product with the index serves them all. */
const MAX_BATCH = 64;
/** While one batch computes, the next is copied. */
const LANES = 2;

export interface Match {
  /** Row of the index. */
  readonly entry: number;
  readonly score: number;
}

/** An index on the device and the queue of its queries. */
export class Search {
  readonly dimensions: number;
  readonly #index: Tensor<"float32", 2>;
  readonly #streams: readonly Stream[];
  readonly #batcher: Batcher<Float32Array, Match>;

  /** `vectors` are the entries, one after the other. */
  constructor(readonly device: Device, vectors: Float32Array<ArrayBuffer>, dimensions: number) {
    this.dimensions = dimensions;
    this.#index = device.tensor(vectors, [vectors.length / dimensions, dimensions]);
    this.#streams = Array.from({ length: LANES }, () => device.stream());
    this.#batcher = new Batcher((queries, lane) => this.#run(queries, lane), {
      maxBatch: MAX_BATCH,
      lanes: LANES,
    });
  }

  /** The best match of a query of `dimensions` numbers. */
  find(query: Float32Array): Promise<Match> {
    return this.#batcher.submit(query);
  }

  async #run(queries: readonly Float32Array[], lane: number): Promise<Match[]> {
    const stream = this.#streams[lane];
    if (stream === undefined) throw new RangeError(`lane ${lane} of ${this.#streams.length}`);
    const rows = new Float32Array(queries.length * this.dimensions);
    queries.forEach((query, i) => rows.set(query, i * this.dimensions));
    using batch = this.device.tensor(rows, [queries.length, this.dimensions], { stream });
    using scores = matmul(batch, this.#index.transpose(), { stream });
    const { entry, score } = best(scores, { stream });
    using entries = entry;
    using values = score;
    const [found, reached] = await Promise.all([entries.read(), values.read()]);
    return queries.map((_, i) => ({ entry: found[i] ?? 0, score: reached[i] ?? 0 }));
  }

  [Symbol.dispose](): void {
    this.#index.dispose();
    for (const stream of this.#streams) stream[Symbol.dispose]();
  }
}

/** Text from a model, one token after the other; tokens stay on the device until they are read. */
import type { Device, Tensor } from "@tri/tri/ffi";
import { rmsNorm } from "../../generated/rms_norm.ts";
import { embed, largest } from "../../generated/examples/language_model/layers.ts";
import { disposeTrace, runLayer } from "./layer.ts";
import { type Float, linear, type ModelSizes, type ModelWeights } from "./model.ts";

/** A model that has seen some tokens. */
export class Session<D extends Float> {
  readonly #sizes: ModelSizes;
  readonly #weights: ModelWeights<D>;
  readonly #keys: readonly Tensor<D, 2>[];
  readonly #values: readonly Tensor<D, 2>[];
  #filled = 0;

  /** A session has room for `capacity` tokens. */
  constructor(sizes: ModelSizes, weights: ModelWeights<D>, readonly capacity: number) {
    const { device, dtype } = weights.table;
    const rows = [capacity, sizes.keyHeads * sizes.headSize] as const;
    this.#sizes = sizes;
    this.#weights = weights;
    this.#keys = weights.layers.map(() => device.zeros(dtype, rows));
    this.#values = weights.layers.map(() => device.zeros(dtype, rows));
  }

  /** How many tokens it has seen. */
  get length(): number {
    return this.#filled;
  }

  /** Reads tokens, int32[T]; the result has the scores of the token after each, [T, vocabulary]. */
  advance(tokens: Tensor<"int32", 1>): Tensor<D, 2> {
    const [sizes, weights, filled] = [this.#sizes, this.#weights, this.#filled];
    if (filled + tokens.elements > this.capacity) {
      throw new RangeError(
        `a session of ${this.capacity} tokens has no room for ${tokens.elements} after ${filled}`,
      );
    }
    let x = embed(weights.table, tokens);
    weights.layers.forEach((layer, i) => {
      const [keys, values] = [this.#keys[i], this.#values[i]];
      if (keys === undefined || values === undefined) return;
      const { y, trace } = runLayer(sizes, layer, x, { keys, values, filled });
      disposeTrace(trace);
      x.dispose();
      x = y;
    });
    this.#filled += tokens.elements;
    const { y, rstd } = rmsNorm(x, weights.lastNorm, { eps: sizes.eps });
    const scores = linear(y, weights.head);
    for (const tensor of [x, y, rstd]) tensor.dispose();
    return scores;
  }

  [Symbol.dispose](): void {
    for (const tensor of [...this.#keys, ...this.#values]) tensor.dispose();
  }
}

/** A model that has seen some tokens and gives the scores of the next, of any shape. */
export interface Advancing {
  advance(tokens: Tensor<"int32", 1>): Tensor<Float, 2>;
}

/** The likeliest continuation of `prompt`, token by token. */
export async function* generate(
  device: Device,
  session: Advancing,
  prompt: Int32Array<ArrayBuffer>,
  count: number,
): AsyncGenerator<number> {
  let tokens = device.tensor(prompt);
  for (let i = 0; i < count; i++) {
    using scores = session.advance(tokens);
    const next = largest(scores.narrow(0, scores.shape[0] - 1, 1));
    tokens.dispose();
    tokens = next;
    const [token = 0] = await tokens.read();
    yield token;
  }
  tokens.dispose();
}

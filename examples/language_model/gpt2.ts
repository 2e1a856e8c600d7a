/** GPT-2 (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019), forwards, with a cache of keys and values. */
import { Tensor } from "@tri/tri/ffi";
import { attention } from "../../generated/attention.ts";
import { layerNorm } from "../../generated/layer_norm.ts";
import { addBias } from "../../generated/examples/language_model/gpt2.ts";
import { embed } from "../../generated/examples/language_model/layers.ts";
import {
  type Gpt2Layer,
  type Gpt2Linear,
  type Gpt2Norm,
  type Gpt2Weights,
  HEAD_SIZE,
} from "./gpt2_weights.ts";
import { add, type Float, linear, product } from "./model.ts";

const EPS = 1e-5;

/** A model that has seen some tokens. */
export class Gpt2Session<D extends Float> {
  readonly #weights: Gpt2Weights<D>;
  readonly #keys: readonly Tensor<D, 2>[];
  readonly #values: readonly Tensor<D, 2>[];
  #filled = 0;

  /** A session has room for `capacity` tokens, at most for as many as the model has positions. */
  constructor(weights: Gpt2Weights<D>, readonly capacity: number) {
    const { table: { device, dtype, shape: [, width] }, positions } = weights;
    if (capacity > positions.shape[0]) {
      throw new RangeError(
        `the model has ${positions.shape[0]} positions, not the ${capacity} of the session`,
      );
    }
    const cache = (): Tensor<D, 2> => device.zeros(dtype, [capacity, width]);
    this.#weights = weights;
    this.#keys = weights.layers.map(cache);
    this.#values = weights.layers.map(cache);
  }

  /** How many tokens it has seen. */
  get length(): number {
    return this.#filled;
  }

  /** Reads tokens, int32[T]; the result has the scores of the token after each, [T, vocabulary]. */
  advance(tokens: Tensor<"int32", 1>): Tensor<D, 2> {
    const [{ table, positions, layers, lastNorm }, filled] = [this.#weights, this.#filled];
    if (filled + tokens.elements > this.capacity) {
      throw new RangeError(
        `a session of ${this.capacity} tokens has no room for ${tokens.elements} after ${filled}`,
      );
    }
    using vectors = embed(table, tokens);
    let x = add(vectors, positions.narrow(0, filled, tokens.elements));
    layers.forEach((layer, i) => {
      const [keys, values] = [this.#keys[i], this.#values[i]];
      if (keys === undefined || values === undefined) return;
      using before = x;
      x = runLayer(layer, before, { keys, values, filled });
    });
    this.#filled += tokens.elements;
    using last = x;
    using normed = normalise(last, lastNorm);
    return linear(normed, table);
  }

  [Symbol.dispose](): void {
    for (const tensor of [...this.#keys, ...this.#values]) tensor.dispose();
  }
}

interface Cache<D extends Float> {
  readonly keys: Tensor<D, 2>;
  readonly values: Tensor<D, 2>;
  readonly filled: number;
}

function runLayer<D extends Float>(
  weights: Gpt2Layer<D>,
  x: Tensor<D, 2>,
  { keys, values, filled }: Cache<D>,
): Tensor<D, 2> {
  const { device, dtype, shape: [tokens, width] } = x;
  using normed = normalise(x, weights.attentionNorm);
  using plain = times(normed, weights.queryKeyValue.weight);
  using q = device.empty(dtype, [tokens, width]);
  const parts = [q, keys.narrow(0, filled, tokens), values.narrow(0, filled, tokens)];
  for (const [i, out] of parts.entries()) {
    const { bias } = weights.queryKeyValue;
    biased(plain.narrow(1, i * width, width), bias.narrow(0, i * width, width), 0, out);
  }
  using attended = device.empty(dtype, [tokens, width]);
  const rows = filled + tokens;
  const { lse } = attention(
    heads(q),
    heads(keys.narrow(0, 0, rows)),
    heads(values.narrow(0, 0, rows)),
    { scale: HEAD_SIZE ** -0.5, causal: true, window: 0, out: { o: heads(attended) } },
  );
  lse.dispose();
  using change = affine(attended, weights.output);
  using middle = add(x, change);
  using hiddenNormed = normalise(middle, weights.hiddenNorm);
  using hidden = affine(hiddenNormed, weights.up, 1);
  using second = affine(hidden, weights.down);
  return add(middle, second);
}

function normalise<D extends Float>(
  x: Tensor<D, 2>,
  { weight, bias }: Gpt2Norm<D>,
): Tensor<D, 2> {
  const { y, mean, rstd } = layerNorm(x as Tensor<Float, 2>, weight, bias, { eps: EPS });
  for (const tensor of [mean, rstd]) tensor.dispose();
  return y as Tensor<D, 2>;
}

/** X @ W + bias, for weights [inputs, outputs]; then GELU if `gelu` is 1. */
function affine<D extends Float>(
  x: Tensor<D, 2>,
  { weight, bias }: Gpt2Linear<D>,
  gelu: 0 | 1 = 0,
): Tensor<D, 2> {
  const y = times(x, weight);
  biased(y, bias, gelu, y);
  return y;
}

function times<D extends Float>(x: Tensor<D, 2>, w: Tensor<D, 2>): Tensor<D, 2> {
  const y = x.device.empty(x.dtype, [x.shape[0], w.shape[1]]);
  product(x, w, y);
  return y;
}

function biased(
  x: Tensor<Float, 2>,
  bias: Tensor<Float, 1>,
  gelu: 0 | 1,
  out: Tensor<Float, 2>,
): void {
  addBias(x, bias, { gelu, out });
}

/** [T, width] as what attention calls a batch of heads: [1, heads, T, HEAD_SIZE]. */
function heads<D extends Float>(x: Tensor<D, 2>): Tensor<D, 4> {
  const [tokens, width] = x.shape;
  return new Tensor<D, 4>(x.buffer, {
    dtype: x.dtype,
    shape: [1, width / HEAD_SIZE, tokens, HEAD_SIZE],
    strides: [0, HEAD_SIZE, width, 1],
    offset: x.offset,
  });
}

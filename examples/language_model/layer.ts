/** One layer of a model, forwards: attention and the gated activation, each after a normalisation and added to its input. */
import { Tensor } from "@tri/tri/ffi";
import { attention } from "../../generated/attention.ts";
import { rmsNorm } from "../../generated/rms_norm.ts";
import { rotate, swiglu } from "../../generated/examples/language_model/layers.ts";
import {
  add,
  flat,
  type Float,
  type LayerTrace,
  type LayerWeights,
  linear,
  type ModelSizes,
} from "./model.ts";

/** Where the keys and values of a layer are kept, [capacity, keyHeads * headSize], and how many rows are filled. */
export interface LayerCache<D extends Float> {
  readonly keys: Tensor<D, 2>;
  readonly values: Tensor<D, 2>;
  readonly filled: number;
}

/** What a layer gives, and what its derivative needs. */
export interface LayerResult<D extends Float> {
  readonly y: Tensor<D, 2>;
  readonly trace: LayerTrace<D>;
}

/**
 * Runs a layer on the vectors of T tokens, [T, width], that follow those in the cache. Rows of keys and values are appended
 * to the cache. The caller disposes the result's tensors.
 */
export function runLayer<D extends Float>(
  sizes: ModelSizes,
  weights: LayerWeights<D>,
  x: Tensor<D, 2>,
  cache: LayerCache<D>,
): LayerResult<D> {
  const { device, dtype, shape: [tokens] } = x;
  const { eps, heads, keyHeads, headSize, rotaryBase: base } = sizes;
  const rotation = { first: cache.filled, base, direction: 1 };
  const { y: normed, rstd: attentionRstd } = rmsNorm(x, weights.attentionNorm, { eps });
  const q = device.empty(dtype, [tokens, heads * headSize]);
  using plainQ = linear(normed, weights.query);
  rotate(byHead(plainQ, heads), { ...rotation, out: byHead(q, heads) });
  const k = cache.keys.narrow(0, cache.filled, tokens);
  using plainK = linear(normed, weights.key);
  rotate(byHead(plainK, keyHeads), { ...rotation, out: byHead(k, keyHeads) });
  const v = linear(normed, weights.value, cache.values.narrow(0, cache.filled, tokens));

  const rows = cache.filled + tokens;
  const attended = device.empty(dtype, [tokens, heads * headSize]);
  const { lse } = attention(
    queryHeads(q, sizes),
    keyHeadsOf(cache.keys.narrow(0, 0, rows), sizes),
    keyHeadsOf(cache.values.narrow(0, 0, rows), sizes),
    { scale: headSize ** -0.5, causal: true, window: 0, out: { o: queryHeads(attended, sizes) } },
  );
  using change = linear(attended, weights.output);
  const middle = add(x, change);

  const { y: hiddenNormed, rstd: hiddenRstd } = rmsNorm(middle, weights.hiddenNorm, { eps });
  const [gate, up] = [linear(hiddenNormed, weights.gate), linear(hiddenNormed, weights.up)];
  const gated = device.empty(dtype, gate.shape);
  swiglu(flat(gate), flat(up), { out: flat(gated) });
  using second = linear(gated, weights.down);
  const y = add(middle, second);
  return {
    y,
    trace: {
      ...{ x, attentionRstd, normed, q, k, v, attended, lse, middle },
      ...{ hiddenRstd, hiddenNormed, gate, up, gated },
    },
  };
}

/** Frees what a layer kept for its derivative; its input and what lies in the cache are the caller's. */
export function disposeTrace<D extends Float>({ x: _, k: _k, v: _v, ...own }: LayerTrace<D>): void {
  for (const tensor of Object.values(own)) tensor.dispose();
}

/** [T, heads * headSize] as [T, heads, headSize]. */
export function byHead<D extends Float>(x: Tensor<D, 2>, heads: number): Tensor<D, 3> {
  return x.reshape([x.shape[0], heads, x.shape[1] / heads]);
}

/** Queries as [keyHeads, heads / keyHeads, T, headSize]: the heads that share keys are what attention calls a batch. */
export function queryHeads<D extends Float>(q: Tensor<D, 2>, sizes: ModelSizes): Tensor<D, 4> {
  const { heads, keyHeads, headSize } = sizes;
  return q.reshape([q.shape[0], keyHeads, heads / keyHeads, headSize]).permute([1, 2, 0, 3]);
}

/** Keys or values in the same shape: heads that share them have a stride of 0, so nothing is copied. */
export function keyHeadsOf<D extends Float>(k: Tensor<D, 2>, sizes: ModelSizes): Tensor<D, 4> {
  const { heads, keyHeads, headSize } = sizes;
  return new Tensor<D, 4>(k.buffer, {
    dtype: k.dtype,
    shape: [keyHeads, heads / keyHeads, k.shape[0], headSize],
    strides: [headSize, 0, keyHeads * headSize, 1],
    offset: k.offset,
  });
}

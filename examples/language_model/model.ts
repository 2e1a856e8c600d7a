/** A language model of the Llama shape: its sizes, its weights, and one pass over some tokens. */
import type { Tensor } from "@tri/tri/ffi";
import { matmul } from "../../generated/matmul.ts";
import { vectorAdd } from "../../generated/vector_add.ts";

/** Element types that a model can have. */
export type Float = "float32" | "float16" | "bfloat16";

/** The sizes of a model. */
export interface ModelSizes {
  readonly vocabulary: number;
  /** Elements of the vector of a token. */
  readonly width: number;
  readonly layers: number;
  /** Heads of queries; each is as long as `headSize`. */
  readonly heads: number;
  /** Heads of keys and values, a divisor of `heads`. */
  readonly keyHeads: number;
  /** 64 or 128. */
  readonly headSize: number;
  /** Elements between the two products of the gated activation. */
  readonly hidden: number;
  readonly eps: number;
  readonly rotaryBase: number;
}

/** Weights of one layer; products have the shape [outputs, inputs], as checkpoints store them. */
export interface LayerWeights<D extends Float> {
  readonly attentionNorm: Tensor<D, 1>;
  readonly query: Tensor<D, 2>;
  readonly key: Tensor<D, 2>;
  readonly value: Tensor<D, 2>;
  readonly output: Tensor<D, 2>;
  readonly hiddenNorm: Tensor<D, 1>;
  readonly gate: Tensor<D, 2>;
  readonly up: Tensor<D, 2>;
  readonly down: Tensor<D, 2>;
}

export interface ModelWeights<D extends Float> {
  /** [vocabulary, width] */
  readonly table: Tensor<D, 2>;
  readonly layers: readonly LayerWeights<D>[];
  readonly lastNorm: Tensor<D, 1>;
  /** [vocabulary, width]; often the same tensor as `table`. */
  readonly head: Tensor<D, 2>;
}

/** Keys and values of the tokens so far, [capacity, keyHeads * headSize] for each layer. */
export interface Cache<D extends Float> {
  readonly keys: readonly Tensor<D, 2>[];
  readonly values: readonly Tensor<D, 2>[];
}

/** What the derivative of a layer needs of its forward pass. */
export interface LayerTrace<D extends Float> {
  /** The layer's input, [T, width]. */
  readonly x: Tensor<D, 2>;
  readonly attentionRstd: Tensor<"float32", 1>;
  readonly normed: Tensor<D, 2>;
  /** [T, heads * headSize], with positions. */
  readonly q: Tensor<D, 2>;
  readonly k: Tensor<D, 2>;
  readonly v: Tensor<D, 2>;
  readonly attended: Tensor<D, 2>;
  /** [keyHeads, heads / keyHeads, T] */
  readonly lse: Tensor<"float32", 3>;
  readonly middle: Tensor<D, 2>;
  readonly hiddenRstd: Tensor<"float32", 1>;
  readonly hiddenNormed: Tensor<D, 2>;
  readonly gate: Tensor<D, 2>;
  readonly up: Tensor<D, 2>;
  readonly gated: Tensor<D, 2>;
}

/** X @ ^W for weights as checkpoints store them. */
export function linear<D extends Float>(
  x: Tensor<D, 2>,
  weights: Tensor<D, 2>,
  out: Tensor<D, 2> = x.device.empty(x.dtype, [x.shape[0], weights.shape[0]]),
): Tensor<D, 2> {
  product(x, weights.transpose(), out);
  return out;
}

/** A @ B into `out`; products of a `Float` have its type, which TypeScript does not see of a type parameter. */
export function product(a: Tensor<Float, 2>, b: Tensor<Float, 2>, out: Tensor<Float, 2>): void {
  matmul(a, b, { out });
}

/** The sum of two tensors without gaps. */
export function add<D extends Float>(a: Tensor<D, 2>, b: Tensor<D, 2>): Tensor<D, 2> {
  const sum = a.device.empty(a.dtype, a.shape);
  vectorAdd(flat(a), flat(b), { out: flat(sum) });
  return sum;
}

/** A tensor without gaps as a vector. */
export function flat<D extends Float>(x: Tensor<D, 2>): Tensor<D, 1> {
  return x.reshape([x.elements]);
}

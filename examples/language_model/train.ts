/** Training: the loss of some tokens, its derivatives by all weights, and steps of AdamW, all on the device. */
import type { Device, Tensor } from "@tri/tri/ffi";
import { crossEntropy, crossEntropyBackward } from "../../generated/cross_entropy.ts";
import { rmsNorm } from "../../generated/rms_norm.ts";
import { adamw, embed, embedBackward } from "../../generated/examples/language_model/layers.ts";
import { disposeTrace, runLayer } from "./layer.ts";
import { layerBackward, linearBackward, normBackward } from "./layer_backward.ts";
import { type LayerTrace, linear, type ModelSizes, type ModelWeights } from "./model.ts";

type Vector = Tensor<"float32", 1>;

/** All weights as vectors, always in the same order. */
export function parametersOf({ table, layers, lastNorm, head }: ModelWeights<"float32">): Vector[] {
  return [
    table,
    ...layers.flatMap((layer) => Object.entries(layer).sort().map(([, x]) => x)),
    lastNorm,
    head,
  ]
    .map((x) => x.reshape([x.elements]));
}

/** What {@linkcode lossAndGradients} gives. */
export interface Gradients {
  /** The loss of each token. */
  readonly loss: Vector;
  /** The derivatives of the mean loss by each weight. */
  readonly weights: ModelWeights<"float32">;
}

/**
 * The cross-entropy of each of `labels`, int64[T], as the token after the T `tokens`, and the derivatives of its mean. The
 * caller disposes the result's tensors. Heads that share keys are not supported here.
 */
export function lossAndGradients(
  sizes: ModelSizes,
  weights: ModelWeights<"float32">,
  tokens: Tensor<"int32", 1>,
  labels: Tensor<"int64", 1>,
): Gradients {
  const { device } = tokens;
  const count = tokens.elements;
  const traces: LayerTrace<"float32">[] = [];
  let x = embed(weights.table, tokens);
  for (const layer of weights.layers) {
    const rows = [count, sizes.keyHeads * sizes.headSize] as const;
    const cache = {
      keys: device.empty("float32", rows),
      values: device.empty("float32", rows),
      filled: 0,
    };
    const { y, trace } = runLayer(sizes, layer, x, cache);
    traces.push({ ...trace, k: cache.keys, v: cache.values });
    x = y;
  }
  using last = x;
  const { y, rstd } = rmsNorm(last, weights.lastNorm, { eps: sizes.eps });
  using normed = y;
  using ownedRstd = rstd;
  using scores = linear(normed, weights.head);
  const { loss, lse } = crossEntropy(scores, labels);
  using ownedLse = lse;
  using dLoss = device.tensor(new Float32Array(count).fill(1 / count));
  using dScores = crossEntropyBackward(scores, labels, ownedLse, dLoss);

  const head = linearBackward(normed, weights.head, dScores);
  using dNormed = head.dx;
  const { dx, dw: lastNorm } = normBackward(last, weights.lastNorm, ownedRstd, dNormed);
  let dy = dx;
  const layers = traces.map((trace, i) => ({ trace, layer: weights.layers[i] })).reverse().flatMap(
    ({ trace, layer }) => {
      if (layer === undefined) return [];
      const { dx, weights: found } = layerBackward(sizes, layer, trace, dy);
      dy.dispose();
      disposeTrace(trace);
      for (const tensor of [trace.x, trace.k, trace.v]) tensor.dispose();
      dy = dx;
      return [found];
    },
  ).reverse();
  using dEmbedded = dy;
  const table = device.empty("float32", weights.table.shape);
  embedBackward(tokens, dEmbedded, { out: table });
  return { loss, weights: { table, layers, lastNorm, head: head.dw } };
}

/** How AdamW moves weights. */
export interface AdamOptions {
  readonly rate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly eps?: number;
  /** Weight decay; 0 when absent. */
  readonly decay?: number;
}

/** Moves weights step by step along their derivatives. */
export class Adam {
  readonly #parameters: readonly Vector[];
  readonly #means: readonly Vector[];
  readonly #squares: readonly Vector[];
  #steps = 0;

  constructor(device: Device, weights: ModelWeights<"float32">) {
    this.#parameters = parametersOf(weights);
    this.#means = this.#parameters.map((x) => device.zeros("float32", x.shape));
    this.#squares = this.#parameters.map((x) => device.zeros("float32", x.shape));
  }

  step(gradients: ModelWeights<"float32">, options: AdamOptions): void {
    const { rate, beta1 = 0.9, beta2 = 0.99, eps = 1e-8, decay = 0 } = options;
    this.#steps++;
    const scales = {
      meanScale: 1 / (1 - beta1 ** this.#steps),
      squareScale: 1 / (1 - beta2 ** this.#steps),
    };
    parametersOf(gradients).forEach((gradient, i) => {
      const [parameter, mean, square] = [this.#parameters[i], this.#means[i], this.#squares[i]];
      if (parameter === undefined || mean === undefined || square === undefined) return;
      adamw(parameter, gradient, mean, square, { rate, beta1, beta2, eps, decay, ...scales });
    });
  }

  [Symbol.dispose](): void {
    for (const tensor of [...this.#means, ...this.#squares]) tensor.dispose();
  }
}

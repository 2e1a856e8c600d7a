/** The weights of a model by the names that checkpoints of Llama models have for them. */
import type { Device, Tensor } from "@tri/tri/ffi";
import type { Float, LayerWeights, ModelSizes, ModelWeights } from "./model.ts";

/** Gives the tensor with a checkpoint's name and this shape. */
export type TakeWeights<D extends Float> = (name: string, shape: readonly number[]) => Tensor<D>;

/** Name in a checkpoint and shape of each of a layer's weights. */
function layerShapes(
  { width, heads, keyHeads, headSize, hidden }: ModelSizes,
): Readonly<Record<keyof LayerWeights<Float>, readonly [name: string, ...shape: number[]]>> {
  const [queries, keys] = [heads * headSize, keyHeads * headSize];
  return {
    attentionNorm: ["input_layernorm", width],
    query: ["self_attn.q_proj", queries, width],
    key: ["self_attn.k_proj", keys, width],
    value: ["self_attn.v_proj", keys, width],
    output: ["self_attn.o_proj", width, queries],
    hiddenNorm: ["post_attention_layernorm", width],
    gate: ["mlp.gate_proj", hidden, width],
    up: ["mlp.up_proj", hidden, width],
    down: ["mlp.down_proj", width, hidden],
  };
}

/** Takes all weights. `isTied` says that the checkpoint has one tensor for tokens in and tokens out. */
export function takeWeights<D extends Float>(
  sizes: ModelSizes,
  isTied: boolean,
  take: TakeWeights<D>,
): ModelWeights<D> {
  const { vocabulary, width } = sizes;
  const matrix = (name: string, rows: number, columns: number): Tensor<D, 2> =>
    take(`${name}.weight`, [rows, columns]).reshape([rows, columns]);
  const vector = (name: string, length: number): Tensor<D, 1> =>
    take(`${name}.weight`, [length]).reshape([length]);
  const table = matrix("model.embed_tokens", vocabulary, width);
  const shapes = layerShapes(sizes);
  const layers = Array.from({ length: sizes.layers }, (_, i) => {
    const named = (name: string): string => `model.layers.${i}.${name}`;
    const one = ([name, length = 0]: readonly [string, ...number[]]): Tensor<D, 1> =>
      vector(named(name), length);
    const two = ([name, rows = 0, columns = 0]: readonly [string, ...number[]]): Tensor<D, 2> =>
      matrix(named(name), rows, columns);
    return {
      attentionNorm: one(shapes.attentionNorm),
      query: two(shapes.query),
      key: two(shapes.key),
      value: two(shapes.value),
      output: two(shapes.output),
      hiddenNorm: one(shapes.hiddenNorm),
      gate: two(shapes.gate),
      up: two(shapes.up),
      down: two(shapes.down),
    };
  });
  const head = isTied ? table : matrix("lm_head", vocabulary, width);
  return { table, layers, lastNorm: vector("model.norm", width), head };
}

/** Weights to start training with: normalisations are 1, products uniform in ±1 / sqrt(inputs). */
export function initialWeights(
  device: Device,
  sizes: ModelSizes,
  uniform: () => number,
): ModelWeights<"float32"> {
  return takeWeights<"float32">(sizes, false, (_, shape) => {
    const [length = 0, inputs] = shape;
    if (inputs === undefined) return device.tensor(new Float32Array(length).fill(1));
    const values = Float32Array.from(
      { length: length * inputs },
      () => (2 * uniform() - 1) / Math.sqrt(inputs),
    );
    return device.tensor(values, [length, inputs]);
  });
}

/** Frees all weights. */
export function disposeWeights<D extends Float>(
  { table, layers, lastNorm, head }: ModelWeights<D>,
): void {
  for (
    const tensor of [
      table,
      lastNorm,
      head,
      ...layers.flatMap((layer) => Object.values(layer)),
    ]
  ) {
    tensor.buffer[Symbol.dispose]();
  }
}

/** The weights of GPT-2 from one local file of safetensors, by the names that its checkpoints have for them. */
import type { Device, Tensor } from "@tri/tri/ffi";
import { openSafetensors, type SafetensorsFile } from "@tri/tri/formats";
import { CheckpointError, floatOf } from "./checkpoint.ts";
import type { Float } from "./model.ts";

/** A matrix [inputs, outputs] with the numbers that are added to each output. */
export interface Gpt2Linear<D extends Float> {
  readonly weight: Tensor<D, 2>;
  readonly bias: Tensor<D, 1>;
}

/** Factors and shifts of a layer normalisation. */
export interface Gpt2Norm<D extends Float> {
  readonly weight: Tensor<D, 1>;
  readonly bias: Tensor<D, 1>;
}

export interface Gpt2Layer<D extends Float> {
  readonly attentionNorm: Gpt2Norm<D>;
  /** Queries, keys and values side by side. */
  readonly queryKeyValue: Gpt2Linear<D>;
  readonly output: Gpt2Linear<D>;
  readonly hiddenNorm: Gpt2Norm<D>;
  readonly up: Gpt2Linear<D>;
  readonly down: Gpt2Linear<D>;
}

export interface Gpt2Weights<D extends Float> {
  /** [vocabulary, width]; its transpose makes the scores. */
  readonly table: Tensor<D, 2>;
  /** [positions, width] */
  readonly positions: Tensor<D, 2>;
  readonly layers: readonly Gpt2Layer<D>[];
  readonly lastNorm: Gpt2Norm<D>;
}

/** Elements of a head, in every GPT-2; the attention kernel has a variant for it. */
export const HEAD_SIZE = 64;

/** Checkpoints of the bare model have the names, those of the model with its output begin with this. */
const PREFIX = "transformer.";

/**
 * Reads a model onto a device, in the type that it is stored in. Sizes follow from the shapes. What else the file has, such as
 * the masks of old checkpoints or the tied `lm_head.weight`, is not read. Throws `CheckpointError`, `TensorFileError`.
 */
export function loadGpt2(device: Device, path: string): Gpt2Weights<Float> {
  using file = openSafetensors(path);
  const taken: Tensor<Float>[] = [];
  try {
    return takeGpt2(file, (name) => {
      const tensor = file.get(name).toDevice(device) as Tensor<Float>;
      taken.push(tensor);
      return tensor;
    });
  } catch (error) {
    for (const tensor of taken) tensor.buffer[Symbol.dispose]();
    throw error;
  }
}

function takeGpt2(
  file: SafetensorsFile,
  toDevice: (name: string) => Tensor<Float>,
): Gpt2Weights<Float> {
  const prefix = file.has(`${PREFIX}wte.weight`) ? PREFIX : "";
  const table = file.get(`${prefix}wte.weight`);
  const dtype = floatOf(table.dtype);
  const width = table.shape[1] ?? 0;
  if (width === 0 || width % HEAD_SIZE !== 0) {
    throw new CheckpointError(`wte.weight is ${table}: its rows are not heads of ${HEAD_SIZE}`);
  }
  const take = (name: string, shape: readonly number[]): Tensor<Float> => {
    const stored = file.get(`${prefix}${name}`);
    if (stored.dtype !== dtype || `${stored.shape}` !== `${shape}`) {
      throw new CheckpointError(`${name} is ${stored}, not ${dtype}[${shape.join(", ")}]`);
    }
    return toDevice(`${prefix}${name}`);
  };
  const vector = (name: string, length: number): Tensor<Float, 1> =>
    take(name, [length]).reshape([length]);
  const matrix = (name: string, rows: number, columns: number): Tensor<Float, 2> =>
    take(name, [rows, columns]).reshape([rows, columns]);
  const norm = (name: string): Gpt2Norm<Float> => ({
    weight: vector(`${name}.weight`, width),
    bias: vector(`${name}.bias`, width),
  });
  const linear = (name: string, inputs: number, outputs: number): Gpt2Linear<Float> => ({
    weight: matrix(`${name}.weight`, inputs, outputs),
    bias: vector(`${name}.bias`, outputs),
  });
  const layers: Gpt2Layer<Float>[] = [];
  for (let name = "h.0"; file.has(`${prefix}${name}.ln_1.weight`); name = `h.${layers.length}`) {
    layers.push({
      attentionNorm: norm(`${name}.ln_1`),
      queryKeyValue: linear(`${name}.attn.c_attn`, width, 3 * width),
      output: linear(`${name}.attn.c_proj`, width, width),
      hiddenNorm: norm(`${name}.ln_2`),
      up: linear(`${name}.mlp.c_fc`, width, 4 * width),
      down: linear(`${name}.mlp.c_proj`, 4 * width, width),
    });
  }
  const [positions = 0] = file.get(`${prefix}wpe.weight`).shape;
  return {
    table: matrix("wte.weight", table.shape[0] ?? 0, width),
    positions: matrix("wpe.weight", positions, width),
    layers,
    lastNorm: norm("ln_f"),
  };
}

/** Models of the Llama shape as Hugging Face stores them: a folder with config.json and safetensors, in one file or several. */
import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import type { Device, Tensor } from "@tri/tri/ffi";
import { openSafetensors, type SafetensorsFile } from "@tri/tri/formats";
import type { Float, ModelSizes, ModelWeights } from "./model.ts";
import { takeWeights } from "./weights.ts";

/** A checkpoint that cannot be used; the message says why. */
export class CheckpointError extends Error {
  override name = "CheckpointError";
}

export interface Checkpoint {
  readonly sizes: ModelSizes;
  readonly weights: ModelWeights<Float>;
}

const FLOATS: readonly Float[] = ["float32", "float16", "bfloat16"];

/** Reads a model onto a device, in the type that it is stored in. Throws `CheckpointError`, `TensorFileError`. */
export function loadCheckpoint(device: Device, folder: string): Checkpoint {
  const config = path.join(folder, "config.json");
  if (!existsSync(config)) throw new CheckpointError(`there is no ${config}`);
  const { sizes, isTied } = readSizes(readJson(config));
  const files = openFiles(folder);
  try {
    const dtype = floatOf(
      files.of("model.embed_tokens.weight").get("model.embed_tokens.weight").dtype,
    );
    const weights = takeWeights<Float>(sizes, isTied, (name, shape) => {
      const stored = files.of(name).get(name);
      if (stored.dtype !== dtype || `${stored.shape}` !== `${shape}`) {
        throw new CheckpointError(
          `${name} is ${stored.dtype}[${stored.shape.join(", ")}], not ${dtype}[${
            shape.join(", ")
          }] as config.json says`,
        );
      }
      return stored.toDevice(device) as Tensor<Float>;
    });
    return { sizes, weights };
  } finally {
    files.close();
  }
}

/** The type as one that a model can have. Throws `CheckpointError`. */
export function floatOf(dtype: string): Float {
  const found = FLOATS.find((float) => float === dtype);
  if (found === undefined) {
    throw new CheckpointError(`weights of ${dtype} are not supported: ${FLOATS.join(", ")} are`);
  }
  return found;
}

/** The sizes in config.json, by its names. */
function readSizes(
  config: Readonly<Record<string, unknown>>,
): { sizes: ModelSizes; isTied: boolean } {
  const number = (name: string, otherwise?: number): number => {
    const value = config[name] ?? otherwise;
    if (typeof value !== "number") throw new CheckpointError(`config.json has no number ${name}`);
    return value;
  };
  const rotaryBase = rotaryBaseOf(config) ?? number("rope_theta", 10000);
  const [width, heads] = [number("hidden_size"), number("num_attention_heads")];
  const headSize = number("head_dim", width / heads);
  if (headSize !== 64 && headSize !== 128) {
    throw new CheckpointError(
      `heads of ${headSize} elements: the attention kernel has variants for 64 and 128`,
    );
  }
  const sizes = {
    vocabulary: number("vocab_size"),
    width,
    layers: number("num_hidden_layers"),
    heads,
    keyHeads: number("num_key_value_heads", heads),
    headSize,
    hidden: number("intermediate_size"),
    eps: number("rms_norm_eps"),
    rotaryBase,
  };
  return { sizes, isTied: config["tie_word_embeddings"] === true };
}

/** The base of positions where newer versions of transformers write it; both forms may ask for what is not computed. */
function rotaryBaseOf(config: Readonly<Record<string, unknown>>): number | undefined {
  const { rope_parameters: parameters, rope_scaling: scaling } = config;
  const of = (value: unknown): Readonly<Record<string, unknown>> => Object(value ?? {});
  const kind = of(parameters)["rope_type"] ?? "default";
  if (kind !== "default" || Object.keys(of(scaling)).length > 0) {
    const name = kind === "default" ? "rope_scaling" : `rope_parameters of type ${kind}`;
    throw new CheckpointError(`config.json has ${name}, which this example does not compute`);
  }
  const base = of(parameters)["rope_theta"];
  return typeof base === "number" ? base : undefined;
}

function readJson(file: string): Readonly<Record<string, unknown>> {
  const value = parseJson(readFileSync(file, "utf8"));
  if (typeof value !== "object" || value === null) {
    throw new CheckpointError(`${file} is no JSON object`);
  }
  return Object.fromEntries(Object.entries(value));
}

/** Undefined for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The files of a checkpoint: each is opened when the first of its tensors is asked for. */
function openFiles(folder: string): { of(name: string): SafetensorsFile; close(): void } {
  const opened = new Map<string, SafetensorsFile>();
  const open = (file: string): SafetensorsFile => {
    const known = opened.get(file) ?? openSafetensors(path.join(folder, file));
    opened.set(file, known);
    return known;
  };
  const fileOf = shardsIn(folder);
  return {
    of: (name) => open(fileOf(name)),
    close: () => {
      for (const file of opened.values()) file[Symbol.dispose]();
    },
  };
}

/** Which file has a tensor: large checkpoints have an index. */
function shardsIn(folder: string): (name: string) => string {
  let index: Readonly<Record<string, unknown>>;
  try {
    index = readJson(path.join(folder, "model.safetensors.index.json"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return () => "model.safetensors";
    }
    throw error;
  }
  const shards = new Map(Object.entries(index["weight_map"] ?? {}));
  return (name) => {
    const file: unknown = shards.get(name);
    if (typeof file !== "string") {
      throw new CheckpointError(`model.safetensors.index.json has no ${name}`);
    }
    return file;
  };
}

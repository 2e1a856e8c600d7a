/** Checkpoints: what is written by name is read back as the same model, and what does not fit is refused. */
import * as path from "node:path";
import { Device } from "../../ffi/mod.ts";
import { writeSafetensors } from "../../formats/mod.ts";
import { CheckpointError, loadCheckpoint } from "../../examples/language_model/checkpoint.ts";
import { disposeWeights, takeWeights } from "../../examples/language_model/weights.ts";
import { must } from "../../compiler/support/bug.ts";
import {
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(2);

const CONFIG = {
  vocab_size: 5,
  hidden_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 64,
  intermediate_size: 7,
  rms_norm_eps: 1e-6,
  rope_theta: 5e5,
};
const SIZES = {
  vocabulary: 5,
  width: 24,
  layers: 1,
  heads: 2,
  keyHeads: 1,
  headSize: 64,
  hidden: 7,
  eps: 1e-6,
  rotaryBase: 5e5,
};

/** Random bits of bfloat16 for every weight of a model. */
function randomBits(
  device: Device,
  isTied: boolean,
): Map<string, { shape: readonly number[]; data: Uint16Array<ArrayBuffer> }> {
  const random = freshRandom();
  const bits = new Map<string, { shape: readonly number[]; data: Uint16Array<ArrayBuffer> }>();
  const weights = takeWeights<"bfloat16">(SIZES, isTied, (name, shape) => {
    const data = Uint16Array.from(
      { length: shape.reduce((a, b) => a * b) },
      () => 0x3f00 + random.below(0x80),
    );
    bits.set(name, { shape, data });
    return device.tensor(data, shape, { dtype: "bfloat16" });
  });
  disposeWeights(weights);
  return bits;
}

function inFolder(test: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    test(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const writeJson = (folder: string, name: string, value: unknown): void =>
  Deno.writeTextFileSync(path.join(folder, name), JSON.stringify(value));

for (const shards of [1, 2]) {
  Deno.test(`loadCheckpoint() reads the weights of ${shards} files by their names`, () => {
    inFolder((folder) => {
      using device = Device.open({ device: "emulator", workers: 1 });
      const isTied = shards === 1;
      const bits = randomBits(device, isTied);
      const files = shards === 1 ? ["model.safetensors"] : ["one.safetensors", "two.safetensors"];
      const fileOf = (i: number): string => must(files[i % shards], "file");
      files.forEach((file) => {
        const inside = [...bits].filter((_, i) => fileOf(i) === file)
          .map(([name, { shape, data }]) => [name, { shape, data, dtype: "bfloat16" }] as const);
        writeSafetensors(path.join(folder, file), Object.fromEntries(inside));
      });
      // Where transformers of version 4 and of version 5 write the base of positions.
      const { rope_theta, ...newer } = CONFIG;
      const form = isTied
        ? { ...newer, rope_theta, rope_scaling: null }
        : { ...newer, rope_parameters: { rope_type: "default", rope_theta } };
      writeJson(folder, "config.json", { ...form, tie_word_embeddings: isTied });
      if (shards > 1) {
        const map = Object.fromEntries([...bits.keys()].map((name, i) => [name, fileOf(i)]));
        writeJson(folder, "model.safetensors.index.json", { weight_map: map });
      }
      const { sizes, weights } = loadCheckpoint(device, folder);
      assertEquals(sizes, SIZES);
      const numbers = (name: string): number[] =>
        [...must(bits.get(name), name).data].map((half) =>
          new Float32Array(Uint32Array.of(half * 65536).buffer)[0] ?? 0
        );
      assertEquals(numbersOf(weights.table), numbers("model.embed_tokens.weight"));
      assertEquals(weights.head === weights.table, isTied);
      const [layer] = weights.layers;
      assertEquals(
        numbersOf(must(layer, "layer").key),
        numbers("model.layers.0.self_attn.k_proj.weight"),
      );
      assertEquals(must(layer, "layer").down.shape, [24, 7]);
      disposeWeights(weights);
    });
  });
}

Deno.test("loadCheckpoint() refuses what does not fit", () => {
  inFolder((folder) => {
    using device = Device.open({ device: "emulator", workers: 1 });
    const refused = (message: string): void => {
      assertThrows(() => loadCheckpoint(device, folder), CheckpointError, message);
    };
    refused("there is no ");
    writeJson(folder, "config.json", { ...CONFIG, head_dim: 80 });
    refused("heads of 80 elements: the attention kernel has variants for 64 and 128");
    writeJson(folder, "config.json", { ...CONFIG, rope_scaling: { factor: 8 } });
    refused("rope_scaling");
    const { rope_theta: _, ...newer } = CONFIG;
    writeJson(folder, "config.json", { ...newer, rope_parameters: { rope_type: "llama3" } });
    refused("rope_parameters of type llama3");
    writeJson(folder, "config.json", { ...CONFIG, vocab_size: "5" });
    refused("config.json has no number vocab_size");
    writeJson(folder, "config.json", CONFIG);
    const table = { data: new Float32Array(6), shape: [2, 3] };
    writeSafetensors(path.join(folder, "model.safetensors"), {
      "model.embed_tokens.weight": table,
    });
    refused("model.embed_tokens.weight is float32[2, 3], not float32[5, 24] as config.json says");
  });
});

test("continue.ts says in one line what a folder lacks", async () => {
  const folder = Deno.makeTempDirSync();
  const module = new URL("../../examples/language_model/continue.ts", import.meta.url);
  const says = async (): Promise<string> => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "-A", "--no-check", module.pathname, folder, "1", "2"],
      env: { TRI_DEVICE: "emulator" },
    }).output();
    assertEquals(code, 1);
    return new TextDecoder().decode(stderr).replaceAll(`${folder}${path.sep}`, "");
  };
  try {
    assertEquals(await says(), "continue.ts: there is no config.json\n");
    Deno.writeTextFileSync(path.join(folder, "config.json"), "{");
    assertEquals(await says(), "continue.ts: config.json is no JSON object\n");
    writeJson(folder, "config.json", CONFIG);
    assertStringIncludes(await says(), "model.safetensors");
    Deno.writeTextFileSync(path.join(folder, "model.safetensors"), "none");
    assertMatch(await says(), /^continue\.ts: model\.safetensors.*\nhint: .*\n$/);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

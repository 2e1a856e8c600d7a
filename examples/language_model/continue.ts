/**
 * Continues a list of tokens with a model from local files and prints the tokens and their rate: a folder with a model of the
 * Llama shape, or one file of safetensors with a GPT-2. Tokens are numbers: the model's tokenizer turns text into them and back.
 *
 *     deno run -P=gpu examples/language_model/continue.ts FOLDER 1,15043,3186 64
 *     deno run -P=gpu examples/language_model/continue.ts gpt2.safetensors 15496,995 64
 */
// deno-lint-ignore-file no-console -- an example prints
import { Device } from "@tri/tri/ffi";
import { TensorFileError } from "@tri/tri/formats";
import { CheckpointError, loadCheckpoint } from "./checkpoint.ts";
import { type Advancing, generate, Session } from "./generate.ts";
import { Gpt2Session } from "./gpt2.ts";
import { loadGpt2 } from "./gpt2_weights.ts";

const [model, prompt = "1", count = "64"] = Deno.args;
const numbers = [...prompt.split(","), count].map(Number);
if (model === undefined || !numbers.every((x) => Number.isInteger(x) && x >= 0)) {
  console.error("usage: continue.ts FOLDER|FILE.safetensors TOKEN,TOKEN,… COUNT");
  Deno.exit(2);
}
const tokens = Int32Array.from(prompt.split(","), Number);
using device = Device.open();
using session = open(device, model, tokens.length + Number(count));
const said: number[] = [];
let start = performance.now();
for await (const token of generate(device, session, tokens, Number(count))) {
  // The first token takes the whole prompt and loads the kernels.
  if (said.length === 0) start = performance.now();
  said.push(token);
}
const seconds = (performance.now() - start) / 1000;
console.log(said.join(","));
console.error(`${((said.length - 1) / seconds).toFixed(1)} tokens per second on ${device.label}`);

/** A session of the model; what its files lack is said in one line. */
function open(device: Device, path: string, capacity: number): Advancing & Disposable {
  try {
    if (path.endsWith(".safetensors")) return new Gpt2Session(loadGpt2(device, path), capacity);
    const { sizes, weights } = loadCheckpoint(device, path);
    return new Session(sizes, weights, capacity);
  } catch (error) {
    const isKnown = error instanceof CheckpointError || error instanceof TensorFileError ||
      error instanceof RangeError;
    if (!isKnown) throw error;
    console.error(`continue.ts: ${error.message}`);
    Deno.exit(1);
  }
}

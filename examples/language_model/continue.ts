/**
 * Continues a list of tokens with a model from a local folder and prints the tokens and their rate. Tokens are numbers: the
 * folder's tokenizer turns text into them and back.
 *
 *     deno run -P=gpu examples/language_model/continue.ts FOLDER 1,15043,3186 64
 */
// deno-lint-ignore-file no-console -- an example prints
import { Device } from "@tri/tri/ffi";
import { TensorFileError } from "@tri/tri/formats";
import { type Checkpoint, CheckpointError, loadCheckpoint } from "./checkpoint.ts";
import { generate, Session } from "./generate.ts";

const [folder, prompt = "1", count = "64"] = Deno.args;
const numbers = [...prompt.split(","), count].map(Number);
if (folder === undefined || !numbers.every((x) => Number.isInteger(x) && x >= 0)) {
  console.error("usage: continue.ts FOLDER TOKEN,TOKEN,… COUNT");
  Deno.exit(2);
}
const tokens = Int32Array.from(prompt.split(","), Number);
using device = Device.open();
const { sizes, weights } = load(device, folder);
using session = new Session(sizes, weights, tokens.length + Number(count));
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

/** What the folder lacks is said in one line. */
function load(device: Device, folder: string): Checkpoint {
  try {
    return loadCheckpoint(device, folder);
  } catch (error) {
    if (!(error instanceof CheckpointError || error instanceof TensorFileError)) throw error;
    console.error(`continue.ts: ${error.message}`);
    Deno.exit(1);
  }
}

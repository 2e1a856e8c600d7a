/**
 * Trains a small model on a sentence, letter by letter, and lets it continue from the first word. On a GPU this takes a
 * moment; on the emulator, with the number of steps as an argument, about a second a step.
 */
// deno-lint-ignore-file no-console -- an example prints
import { Device } from "@tri/tri/ffi";
import { generate, Session } from "./generate.ts";
import { Adam, lossAndGradients } from "./train.ts";
import { disposeWeights, initialWeights } from "./weights.ts";

const TEXT = "the cat sat on the mat and ate.";
const LETTERS = [...new Set(TEXT)].sort();
const SIZES = {
  vocabulary: LETTERS.length,
  width: 64,
  layers: 2,
  heads: 1,
  keyHeads: 1,
  headSize: 64,
  hidden: 128,
  eps: 1e-5,
  rotaryBase: 1e4,
};

/** Numbers in [0, 1), the same in every run (Lehmer's generator). */
function uniformFrom(seed: number): () => number {
  let state = seed;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}

const steps = Number(Deno.args[0] ?? 25);
const ids = [...TEXT].map((letter) => LETTERS.indexOf(letter));

using device = Device.open();
const weights = initialWeights(device, SIZES, uniformFrom(1));
using adam = new Adam(device, weights);
using tokens = device.tensor(Int32Array.from(ids.slice(0, -1)));
using labels = device.tensor(BigInt64Array.from(ids.slice(1), BigInt));
for (let step = 1; step <= steps; step++) {
  const { loss, weights: gradients } = lossAndGradients(SIZES, weights, tokens, labels);
  adam.step(gradients, { rate: 0.004 });
  if (step % 10 === 0 || step === steps) {
    const mean = (await loss.read()).reduce((a, b) => a + b) / loss.elements;
    console.log(`step ${step}: loss ${mean.toFixed(3)}`);
  }
  loss.dispose();
  disposeWeights(gradients);
}

using session = new Session(SIZES, weights, ids.length);
let said = TEXT.slice(0, 4);
for await (
  const token of generate(device, session, Int32Array.from(ids.slice(0, 4)), ids.length - 4)
) {
  said += LETTERS[token];
}
console.log(said);
disposeWeights(weights);

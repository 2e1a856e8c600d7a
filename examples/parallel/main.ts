/** Trains a network on all GPUs of this machine, or on two emulators: `deno run -P=gpu examples/parallel/main.ts [GPUS]`. */
// deno-lint-ignore-file no-console -- an example prints
import { Device } from "@tri/tri/ffi";
import { openCommunicators } from "@tri/tri/ffi/nccl";
import { shareWeights, trainStep, type Weights } from "./data_parallel.ts";

const [INPUTS, HIDDEN, SAMPLES, STEPS] = [3, 16, 32, 20];

const gpus = Number(Deno.args[0] ?? 0);
const devices = Array.from(
  { length: gpus || 2 },
  (_, i) => Device.open({ device: gpus === 0 ? "emulator" : i }),
);
const ranks = openCommunicators(devices);
const wave = (count: number, factor: number): Float32Array<ArrayBuffer> =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(factor * (i + 1)));
let weights: readonly Weights[] = devices.map((device, i) => ({
  first: device.tensor(wave(INPUTS * HIDDEN, 1.7 + i), [INPUTS, HIDDEN]),
  second: device.tensor(wave(HIDDEN, 2.3 + i), [HIDDEN, 1]),
}));
shareWeights(ranks, weights);
const samples = devices.map((device, i) => {
  const x = wave(SAMPLES * INPUTS, 0.7 + i);
  const wanted = Float32Array.from(
    { length: SAMPLES },
    (_, row) => Math.abs(x[row * INPUTS] ?? 0) - (x[row * INPUTS + 1] ?? 0),
  );
  return {
    inputs: device.tensor(x, [SAMPLES, INPUTS]),
    wanted: device.tensor(wanted, [SAMPLES, 1]),
  };
});
for (let i = 0; i < STEPS; i++) weights = trainStep(ranks, weights, samples, 0.05);
for (const [rank, { second }] of weights.entries()) {
  console.log(`rank ${rank}: ${[...await second.read()].slice(0, 4).map((w) => w.toFixed(4))}`);
}
ranks[0]?.[Symbol.dispose]();
for (const device of devices) device[Symbol.dispose]();

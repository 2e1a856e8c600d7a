/** The shipped kernels on rows and their derivatives, on the emulator. */
import {
  checkCrossEntropy,
  checkNormDerivatives,
  checkNorms,
  checkSoftmax,
  FLOATS,
  type Size,
} from "../support/kernels/rows.ts";
import { sampled } from "../support/sampled.ts";
import { everyTarget } from "./devices.ts";

/** Odd, one element, several rows to a program and to a warp, not all of them there; then of each aligned instance. */
const SIZES: readonly Size[] = [
  [3, 781, 3],
  [3, 1, 2],
  [35, 5, 0],
  [1, 2051, 1],
  [3, 200, 0],
  [21, 203, 1],
  [3, 504, 8],
  [1, 1024, 0],
  [2, 1512, 0],
  [1, 3000, 0],
  [1, 4104, 0],
];

/** Longer than the tile of that type, of its general or of its aligned instance, or just what that takes. */
const LONG: Readonly<Record<typeof FLOATS[number], Size>> = {
  float32: [1, 8197, 0],
  float16: [1, 16400, 0],
  bfloat16: [1, 12000, 0],
  float64: [2, 8195, 1],
};

/** Types with sizes: each in one run or another, since types have the same text. Rows of 16 Ki elements take seconds. */
function casesOf(salt: number): readonly (readonly [typeof FLOATS[number], Size])[] {
  const short = FLOATS.flatMap((dtype, index) =>
    sampled(SIZES, 3, salt + index).map((size) => [dtype, size] as const)
  );
  return [...short, ...sampled(FLOATS, 1, salt).map((dtype) => [dtype, LONG[dtype]] as const)];
}

everyTarget("softmax() makes rows of any length sum to one, on {}", ["softmax"], (device) => {
  for (const [dtype, size] of casesOf(0)) checkSoftmax(device, dtype, size);
});

everyTarget("layerNorm() and rmsNorm() normalise rows of any length, on {}", [
  "layer_norm",
  "rms_norm",
], (device) => {
  for (const [dtype, size] of casesOf(8)) checkNorms(device, dtype, size);
});

everyTarget("layerNormBackward() and rmsNormBackward() are their derivatives, on {}", [
  "layer_norm",
  "rms_norm",
  "reduce_sum",
], (device) => {
  for (const dtype of sampled(FLOATS, 2, 24)) {
    checkNormDerivatives(device, dtype, [67, 70, 2], 2);
    checkNormDerivatives(device, dtype, [2, 1024, 0], 1);
  }
  checkNormDerivatives(device, "float64", LONG.float64, 1);
});

everyTarget("crossEntropy() compares rows of any length with their labels, on {}", [
  "cross_entropy",
], (device) => {
  for (const [dtype, size] of casesOf(16)) checkCrossEntropy(device, dtype, size);
  // More rows than a group of programs has.
  checkCrossEntropy(device, "float32", [18, 2051, 1]);
});

// Blocks of a cluster where there are clusters, elsewhere loops.
everyTarget("rows that are longer than the tile of a block are as others, on {}", [
  "softmax",
  "layer_norm",
  "rms_norm",
  "norm_weights",
  "reduce_sum",
], (device) => {
  const [first = "float32", second = "float32"] = sampled(FLOATS, 2, 0);
  const checks = [
    () => checkSoftmax(device, first, [1, 33_000, 8]),
    () => checkNorms(device, second, [1, 33_000, 0]),
    () => checkNorms(device, second, [1, 20_000, 8]),
    () => checkNormDerivatives(device, first, [1, 16_400, 0], 1),
    () => checkSoftmax(device, first, [1, 33_001, 0]),
    () => checkNorms(device, second, [1, 33_001, 0]),
    () => checkNormDerivatives(device, first, [1, 16_401, 0], 1),
  ];
  for (const check of sampled(checks, 1)) check();
});

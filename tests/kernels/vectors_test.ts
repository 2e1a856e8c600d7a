/** The shipped kernels on vectors, on the emulator: sums and dropout. */
import { dropout } from "../../generated/dropout.ts";
import { numbersOf, vectorOf } from "../support/numbers.ts";
import { assertEquals } from "../support/assert.ts";
import {
  checkDropout,
  checkReduceSum,
  checkReduceSumBits,
  checkSumRows,
  SUMS,
} from "../support/kernels/reductions.ts";
import { halfOf } from "../support/sampled.ts";
import { everyTarget } from "./devices.ts";

everyTarget(
  "reduceSum() and atomicSum() add vectors of any length, on {}",
  ["reduce_sum"],
  (device) => {
    for (const dtype of halfOf(SUMS, 15)) {
      for (const length of [1, 4097, 9000]) checkReduceSum(device, dtype, length);
    }
    checkReduceSumBits(device, 20_001, 2);
  },
);

everyTarget("sumRows() adds the rows of matrices of any size, on {}", ["reduce_sum"], (device) => {
  for (const dtype of halfOf(SUMS, 16)) {
    for (const size of [[1, 1], [130, 67]] as const) checkSumRows(device, dtype, size);
  }
});

everyTarget(
  "dropout() drops about as much as asked, the same for the same seed, on {}",
  ["dropout"],
  (device) => {
    for (const dtype of halfOf(dropout.variants)) checkDropout(device, dtype, 5003);
  },
);

everyTarget(
  "dropout() has one mask for a seed, whatever the element type and alignment, on {}",
  ["dropout"],
  (device) => {
    const ones = new Array<number>(4096).fill(1);
    const masks = dropout.variants.flatMap((dtype) =>
      [4096, 4095].map((length) => {
        using x = vectorOf(device, dtype, ones.slice(0, length));
        using y = dropout(x, { p: 0.5, seed: 7n });
        return numbersOf(y).slice(0, 4095).map((value) => value !== 0).join();
      })
    );
    assertEquals(new Set(masks).size, 1);
  },
);

/** The shipped vector addition on the emulator: every image, every variant, both instances, through the wrapper. */
import { vectorAdd } from "../../generated/vector_add.ts";
import { assertEquals } from "../support/assert.ts";
import { assertSum, randomAddition } from "../support/kernels/vectors.ts";
import { halfOf } from "../support/sampled.ts";
import { everyTarget } from "./devices.ts";

everyTarget("vectorAdd() adds vectors of any length, on {}", ["vector_add"], (device) => {
  for (const dtype of halfOf(vectorAdd.variants, 14)) {
    for (const length of [1, 1029, 1040]) {
      const { a, b, sum } = randomAddition(dtype, length);
      using x = device.tensor(a, [length], { dtype });
      using y = device.tensor(b, [length], { dtype });
      const { result, profile } = vectorAdd(x, y, { profile: true });
      assertSum(result.readSync(), sum, dtype);
      const isAligned = length % 16 === 0;
      assertEquals(profile.kernel, `vector_add_${dtype}${isAligned ? "_a16" : ""}`);
      result[Symbol.dispose]();
      vectorAdd(x, y, { out: y });
      assertSum(y.readSync(), sum, dtype);
    }
  }
});

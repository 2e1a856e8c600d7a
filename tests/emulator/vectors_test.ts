/** The shipped kernels on vectors, on the emulator: sums and dropout. */
import { dropout } from "../../generated/dropout.ts";
import { reduceSum } from "../../generated/reduce_sum.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertNear, numbersOf, randomNumbers, ROUNDING, vectorOf } from "../support/numbers.ts";
import { everyTarget } from "./devices.ts";

everyTarget("reduceSum() adds vectors of any length to what is there, on {}", (device) => {
  for (const dtype of reduceSum.variants) {
    const isInteger = dtype === "int32" || dtype === "int64";
    const total = isInteger || dtype === "float64" ? dtype : "float32";
    for (const length of [1, 4097, 9000]) {
      // Whole numbers: sums are exact in any order.
      const values = randomNumbers(isInteger ? "float32" : dtype, length, 100).map(Math.trunc);
      using x = vectorOf(device, dtype, isInteger ? values.map(BigInt) : values);
      using y = vectorOf(device, total, isInteger ? [5n] : [5]);
      reduceSum(x, y);
      assertEquals(numbersOf(y), [values.reduce((a, b) => a + b, 5)]);
    }
  }
});

everyTarget(
  "dropout() drops about as much as asked, the same for the same seed, on {}",
  (device) => {
    const [length, p] = [5003, 0.3];
    for (const dtype of dropout.variants) {
      const values = randomNumbers(dtype, length, 4).map((value) => value === 0 ? 1 : value);
      using x = vectorOf(device, dtype, values);
      const draw = (seed: bigint): number[] => {
        using y = dropout(x, { p, seed });
        return numbersOf(y);
      };
      const first = draw(42n);
      assertEquals(draw(42n), first);
      const dropped = first.filter((value) => value === 0).length;
      // Five standard deviations.
      assert(Math.abs(dropped - length * p) < 5 * Math.sqrt(length * p * (1 - p)), `${dropped}`);
      const scaled = values.map((value, i) => first[i] === 0 ? 0 : value / (1 - Math.fround(p)));
      assertNear(first, scaled, must(ROUNDING[dtype], "float") * 3, 1e-3, `dropout of ${x}`);
      assert(draw(43n).some((value, i) => (value === 0) !== (first[i] === 0)));
    }
  },
);

/** How long rows may be, and how many: kernels on rows loop over any length that their counters hold; wrappers refuse others. */
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { crossEntropyBackward } from "../../generated/cross_entropy.ts";
import { cumulativeSum } from "../../generated/cumulative_sum.ts";
import { softmax } from "../../generated/softmax.ts";
import { assertThrows } from "../support/assert.ts";

Deno.test("softmax(), cumulativeSum() and crossEntropyBackward() refuse what is too long", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.zeros("float32", [1, 4]);
  using one = device.zeros("float32", [1]);
  using label = device.zeros("int64", [1]);
  const rows = { X: x, Y: x, M: 1, ldx: 4, ldy: 4 };
  assertThrows(
    () => softmax.launch({ ...rows, N: 2 ** 31 }),
    ArgumentError,
    "from -2147483648 to 2147483647, got 2147483648",
  );
  const most = 2 ** 31 - 2 ** 15;
  const limit = "expected fewer than 2^31 - 2^15 elements in a row, got N = 2147450880";
  assertThrows(() => cumulativeSum.launch({ ...rows, N: most }), ArgumentError, limit);
  const derivative = { X: x, Label: label, Lse: one, DLoss: one, DX: x, N: 4, ldx: 4, lddx: 4 };
  assertThrows(
    () => crossEntropyBackward.launch({ ...derivative, M: 16 * 8 * 65535 + 1 }),
    ArgumentError,
    "expected an integer from 0 to 65535, got 65536",
  );
});

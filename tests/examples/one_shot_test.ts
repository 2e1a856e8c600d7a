/**
 * The one-shot all-reduce. Its ranks are programs of one launch here (one_shot/ranks.tc), because each emulator has its
 * memory for itself; the launches of several GPUs are in tests/gpu/two_gpus_test.ts.
 */
import { openOneShot } from "../../examples/parallel/one_shot.ts";
import { Device, type Tensor } from "../../ffi/mod.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { compileFile } from "../support/compile.ts";
import { FakeDriver } from "../support/driver/fake_driver.ts";
import { loadWrapper } from "../support/load_wrapper.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import { sampled } from "../support/sampled.ts";

type Launch = (x: Tensor, ...more: readonly unknown[]) => Tensor;

/** The two kernels of ranks.tc. */
async function ranksKernels(): Promise<Readonly<Record<number, Launch>>> {
  const file = new URL("one_shot/ranks.tc", import.meta.url);
  const { kernels } = compileFile({ name: "ranks.tc", text: Deno.readTextFileSync(file) }, {
    targets: ["sm_80"],
    include: (name) => ({ name, text: Deno.readTextFileSync(new URL(name, file)) }),
  });
  const load = async (name: string): Promise<Launch> => {
    const kernel = must(kernels.find((one) => one.name === name), name);
    const wrapper = await loadWrapper<Readonly<Record<string, Launch>>>(kernel);
    return must(wrapper[name], name);
  };
  return { 2: await load("ranks2"), 4: await load("ranks4") };
}

const KERNELS = await ranksKernels();
const [MAILBOX, SIGNALS] = [2 ** 21, 512];

for (const size of sampled([2, 4], 1)) {
  Deno.test(`the one-shot all-reduce of ${size} ranks gives every rank the same sums, launch after launch`, () => {
    const { unit, below } = freshRandom();
    using device = Device.open({ device: "emulator" });
    const dtype = "float16";
    const mailboxes = Array.from({ length: size }, () => device.empty(dtype, [MAILBOX / 2]));
    const signals = Array.from({ length: size }, () => device.zeros("int32", [SIGNALS]));
    // The counters have nearly wrapped.
    const before = 2 ** 31 - size;
    for (const one of signals) {
      one.write(Int32Array.from({ length: SIGNALS }, (_, i) => i < SIGNALS / 2 ? before : 0));
    }
    const epoch = before / size;
    for (const one of signals) one.narrow(0, SIGNALS / 2, SIGNALS / 2).fill(epoch);
    // Fewer elements than before leave programs out, which then take part again.
    for (const n of [1, 2049 + below(100), 3]) {
      const values = Float32Array.from({ length: size * n }, () => Math.fround(unit() - 0.5));
      const x = device.tensor(values, [size, n]).cast(dtype);
      const y = must(KERNELS[size], "kernel")(x, ...mailboxes, ...signals);
      const [rounded, sums] = [numbersOf(x), numbersOf(y)];
      for (let i = 0; i < n; i++) {
        let exact = 0;
        for (let rank = 0; rank < size; rank++) exact += must(rounded[rank * n + i], "element");
        for (let rank = 0; rank < size; rank++) {
          const sum = must(sums[rank * n + i], "sum");
          // Sums of at most four numbers below a half, rounded to float16 once.
          assert(
            Math.abs(sum - exact) <= 2 ** -10,
            `${n}, rank ${rank}, ${i}: ${sum}, not ${exact}`,
          );
          assertEquals(sum, sums[i]);
        }
      }
    }
  });
}

Deno.test("openOneShot() refuses devices without access to each other's memory, other numbers of them, and other counts", () => {
  using one = Device.open({ device: "emulator" });
  using other = Device.open({ device: "emulator" });
  assertThrows(() => openOneShot([one, other], "float32"), ArgumentError, "can access");
  assertThrows(() => openOneShot([one], "float32"), ArgumentError, "2 or 4 devices");
  const driver = new FakeDriver({ devices: [{}, {}] });
  const devices = [0, 1].map((ordinal) => Device.fromDriver(driver, ordinal));
  using oneShot = openOneShot(devices, "float32");
  const calls = devices.map((device, rank) => ({
    input: device.zeros("float32", [4 + rank]),
    output: device.zeros("float32", [4 + rank]),
  }));
  assertThrows(() => oneShot.allReduce(calls), ArgumentError, "4 elements, as on rank 0");
});

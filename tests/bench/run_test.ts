import { benchmark, type BenchmarkDefinition, isBenchmark } from "../../bench/define.ts";
import { NoTimesError } from "../../bench/measure.ts";
import { DEFAULT_TIMING } from "../../bench/timing.ts";
import { BenchmarkError, describeDevice, runBenchmark } from "../../bench/run.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import type { Tensor } from "../../ffi/tensors/tensor.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../support/assert.ts";
import { TimedDevice } from "./support.ts";

const TIMING = { ...DEFAULT_TIMING, rounds: 3 };

interface Inputs {
  readonly tensor: Tensor;
}

/** Two lines that take x and 2x microseconds, one from elsewhere, one with gaps. */
function definition(timed: TimedDevice): BenchmarkDefinition<Inputs> {
  return {
    name: "doubled",
    title: "Doubled",
    x: { names: ["N"], values: [500, 1000] },
    measure: { unit: "GB/s", bytes: (n) => 4 * n },
    inputs: ({ device, x, keep }) => ({ tensor: keep(device.zeros("float32", [x])) }),
    lines: {
      one: { label: "One", prepare: (_, { x }) => timed.kernel(`one${x}`, () => x / 1000) },
      elsewhere: { label: "Elsewhere", prepare: () => ({ milliseconds: [0.123456789, 7] }) },
      gaps: {
        label: "Gaps",
        prepare: ({ tensor }, { x }) =>
          Promise.resolve(
            tensor.elements === 500 ? undefined : timed.kernel("gaps", () => x / 500),
          ),
      },
    },
  };
}

Deno.test("runBenchmark() measures every point and keeps recorded times", async () => {
  using timed = new TimedDevice();
  const points: number[] = [];
  const record = await runBenchmark(benchmark(definition(timed)), timed.device, {
    timing: TIMING,
    onPoint: (_, x) => points.push(x),
  });
  assertEquals(record, {
    name: "doubled",
    title: "Doubled",
    x: { names: ["N"], scale: "log" },
    unit: "GB/s",
    lines: [
      { name: "one", label: "One" },
      { name: "elsewhere", label: "Elsewhere" },
      { name: "gaps", label: "Gaps" },
    ],
    rows: [
      { x: 500, work: 2000, times: { one: [0.5, 0.5, 0.5], elsewhere: [0.123457, 7] } },
      { x: 1000, work: 4000, times: { one: [1, 1, 1], elsewhere: [0.123457, 7], gaps: [2, 2, 2] } },
    ],
  });
  assertEquals(points, [500, 1000]);
});

Deno.test("runBenchmark() disposes what a point kept, also after a failure, and says where it failed", async () => {
  using timed = new TimedDevice();
  const kept: Tensor[] = [];
  const broken = benchmark({
    ...definition(timed),
    inputs: ({ device, keep }) => {
      const tensor = keep(device.zeros("float32", [8]));
      kept.push(tensor);
      return { tensor };
    },
    lines: {
      bad: {
        label: "Bad",
        prepare: () => {
          throw new Error("out of luck");
        },
      },
    },
  });
  await assertRejects(
    () => runBenchmark(broken, timed.device, { timing: TIMING }),
    BenchmarkError,
    "Benchmark doubled, N = 500: out of luck",
  );
  assertEquals(kept.map(({ disposed }) => disposed), [true]);
});

Deno.test("runBenchmark() makes no inputs on the emulator, which has no times", async () => {
  using timed = new TimedDevice("emulator");
  await assertRejects(
    () => runBenchmark(benchmark(definition(timed)), timed.device),
    NoTimesError,
    "it has no times",
  );
});

Deno.test("benchmark() refuses what cannot be drawn or named", () => {
  using timed = new TimedDevice();
  const good = definition(timed);
  const axis = (values: readonly number[]): BenchmarkDefinition<Inputs> => ({
    ...good,
    x: { names: ["N"], values },
  });
  const cases = [
    [{ ...good, name: "a b" }, "Argument name: expected letters, digits, _ and -"],
    [{ ...good, lines: {} }, "Argument lines: expected at least one line"],
    [{ ...good, x: { names: [], values: [1] } }, "Argument x.names: expected at least one name"],
    [axis([]), "Argument x.values: expected at least one value"],
    [axis([2, 2]), "Argument x.values: expected each value once, got [2, 2]"],
    [axis([0]), "Argument x.values: expected positive numbers, got [0]"],
  ] as const;
  for (const [bad, message] of cases) assertThrows(() => benchmark(bad), ArgumentError, message);
  assert(isBenchmark(benchmark(good)) && !isBenchmark(good) && !isBenchmark(null));
});

Deno.test("describeDevice() names GPU, architecture and driver", () => {
  using timed = new TimedDevice();
  assertEquals(describeDevice(timed.device), {
    name: "Fake GPU",
    arch: "sm_90",
    driver: "CUDA 13.0",
  });
});

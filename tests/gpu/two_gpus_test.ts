/** Two GPUs in one program, in turns: what one of them is asked for must not reach the other. */
import { ArgumentError, Device, type Tensor } from "../../ffi/mod.ts";
import { vectorAdd } from "../../generated/vector_add.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "../support/assert.ts";
import { gpuCount, gpuTest } from "../support/gpu.ts";
import { freshRandom } from "../support/random.ts";

const ONE_GPU = gpuCount < 2 ? "one GPU" : undefined;
const N = 100_003;

/** Integers, whose sums are exact. */
function operands(device: Device): {
  readonly x: Tensor<"float32", 1>;
  readonly y: Tensor<"float32", 1>;
  readonly sum: Float32Array;
} {
  const random = freshRandom();
  const numbers = (): Float32Array<ArrayBuffer> =>
    Float32Array.from({ length: N }, () => random.below(2001) - 1000);
  const [x, y] = [numbers(), numbers()];
  return {
    x: device.tensor(x, [N]),
    y: device.tensor(y, [N]),
    sum: x.map((value, i) => value + (y[i] ?? 0)),
  };
}

gpuTest("Launches, graphs and events of two GPUs take turns in one program", async () => {
  const devices = [Device.open({ device: 0 }), Device.open({ device: 1 })];
  assertEquals(devices.map(({ info }) => info.ordinal), [0, 1]);
  const work = devices.map((device) => {
    const { x, y, sum } = operands(device);
    const out = device.tensor(new Float32Array(N).fill(NaN), [N]);
    return { device, stream: device.stream(), x, y, sum, out };
  });
  // Each step on both, so that every call finds the other's context current.
  const calls = work.map(({ x, y, out, stream }) => vectorAdd.prepare(x, y, { out, stream }));
  for (const call of calls) call();
  for (const { out, sum } of work) {
    assertEquals(await out.read(), sum);
    out.write(new Float32Array(N).fill(NaN));
  }
  const graphs = work.map(({ stream }, i) => stream.capture(() => void calls[i]?.()));
  const starts = work.map(({ device }) => device.event());
  const ends = work.map(({ device }) => device.event());
  work.forEach(({ stream }, i) => starts[i]?.record(stream));
  work.forEach(({ stream }, i) => graphs[i]?.launch(stream));
  work.forEach(({ stream }, i) => ends[i]?.record(stream));
  for (const [i, { out, sum }] of work.entries()) {
    await ends[i]?.finished();
    const [start, end] = [starts[i], ends[i]];
    assert(start !== undefined && end !== undefined && end.millisecondsSince(start) > 0);
    assertEquals(await out.read(), sum);
  }
  // The other one stays usable when one is disposed.
  devices[0]?.[Symbol.dispose]();
  const second = work[1];
  assert(second !== undefined);
  using again = vectorAdd(second.x, second.y);
  assertEquals(again.readSync(), second.sum);
  devices[1]?.[Symbol.dispose]();
}, ONE_GPU);

gpuTest("A launch refuses tensors of two GPUs", () => {
  using first = Device.open({ device: 0 });
  using second = Device.open({ device: 1 });
  assertNotEquals(first.label, second.label);
  const [x, y] = [first.zeros("float32", [8]), second.zeros("float32", [8])];
  assertThrows(() => vectorAdd(x, y), ArgumentError, "a tensor on");
}, ONE_GPU);

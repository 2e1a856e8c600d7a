/**
 * Several GPUs in one program. In turns: what one of them is asked for must not reach the other. Together: copies, memory of
 * one in kernels of another, NCCL, and the programs of examples/parallel, on two and four of them.
 */
import { type OneShotCall, openOneShot } from "../../examples/parallel/one_shot.ts";
import { openRowParallel } from "../../examples/parallel/row_parallel.ts";
import { type Samples, shareWeights, trainStep } from "../../examples/parallel/data_parallel.ts";
import { splitWeights, tensorParallel } from "../../examples/parallel/tensor_parallel.ts";
import {
  HEAD_SIZE,
  splitHeads,
  tensorParallelAttention,
} from "../../examples/parallel/tensor_parallel_attention.ts";
import { ArgumentError, canAccessPeer, Device, type Tensor, viewPeer } from "../../ffi/mod.ts";
import { type Communicator, group, openCommunicators } from "../../ffi/nccl/mod.ts";
import { must } from "../../compiler/support/bug.ts";
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

gpuTest(
  "Copies between two GPUs are in the order of both, and kernels read memory of the other one",
  async () => {
    using first = Device.open({ device: 0 });
    using second = Device.open({ device: 1 });
    const { x, y, sum } = operands(first);
    const there = second.empty("float32", [N]);
    // The copy waits for the sum; the sum that overwrites its source waits for the copy.
    const total = vectorAdd(x, y);
    there.copyFrom(total, { stream: second.stream() });
    vectorAdd(x, x, { out: total });
    assertEquals(await there.read(), sum);
    assertEquals(await total.read(), (await x.read()).map((value) => 2 * value));
    if (!canAccessPeer(second, first)) return;
    const seen = viewPeer(second, x);
    second.defaultStream.waitFor(first.defaultStream);
    using doubled = vectorAdd(seen, seen);
    assertEquals(doubled.readSync(), await total.read());
  },
  ONE_GPU,
);

/** Opens the GPUs and their communicators for a test. */
async function withRanks(
  size: number,
  body: (ranks: readonly Communicator[]) => void | Promise<void>,
): Promise<void> {
  const devices = Array.from({ length: size }, (_, i) => Device.open({ device: i }));
  try {
    const ranks = openCommunicators(devices);
    await body(ranks);
    ranks[0]?.[Symbol.dispose]();
  } finally {
    for (const device of devices) device[Symbol.dispose]();
  }
}

/** The same on emulators, whose results are those of the GPUs within rounding. */
async function onEmulators<T>(
  size: number,
  body: (ranks: readonly Communicator[]) => T,
): Promise<T> {
  const devices = Array.from({ length: size }, () => Device.open({ device: "emulator" }));
  const ranks = openCommunicators(devices);
  const result = await body(ranks);
  for (const device of devices) device[Symbol.dispose]();
  return result;
}

const reals = (count: number): Float32Array<ArrayBuffer> => {
  const { unit } = freshRandom();
  return Float32Array.from({ length: count }, () => unit() - 0.5);
};

function assertNear(actual: ArrayLike<number>, wanted: ArrayLike<number>, what: string): void {
  assertEquals(actual.length, wanted.length);
  for (let i = 0; i < wanted.length; i++) {
    const [a, b] = [actual[i] ?? NaN, wanted[i] ?? NaN];
    // Sums of fewer than 64 products below 1, or 256 of averages below 1, in other orders, or by TF32 where a kernel chooses it.
    assert(Math.abs(a - b) < 2 ** -6, `${what}, element ${i}: ${a}, not ${b}`);
  }
}

for (const size of [2, 4]) {
  const lacks = gpuCount < size ? `${gpuCount} GPUs` : undefined;

  gpuTest(
    `NCCL on ${size} GPUs: collectives, send and receive give what emulators give`,
    async () => {
      const run = (ranks: readonly Communicator[]): Int32Array[][] => {
        const numbers = ranks.map(({ device, rank }) =>
          device.tensor(Int32Array.from({ length: 8 * size }, (_, i) => (i + 1) * (rank + 3) % 17))
        );
        const outs = ranks.map(({ device }) => ({
          sum: device.empty("int32", [8 * size]),
          most: device.empty("int32", [8 * size]),
          part: device.empty("int32", [8]),
          all: device.empty("int32", [8 * size]),
          swapped: device.empty("int32", [8 * size]),
          passed: device.empty("int32", [8 * size]),
        }));
        group(() => {
          for (const [i, rank] of ranks.entries()) {
            const [x, { sum, most, part, swapped, passed }] = [
              must(numbers[i], "input"),
              must(outs[i], "outputs"),
            ];
            rank.allReduce(x, sum);
            rank.allReduce(x, most, { reduction: "max" });
            rank.reduceScatter(x, part);
            rank.allToAll(x, swapped);
            rank.send(x, (i + 1) % size);
            rank.receive(passed, (i + size - 1) % size);
          }
        });
        group(() => {
          for (const [i, rank] of ranks.entries()) {
            const { part, all } = must(outs[i], "outputs");
            rank.allGather(part, all);
            rank.broadcast(must(numbers[i], "input"), size - 1);
          }
        });
        return outs.map((own, i) =>
          [...Object.values(own), must(numbers[i], "input")].map((one) => one.readSync())
        );
      };
      const wanted = await onEmulators(size, run);
      await withRanks(size, (ranks) => assertEquals(run(ranks), wanted));
    },
    lacks,
  );

  gpuTest(
    `NCCL on ${size} GPUs: small calls that come again, between others, give what emulators give`,
    async () => {
      const [few, many] = [24 * size, 2 ** 15];
      const run = (ranks: readonly Communicator[]): Int32Array[][] => {
        const own = ranks.map(({ device }) => ({
          x: device.empty("int32", [few]),
          part: device.empty("int32", [24]),
          all: device.empty("int32", [few]),
          large: device.empty("int32", [many]),
          stream: device.stream(),
        }));
        const together = (
          body: (rank: Communicator, tensors: (typeof own)[number]) => void,
        ): void => group(() => ranks.forEach((rank, i) => body(rank, must(own[i], "tensors"))));
        const seen: Int32Array[][] = [];
        for (let round = 0; round < 6; round++) {
          for (const [i, { x, large }] of own.entries()) {
            x.write(Int32Array.from({ length: few }, (_, k) => (k + round) * (i + 3) % 17));
            large.write(Int32Array.from({ length: many }, (_, k) => (k + round) * (i + 2) % 19));
          }
          together((rank, { x, stream }) => rank.allReduce(x, x, { stream }));
          together((rank, { x, part }) => rank.reduceScatter(x, part, { reduction: "max" }));
          // Larger than what is replayed.
          together((rank, { large }) => rank.allReduce(large, large));
          together((rank, { part, all, stream }) => rank.allGather(part, all, { stream }));
          together((rank, { all }) => rank.allReduce(all, all));
          together((rank, { x, all }) => {
            rank.broadcast(x, round % size);
            rank.allReduce(all, all, { reduction: "min" });
          });
          seen.push(
            own.flatMap(({ x, part, all, large }) =>
              [x, part, all, large].map((one) => one.readSync())
            ),
          );
        }
        return seen;
      };
      const wanted = await onEmulators(size, run);
      await withRanks(size, (ranks) => assertEquals(run(ranks), wanted));
    },
    lacks,
  );

  gpuTest(
    `the one-shot all-reduce of ${size} GPUs gives every rank the same sums, also from graphs`,
    async () => {
      const devices = Array.from({ length: size }, (_, i) => Device.open({ device: i }));
      using oneShot = openOneShot(devices, "float32");
      for (const n of [1, 1023, 1025, 70_001, 2 ** 18]) {
        const inputs = devices.map(() => reals(n));
        const calls = devices.map((device, i): OneShotCall<"float32"> => ({
          input: device.tensor(must(inputs[i], "input")),
          output: device.tensor(new Float32Array(n).fill(NaN)),
          stream: device.stream(),
        }));
        oneShot.allReduce(calls);
        const launches = oneShot.prepare(calls);
        // As many launches in a row as use each half of the mailboxes several times.
        const graphs = calls.map(({ stream }, i) =>
          must(stream, "stream").capture(() => {
            for (let k = 0; k < 5; k++) launches[i]?.();
          })
        );
        for (let k = 0; k < 3; k++) graphs.forEach((graph) => graph.launch());
        const outputs = await Promise.all(calls.map(({ output }) => output.read()));
        const wanted = Float32Array.from(
          { length: n },
          (_, i) => inputs.reduce((sum, own) => sum + (own[i] ?? NaN), 0),
        );
        for (const output of outputs) {
          assertEquals(output, outputs[0]);
          for (let i = 0; i < n; i++) {
            // Three additions of numbers below a half.
            assert(
              Math.abs((output[i] ?? NaN) - (wanted[i] ?? NaN)) < 2 ** -22,
              `${n}, ${i}: ${output[i]}`,
            );
          }
        }
      }
      for (const device of devices) device[Symbol.dispose]();
    },
    lacks,
  );

  gpuTest(
    `a product whose sums come with it gives every one of ${size} GPUs the same exact sums, call after call`,
    () => {
      const [rows, hidden, columns] = [1111, 48, 72];
      const devices = Array.from({ length: size }, (_, i) => Device.open({ device: i }));
      // Few ones: sums of at most 192, which bfloat16 holds exactly.
      const { below } = freshRandom();
      const ones = (count: number): Float32Array<ArrayBuffer> =>
        Float32Array.from({ length: count }, () => below(4) - 1 >> 1);
      using summed = openRowParallel(devices, "bfloat16", [rows, columns]);
      for (let call = 0; call < 3; call++) {
        const host = devices.map(() => [ones(rows * hidden), ones(hidden * columns)] as const);
        summed.multiply(host.map(([inputs, weights], i) => {
          const device = must(devices[i], "device");
          return {
            inputs: device.tensor(inputs, [rows, hidden]).cast("bfloat16"),
            weights: device.tensor(weights, [hidden, columns]).cast("bfloat16"),
          };
        }));
        const wanted = new Float32Array(rows * columns);
        for (const [inputs, weights] of host) {
          for (let at = 0; at < wanted.length; at++) {
            const [row, column] = [Math.floor(at / columns), at % columns];
            for (let i = 0; i < hidden; i++) {
              wanted[at] = (wanted[at] ?? NaN) +
                (inputs[row * hidden + i] ?? NaN) * (weights[i * columns + column] ?? NaN);
            }
          }
        }
        for (const result of summed.results) {
          assertEquals(result.cast("float32").readSync(), wanted);
        }
      }
      for (const device of devices) device[Symbol.dispose]();
    },
    lacks,
  );

  gpuTest(
    `the programs of examples/parallel give on ${size} GPUs what they give on emulators`,
    async () => {
      const [rows, inputs, hidden, outputs] = [24, 20, 48, 12];
      const x = reals(rows * inputs);
      const first = { rows: inputs, columns: hidden, values: reals(inputs * hidden) };
      const second = { rows: hidden, columns: outputs, values: reals(hidden * outputs) };
      const wantedOutputs = reals(rows * outputs);
      const width = 4 * HEAD_SIZE;
      const [query, key, value, output] = [
        [inputs, width],
        [inputs, width],
        [inputs, width],
        [width, outputs],
      ].map(([rows = 0, columns = 0]) => ({ rows, columns, values: reals(rows * columns) }));
      assert(query && key && value && output);
      const heads = { query, key, value, output };
      const run = (ranks: readonly Communicator[]): Float32Array[] => {
        const own = ranks.map(({ device }) => device.tensor(x, [rows, inputs]));
        const results = [
          ...tensorParallel(ranks, splitWeights(ranks, first, second), own),
          ...tensorParallelAttention(ranks, splitHeads(ranks, heads), own),
        ];
        let weights = ranks.map(({ device }) => ({
          first: device.tensor(first.values, [inputs, hidden]),
          second: device.tensor(second.values, [hidden, outputs]),
        }));
        shareWeights(ranks, weights);
        const count = rows / size;
        const samples = ranks.map(({ device, rank }): Samples => ({
          inputs: device.tensor(x.slice(rank * count * inputs, (rank + 1) * count * inputs), [
            count,
            inputs,
          ]),
          wanted: device.tensor(
            wantedOutputs.slice(rank * count * outputs, (rank + 1) * count * outputs),
            [count, outputs],
          ),
        }));
        for (let i = 0; i < 3; i++) weights = [...trainStep(ranks, weights, samples, 0.05)];
        return [...results, ...weights.flatMap((one) => Object.values(one))].map((one) =>
          one.readSync()
        );
      };
      const wanted = await onEmulators(size, run);
      await withRanks(size, (ranks) => {
        for (const [i, found] of run(ranks).entries()) {
          assertNear(found, must(wanted[i], "result"), `result ${i}`);
        }
      });
    },
    lacks,
  );
}

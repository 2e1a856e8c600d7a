/** Communicators of emulators in one process: results in double precision, and what is refused. */
import {
  CommunicatorAbortedError,
  group,
  openCommunicator,
  openCommunicators,
  type Reduction,
} from "../../../ffi/nccl/mod.ts";
import type { Communicator } from "../../../ffi/nccl/mod.ts";
import { ArgumentError, Device, DisposedError, type DType, type Tensor } from "../../../ffi/mod.ts";
import { fromBfloat16, hostArray, toBfloat16 } from "../../../ffi/dtype.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../../support/assert.ts";
import fc from "../../support/property.ts";

interface Rig extends Disposable {
  readonly devices: readonly Device[];
  readonly ranks: readonly Communicator[];
}

function open(size: number): Rig {
  const devices = Array.from({ length: size }, () => Device.open({ device: "emulator" }));
  const ranks = openCommunicators(devices);
  return {
    devices,
    ranks,
    [Symbol.dispose]: () => {
      ranks[0]?.[Symbol.dispose]();
      for (const device of devices) device[Symbol.dispose]();
    },
  };
}

/** The tensor of rank i. */
function at(tensors: readonly Tensor[], index: number): Tensor {
  const tensor = tensors[index];
  assert(tensor !== undefined);
  return tensor;
}

const TYPES = ["int32", "uint8", "int64", "float16", "bfloat16", "float32", "float64"] as const;

/** Small whole numbers, exact in all types with their sums and products. */
const valueOf = (rank: number, index: number): number => (rank * 3 + index * 5) % 4;

function tensorOf(device: Device, dtype: DType, values: readonly number[]): Tensor {
  const data = hostArray(dtype, values.length);
  for (const [i, value] of values.entries()) {
    data[i] = data instanceof BigInt64Array
      ? BigInt(value)
      : dtype === "bfloat16"
      ? toBfloat16(value)
      : value;
  }
  return device.tensor(data, [values.length], { dtype });
}

function valuesIn(tensor: Tensor): number[] {
  const values: Iterable<number | bigint> = tensor.readSync();
  return [...values].map((value) =>
    tensor.dtype === "bfloat16" ? fromBfloat16(Number(value)) : Number(value)
  );
}

const REDUCE: Readonly<Record<Reduction, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((a, b) => a + b),
  product: (values) => values.reduce((a, b) => a * b),
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  average: (values) => values.reduce((a, b) => a + b) / values.length,
};

Deno.test("Collectives of 1 to 4 emulators give what their definitions say, for every type and odd counts", () => {
  const sizes = fc.integer({ min: 1, max: 4 });
  const reductions = fc.constantFrom<Reduction>("sum", "product", "max", "min", "average");
  const shares = fc.integer({ min: 0, max: 7 });
  const types = fc.constantFrom<DType>(...TYPES);
  fc.assert(
    fc.property(sizes, reductions, shares, types, (size, reduction, share, dtype) => {
      using rig = open(size);
      const { devices, ranks } = rig;
      const list = Array.from({ length: size }, (_, rank) => rank);
      const input = (rank: number): number[] =>
        Array.from({ length: share * size }, (_, i) => valueOf(rank, i));
      const own = (rank: number): number[] => input(rank).slice(0, share);
      const poisoned = (count: number): Tensor[] =>
        devices.map((device) => tensorOf(device, dtype, Array.from({ length: count }, () => 77)));
      const inputs = devices.map((device, rank) => tensorOf(device, dtype, input(rank)));
      const parts = devices.map((device, rank) => tensorOf(device, dtype, own(rank)));
      const [sums, slices, gathered, turned] = [share * size, share, share * size, share * size]
        .map(poisoned);
      assert(sums && slices && gathered && turned);
      const root = size - 1;
      group(() => {
        for (const [i, rank] of ranks.entries()) {
          rank.allReduce(at(inputs, i), at(sums, i), { reduction });
          rank.reduceScatter(at(inputs, i), at(slices, i), { reduction });
          rank.allGather(at(parts, i), at(gathered, i));
          rank.allToAll(at(inputs, i), at(turned, i));
        }
      });
      group(() => ranks.forEach((rank, i) => rank.broadcast(at(parts, i), root)));
      const isInteger = dtype.includes("int");
      const total = Array.from({ length: share * size }, (_, i) => {
        const value = REDUCE[reduction](list.map((rank) => valueOf(rank, i)));
        return isInteger ? Math.trunc(value) : value;
      });
      // An average by three is rounded to the type.
      const assertNear = (actual: readonly number[], expected: readonly number[]): void => {
        assertEquals(actual.length, expected.length);
        const isNear = actual.every((value, i) =>
          Math.abs(value - (expected[i] ?? NaN)) <= 2 ** -7
        );
        assert(isNear, `${actual} and ${expected}`);
      };
      for (const rank of list) {
        assertNear(valuesIn(at(sums, rank)), total);
        assertNear(valuesIn(at(slices, rank)), total.slice(rank * share, (rank + 1) * share));
        assertEquals(valuesIn(at(gathered, rank)), list.flatMap(own));
        const turn = list.flatMap((from) => input(from).slice(rank * share, (rank + 1) * share));
        assertEquals(valuesIn(at(turned, rank)), turn);
        assertEquals(valuesIn(at(parts, rank)), own(root));
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("Ranks send and receive in a ring, at once and in order, and work in place", () => {
  using rig = open(3);
  const { devices, ranks } = rig;
  const sent = devices.map((device, i) => device.tensor(new Float32Array([i, i + 0.5])));
  const taken = devices.map((device) => device.tensor(new Float32Array([NaN, NaN])));
  group(() => {
    for (const [i, rank] of ranks.entries()) {
      rank.send(at(sent, i), (i + 1) % 3);
      rank.receive(at(taken, i), (i + 2) % 3);
    }
  });
  assertEquals(taken.map((tensor) => [...tensor.readSync()]), [[2, 2.5], [0, 0.5], [1, 1.5]]);
  const whole = devices.map((device, i) => device.tensor(Float32Array.of(i, i, i)));
  group(() => {
    for (const [i, rank] of ranks.entries()) {
      rank.allGather(at(whole, i).narrow(0, i, 1), at(whole, i));
    }
  });
  assertEquals(whole.map((tensor) => [...tensor.readSync()]), [[0, 1, 2], [0, 1, 2], [0, 1, 2]]);
});

Deno.test("Calls of a group that use what another one of them writes are refused, because they run at the same time", () => {
  using rig = open(2);
  const { devices, ranks } = rig;
  const [whole, part] = [8, 4].map((count) =>
    devices.map((device) => device.zeros("int32", [count]))
  );
  assert(whole && part);
  for (
    const [first, second, problem] of [
      ["reduceScatter", "allGather", "call 2 of the group on rank 0, all-gather"],
      ["allGather", "allGather", "call 2 of the group on rank 0, all-gather"],
    ] as const
  ) {
    const run = (): void =>
      group(() => {
        for (const [i, rank] of ranks.entries()) {
          if (first === "reduceScatter") rank[first](at(whole, i), at(part, i));
          else rank[first](at(part, i), at(whole, i));
          rank[second](at(part, i), at(whole, i));
        }
      });
    assertThrows(run, ArgumentError, problem);
  }
});

Deno.test("A wrong call is refused before any rank does anything, with what and which rank", () => {
  using rig = open(2);
  const { devices: [first, second], ranks: [zero, one] } = rig;
  assert(first && second && zero && one);
  const x = first.tensor(new Float32Array([1, 2, 3, 4]));
  const y = second.tensor(new Float32Array([5, 6, 7, 8]));
  const wrong: readonly [() => void, string][] = [
    [() => zero.allReduce(x, x), "none on rank 1"],
    [() => zero.allReduce(y, x), "a dense tensor on"],
    [() => zero.reduceScatter(x, x), "2 elements, for an input of 4 on 2 ranks"],
    [() => zero.reduceScatter(x.narrow(0, 0, 3), x), "a multiple of 2 elements"],
    [() => zero.allReduce(x, first.zeros("float64", [4])), "elements of float32"],
    [() => zero.allReduce(first.zeros("int16", [4]), first.zeros("int16", [4])), "int16"],
    [() => zero.allReduce(x.narrow(0, 0, 3), x.narrow(0, 1, 3)), "memory apart from the input"],
    [() => zero.allToAll(x, x), "memory apart from the input"],
    [
      () => zero.allReduce(first.zeros("float32", [2, 2]).transpose(), x),
      "gaps or turned axes",
    ],
    [() => zero.broadcast(x, 2), "a rank from 0 to 1"],
    [() => zero.send(x, 0), "a rank from 0 to 1 other than 0"],
    [() => zero.send(x, 1), "4 of float32, which rank 0 sends"],
    [() => zero.allReduce(x, x, { stream: second.stream() }), "a stream of"],
    [() => {
      zero.allReduce(x, x);
      one.allReduce(y, y, { reduction: "max" });
    }, "all-reduce of 4 float32 by max"],
    [() => {
      zero.allReduce(x, x);
      one.allReduce(second.zeros("float64", [4]), second.zeros("float64", [4]));
    }, "all-reduce of 4 float64"],
    [() => {
      zero.allReduce(x, x);
      one.allGather(y, second.zeros("float32", [8]));
    }, "all-gather of 4 float32"],
    [() => {
      zero.broadcast(x, 0);
      one.broadcast(y, 1);
    }, "from root 1"],
  ];
  for (const [body, message] of wrong) assertThrows(() => group(body), ArgumentError, message);
  assertEquals([...x.readSync(), ...y.readSync()], [1, 2, 3, 4, 5, 6, 7, 8]);
  assertThrows(() => group(async () => await Promise.resolve()), ArgumentError, "a promise");
});

Deno.test("Worlds are of devices that are different and of one kind, and end with an abort", async () => {
  assertThrows(() => openCommunicators([]), ArgumentError, "a list of devices");
  using rig = open(2);
  const { devices: [device], ranks: [zero, one] } = rig;
  assert(device && zero && one);
  assertThrows(() => openCommunicators([device, device]), ArgumentError, "twice");
  const rendezvous = { kind: "tcp", host: "127.0.0.1", port: 1 } as const;
  await assertRejects(
    () => openCommunicator(device, { rank: 0, size: 2, rendezvous }),
    ArgumentError,
    "several emulators communicate in one process",
  );
  using alone = await openCommunicator(device, { rank: 0, size: 1, rendezvous });
  const x = device.tensor(new Float32Array([3]));
  alone.allReduce(x, x);
  await alone.finished({ timeoutSeconds: 10 });
  assertEquals([...x.readSync()], [3]);
  one.abort();
  assertThrows(() => zero.allReduce(x, x), CommunicatorAbortedError, "the program aborted it");
  alone[Symbol.dispose]();
  assertThrows(() => alone.allReduce(x, x), DisposedError);
});

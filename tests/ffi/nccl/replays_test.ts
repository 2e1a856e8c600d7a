/** Which calls are launched as graphs, on a driver that records, and an NCCL that fills the output. */
import type { Call } from "../../../ffi/nccl/call.ts";
import { isReplayed, type Replays, replaysOf } from "../../../ffi/nccl/replays.ts";
import type { RankCall } from "../../../ffi/nccl/transport.ts";
import { Device, type Stream, type Tensor } from "../../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

/** A call of rank 0. */
function callOf(tensor: Tensor, more: Partial<Call> = {}): RankCall {
  const call: Call = {
    kind: "allReduce",
    input: tensor,
    output: tensor,
    reduction: "sum",
    peer: undefined,
    stream: tensor.device.defaultStream,
    ...more,
  };
  return { rank: 0, call };
}

interface World {
  readonly driver: FakeDriver;
  readonly devices: readonly [Device, Device];
  readonly replays: Replays;
  /** How often NCCL was called since the last question. */
  count(): number;
}

/** `steps` are what NCCL queues for a call: it fills the output with the number of the group. */
function withWorld(steps: number, body: (world: World) => void): void {
  const driver = new FakeDriver({ devices: [{}, {}] });
  const devices = [Device.fromDriver(driver, 0), Device.fromDriver(driver, 1)] as const;
  let groups = 0;
  let asked = 0;
  const replays = replaysOf((calls) => {
    groups++;
    for (const { call: { output, stream } } of calls) {
      if (output === undefined) throw new TypeError("no output");
      if (output.elements === FAILING) throw new RangeError("NCCL fails");
      const { handle } = stream;
      for (let step = 0; step < steps; step++) {
        driver.fill(output.address, groups, output.elements, handle);
      }
    }
  });
  const count = (): number => {
    const since = groups - asked;
    asked = groups;
    return since;
  };
  body({ driver, devices, replays, count });
  replays.close();
  const called = (name: string): number => driver.names().filter((one) => one === name).length;
  assertEquals(called("destroyGraph"), called("endCapture"));
  for (const device of devices) device[Symbol.dispose]();
}

/** Elements of a tensor whose calls fail. */
const FAILING = 13;

/** The streams that graphs were launched on. */
function launches({ driver }: World): unknown[] {
  return driver.calls.filter(({ name }) => name === "launchGraph").map(({ args }) => args[1]);
}

const times = (count: number, body: () => void): void => {
  for (let i = 0; i < count; i++) body();
};

Deno.test("A call that comes again is recorded, and launched on the stream of each call", () =>
  withWorld(1, (world) => {
    const { devices: [device], replays, count } = world;
    const [x, y] = [device.zeros("uint8", [8]), device.zeros("uint8", [8])];
    const other: Stream = device.stream();
    replays.run([callOf(x)]);
    assertEquals([count(), launches(world).length], [1, 0]);
    times(3, () => replays.run([callOf(x)]));
    replays.run([callOf(x, { stream: other })]);
    const own = device.defaultStream.handle;
    assertEquals([count(), launches(world)], [1, [own, own, own, other.handle]]);
    // What differs in anything that decides the work is another call.
    replays.run([callOf(x, { reduction: "max" })]);
    replays.run([callOf(x, { output: y })]);
    replays.run([callOf(x, { kind: "broadcast", reduction: undefined, peer: 1 })]);
    replays.run([callOf(x, { kind: "broadcast", reduction: undefined, peer: 0 })]);
    assertEquals([count(), launches(world).length], [4, 4]);
    y.write(new Uint8Array(8).fill(99));
    replays.run([callOf(x, { output: y })]);
    // The recording, the seventh group, has done nothing; its launch has.
    assertEquals([...y.readSync()], Array(8).fill(7));
  }));

Deno.test("The ranks of a process have a graph each", () =>
  withWorld(1, (world) => {
    const { devices, replays, count } = world;
    const tensors = devices.map((device) => device.zeros("uint8", [8]));
    const calls = tensors.map((tensor, rank) => ({ ...callOf(tensor), rank }));
    times(3, () => replays.run(calls));
    const streams = devices.map(({ defaultStream }) => defaultStream.handle);
    assertEquals([count(), launches(world)], [2, [...streams, ...streams]]);
    assertEquals(
      tensors.map((tensor) => [...tensor.readSync()]),
      tensors.map(() => Array(8).fill(2)),
    );
  }));

Deno.test("Calls that NCCL needs several steps for, or none, stay calls of NCCL", () => {
  for (const steps of [0, 2]) {
    withWorld(steps, (world) => {
      const { driver, devices: [device], replays, count } = world;
      const x = device.zeros("uint8", [8]);
      times(4, () => replays.run([callOf(x)]));
      assertEquals([count(), launches(world)], [5, []]);
      assertEquals(driver.names().filter((name) => name === "beginCapture").length, 1);
    });
  }
});

Deno.test("More calls in turn than are remembered are never recorded", () =>
  withWorld(1, (world) => {
    const { devices: [device], replays, count } = world;
    const tensors = Array.from({ length: 17 }, () => device.zeros("uint8", [8]));
    times(3, () => tensors.forEach((tensor) => replays.run([callOf(tensor)])));
    assertEquals([count(), launches(world)], [51, []]);
    times(2, () => tensors.slice(1).forEach((tensor) => replays.run([callOf(tensor)])));
    assertEquals([count(), launches(world).length], [16, 32]);
  }));

Deno.test("A recording that fails is ended, and the failure reported", () =>
  withWorld(1, (world) => {
    const { driver, devices: [device], replays } = world;
    const x = device.zeros("uint8", [FAILING]);
    times(2, () => assertThrows(() => replays.run([callOf(x)]), RangeError, "NCCL fails"));
    assertEquals(
      driver.names().filter((name) => /capture/i.test(name)),
      ["beginCapture", "endCapture"],
    );
  }));

Deno.test("Large calls, exchanges of pairs, several calls of a rank and recorded ones are not replayed", () =>
  withWorld(1, ({ devices: [device] }) => {
    const [least, most] = [
      device.zeros("float16", [2 ** 15]),
      device.zeros("float16", [2 ** 15 + 1]),
    ];
    const stream = device.stream();
    const inside: boolean[] = [];
    using _graph = stream.capture(() => {
      inside.push(isReplayed([callOf(least, { stream })]));
    });
    assertEquals(
      [
        isReplayed([callOf(least)]),
        isReplayed([callOf(most)]),
        isReplayed([callOf(least, { output: most })]),
        isReplayed([callOf(least, { kind: "send", output: undefined, peer: 1 })]),
        isReplayed([callOf(least, { kind: "allToAll" })]),
        isReplayed([callOf(least), callOf(least)]),
        isReplayed([callOf(least), { ...callOf(least), rank: 1 }]),
        ...inside,
      ],
      [true, false, false, false, false, false, true, false],
    );
  }));

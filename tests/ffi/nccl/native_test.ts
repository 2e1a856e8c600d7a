/** What NCCL is called with: a library built from stub_nccl.c writes its arguments down. */
import {
  CommunicatorAbortedError,
  group,
  NcclError,
  NcclNotFoundError,
  openCommunicator,
  openCommunicators,
} from "../../../ffi/nccl/mod.ts";
import { openNcclLibrary, printNcclVersion } from "../../../ffi/nccl/library.ts";
import { Device } from "../../../ffi/mod.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

const SOURCE = new URL("stub_nccl.c", import.meta.url).pathname;

function hasCompiler(): boolean {
  try {
    return new Deno.Command("cc", { args: ["--version"], stdout: "null", stderr: "null" })
      .outputSync().success;
  } catch {
    return false;
  }
}

const isSupported = Deno.build.os === "linux" && ["x86_64", "aarch64"].includes(Deno.build.arch);

/** A stub of its own for each test, since it counts. */
async function withStub(body: (log: () => readonly string[]) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "tri-nccl-" });
  const [library, log] = [`${folder}/libnccl.so.2`, `${folder}/log`];
  try {
    const { success, stderr } = new Deno.Command("cc", {
      args: ["-shared", "-fPIC", "-o", library, SOURCE],
    }).outputSync();
    assert(success, new TextDecoder().decode(stderr));
    Deno.env.set("TRI_NCCL", library);
    Deno.env.set("NCCL_STUB_LOG", log);
    await body(() => Deno.readTextFileSync(log).trimEnd().split("\n"));
  } finally {
    Deno.env.delete("TRI_NCCL");
    Deno.env.delete("NCCL_STUB_LOG");
    Deno.removeSync(folder, { recursive: true });
  }
}

/** The id that the stub makes. */
const RENDEZVOUS = {
  kind: "id",
  id: Uint8Array.from({ length: 128 }, (_, i) => (i * 7 + 1) % 256),
} as const;

const options = { ignore: !isSupported || !hasCompiler() };

Deno.test(
  "One process with all GPUs calls NCCL in one group, with counts and types as nccl.h has them",
  options,
  () =>
    withStub((log) => {
      const driver = new FakeDriver({ devices: [{}, {}] });
      const devices = [0, 1].map((ordinal) => Device.fromDriver(driver, ordinal));
      const ranks = openCommunicators(devices);
      const x = devices.map((device) => device.zeros("bfloat16", [6]));
      const y = devices.map((device) => device.zeros("bfloat16", [3]));
      const bytes = devices.map((device) => device.zeros("float8e4", [6]));
      group(() => {
        for (const [i, rank] of ranks.entries()) {
          const [six, three, small] = [x[i], y[i], bytes[i]];
          assert(six && three && small);
          const [other, more, last] = [6, 6, 6].map((count) =>
            devices[i]?.zeros("bfloat16", [count])
          );
          assert(other && more && last);
          rank.allReduce(six, six, { reduction: "max" });
          rank.reduceScatter(other, three);
          rank.allGather(other.narrow(0, 0, 3), more);
          rank.broadcast(small, 1);
          rank.allToAll(other, last);
        }
      });
      ranks[0]?.[Symbol.dispose]();
      const of = (comm: number): readonly string[] => [
        `all-reduce 6 type 9 op 2 comm ${comm} in place`,
        `reduce-scatter 3 type 9 op 0 comm ${comm}`,
        `all-gather 6 type 1 comm ${comm}`,
        `broadcast 6 type 1 root 1 comm ${comm}`,
        ...[0, 1].flatMap((peer) => [
          `send 6 type 1 peer ${peer} comm ${comm}`,
          `receive 6 type 1 peer ${peer} comm ${comm}`,
        ]),
      ];
      assertEquals(log(), [
        "device 0",
        "device 1",
        "multicast 0",
        "group",
        ...of(100),
        ...of(101),
        "end",
        "destroy 100",
        "destroy 101",
      ]);
      for (const device of devices) device[Symbol.dispose]();
      return Promise.resolve();
    }),
);

Deno.test(
  "A process with one rank passes the id by value, and an error of queued work ends the communicator",
  options,
  () =>
    withStub(async (log) => {
      const device = Device.fromDriver(new FakeDriver());
      const rank = await openCommunicator(device, { rank: 2, size: 5, rendezvous: RENDEZVOUS });
      const x = device.zeros("float32", [3]);
      const stream = device.stream();
      const graphs = [1, 2].map(() => stream.capture(() => rank.allReduce(x, x, { stream })));
      graphs[0]?.[Symbol.dispose]();
      rank.allReduce(x, x);
      await rank.finished({ timeoutSeconds: 10 });
      assertThrows(() => rank.receive(x, 1), NcclError, "ncclRemoteError");
      assertThrows(() => rank.receive(x, 1), CommunicatorAbortedError, "ncclRemoteError");
      rank[Symbol.dispose]();
      // NCCL would wait for ever for the end of graphs that have recorded its calls.
      assertEquals(graphs.map(({ disposed }) => disposed), [true, true]);
      const reduce = "all-reduce 3 type 7 op 0 comm 201 in place";
      assertEquals(log(), [
        "rank 2 of 5, id 128, config 48 cafebeef 21800, blocking 0, share 1",
        "split 200, color 0, key 2, blocking 1",
        reduce,
        reduce,
        reduce,
        "receive 12 type 1 peer 1 comm 200",
        "abort 201",
        "abort 200",
      ]);
      device[Symbol.dispose]();
    }),
);

Deno.test(
  "Send and receive go by the communicator that blocks once an all-to-all has connected all pairs",
  options,
  () =>
    withStub(async (log) => {
      const device = Device.fromDriver(new FakeDriver());
      const rank = await openCommunicator(device, { rank: 0, size: 2, rendezvous: RENDEZVOUS });
      const [x, y] = [device.zeros("int8", [4]), device.zeros("int8", [4])];
      rank.send(x, 1);
      rank.allToAll(x, y);
      rank.send(x, 1);
      rank.allToAll(x, y);
      rank[Symbol.dispose]();
      const send = (count: number, peer: number, comm: number): string =>
        `send ${count} type 1 peer ${peer} comm ${comm}`;
      const exchange = (comm: number): readonly string[] => [
        "group",
        ...[0, 1].flatMap((peer) => [
          send(2, peer, comm),
          `receive 2 type 1 peer ${peer} comm ${comm}`,
        ]),
        "end",
      ];
      const [, , ...calls] = log();
      assertEquals(calls, [
        ...[send(4, 1, 200), ...exchange(200), send(4, 1, 201), ...exchange(201)],
        ...["destroy 201", "destroy 200"],
      ]);
      device[Symbol.dispose]();
    }),
);

Deno.test(
  "Calls and graphs with calls wait for each other on whichever streams they are queued",
  options,
  () =>
    withStub(async () => {
      const driver = new FakeDriver();
      const device = Device.fromDriver(driver);
      const rank = await openCommunicator(device, { rank: 0, size: 2, rendezvous: RENDEZVOUS });
      const [x, y] = [device.zeros("int8", [4]), device.zeros("int8", [4])];
      const [stream, other] = [device.stream(), device.stream()];
      device.synchronize();
      using graph = stream.capture(() => rank.allReduce(x, x, { stream }));
      const waits = (run: () => void): number => {
        const before = driver.names().length;
        run();
        return driver.names().slice(before).filter((name) => name === "waitForEvent").length;
      };
      graph.launch();
      rank.allReduce(y, y, { stream: other });
      assertEquals(
        [
          waits(() => graph.launch()),
          waits(() => graph.launch()),
          waits(() => rank.allReduce(y, y, { stream: other })),
          waits(() => rank.allReduce(y, y, { stream: other })),
        ],
        [1, 0, 1, 0],
      );
      rank[Symbol.dispose]();
      device[Symbol.dispose]();
    }),
);

Deno.test("A library that is not there is an error with what was tried", () => {
  assertThrows(() => openNcclLibrary(["libnccl-none.so"]), NcclNotFoundError, "libnccl-none.so");
  assertEquals([22809, 2708].map(printNcclVersion), ["2.28.9", "2.7.8"]);
});

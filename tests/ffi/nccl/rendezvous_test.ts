/** How ranks of several processes meet: here several at once in one. */
import { RendezvousError } from "../../../ffi/nccl/errors.ts";
import {
  meet,
  type Meeting,
  printId,
  rankFromEnvironment,
  type Rendezvous,
} from "../../../ffi/nccl/rendezvous.ts";
import { ArgumentError } from "../../../ffi/mod.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";

const ID = Uint8Array.from({ length: 128 }, (_, i) => i * 7 % 256);

const meeting = (rank: number, size: number, milliseconds = 20_000): Meeting => ({
  rank,
  size,
  makeId: () => ID,
  deadline: Date.now() + milliseconds,
});

/** A port that is free now. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function withPlaces(
  body: (rendezvous: () => Rendezvous) => Promise<void>,
): Promise<void> {
  await body(() => ({ kind: "tcp", host: "127.0.0.1", port: freePort() }));
  const folder = Deno.makeTempDirSync({ prefix: "tri-nccl-" });
  let count = 0;
  try {
    await body(() => ({ kind: "file", file: new URL(`file://${folder}/id${count++}`) }));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const LIMITED = { sanitizeOps: false, sanitizeResources: false };

Deno.test({
  name: "All ranks get the id of rank 0, by TCP and by file, in whichever order they come",
  ...LIMITED,
  fn: () =>
    withPlaces(async (next) => {
      const place = next();
      const ids = await Promise.all([2, 1, 0].map((rank) => meet(place, meeting(rank, 3))));
      assertEquals(ids.map(printId), [ID, ID, ID].map(printId));
      if (place.kind !== "file") return;
      const again = await error(meet(place, meeting(1, 3)));
      assertStringIncludes(again.message, "is of an earlier run");
    }),
});

async function error(promise: Promise<unknown>): Promise<RendezvousError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RendezvousError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

Deno.test({
  name: "A rank that never comes is named to all that came, and so is one of another world size",
  ...LIMITED,
  fn: () =>
    withPlaces(async (next) => {
      const place = next();
      const late = await Promise.all(
        [0, 2].map((rank) => error(meet(place, meeting(rank, 4, 600)))),
      );
      for (const { message, missing } of late) {
        assertEquals(missing, [1, 3]);
        assertStringIncludes(message, "ranks 1 and 3 of 4 did not come in time");
      }
      const other = next();
      const wrong = await Promise.all([
        error(meet(other, meeting(0, 2))),
        error(meet(other, meeting(1, 3))),
      ]);
      for (const { message } of wrong) {
        assertStringIncludes(message, "rank 1 has world size 3, rank 0 has 2");
      }
      const empty = await error(meet(next(), meeting(1, 2, 200)));
      assertEquals(empty.missing, [0]);
    }),
});

Deno.test("The rank, the world size and the place come from the variables of torchrun", () => {
  const names = [
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TRI_NCCL_ID",
    "TRI_NCCL_FILE",
    "TORCHELASTIC_USE_AGENT_STORE",
  ];
  const before = names.map((name) => [name, Deno.env.get(name)] as const);
  const set = (values: Readonly<Record<string, string>>): void => {
    for (const name of names) Deno.env.delete(name);
    for (const [name, value] of Object.entries(values)) Deno.env.set(name, value);
  };
  try {
    const base = { RANK: "3", WORLD_SIZE: "4", LOCAL_RANK: "1" };
    set({ ...base, MASTER_ADDR: "node1", MASTER_PORT: "29500" });
    const tcp = { kind: "tcp", host: "node1", port: 29500 } as const;
    assertEquals(rankFromEnvironment(), { rank: 3, size: 4, localRank: 1, rendezvous: tcp });
    Deno.env.set("TORCHELASTIC_USE_AGENT_STORE", "True");
    assertEquals(rankFromEnvironment().rendezvous, { ...tcp, port: 29501 });
    set({ ...base, TRI_NCCL_FILE: "/tmp/x" });
    assertEquals(rankFromEnvironment().rendezvous, {
      kind: "file",
      file: new URL("file:///tmp/x"),
    });
    set({ ...base, TRI_NCCL_ID: printId(ID) });
    assertEquals(rankFromEnvironment().rendezvous, { kind: "id", id: ID });
    const wrong: readonly [Record<string, string>, string][] = [
      [{}, "WORLD_SIZE"],
      [{ WORLD_SIZE: "0" }, "WORLD_SIZE"],
      [{ WORLD_SIZE: "2", RANK: "2" }, "RANK"],
      [base, "MASTER_ADDR"],
      [{ ...base, MASTER_ADDR: "a", MASTER_PORT: "x" }, "MASTER_PORT"],
      [{ ...base, TRI_NCCL_FILE: "x" }, "TRI_NCCL_FILE"],
      [{ ...base, TRI_NCCL_ID: "12" }, "TRI_NCCL_ID"],
    ];
    for (const [values, name] of wrong) {
      set(values);
      assertThrows(() => rankFromEnvironment(), ArgumentError, name);
    }
  } finally {
    set(
      Object.fromEntries(
        before.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
      ),
    );
  }
});

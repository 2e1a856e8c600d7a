import { assertEquals, assertThrows } from "../../support/assert.ts";
import { Fault } from "../../../emulator/fault.ts";
import { Bench } from "./bench.ts";

const BARRIER = 0x3f00;

/** Two blocks; block 0 has %r1 and %r2 point into block 1, whose barrier expects some bytes. */
function pair(bytes: number): Bench {
  const bench = new Bench({ blocks: 2 });
  bench.enter(1, 0);
  bench.set("r2", BARRIER);
  bench.run("mbarrier.init.shared.b64 [%r2], 1;", 1);
  bench.run(`mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], ${bytes};`, 1);
  bench.enter(0, 0);
  // mapa of rank 1.
  bench.set("r1", (lane) => (2 << 24) | (0x400 + 16 * lane));
  bench.set("r2", (2 << 24) | BARRIER);
  return bench;
}

function isOver(bench: Bench): boolean {
  bench.enter(1, 0);
  // The first time, the stores may be said to take longer.
  bench.run("mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;", 1);
  bench.run("mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;", 1);
  return (bench.get("p1") & 1) === 1;
}

const word = (bench: Bench, offset: number): number =>
  new DataView(bench.sharedBytes(1).slice().buffer).getUint32(offset, true);

Deno.test("st.async stores vectors in another block and counts their bytes there", () => {
  const bench = pair(3 * 16);
  for (let i = 0; i < 4; i++) bench.set(`r${4 + i}`, (lane) => 100 * lane + i);
  bench.run(
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], {%r4, %r5, %r6, %r7}, [%r2];",
    0b1011,
  );
  assertEquals([0, 1, 2, 3].map((i) => word(bench, 0x410 + 4 * i)), [100, 101, 102, 103]);
  assertEquals([0, 3].map((i) => word(bench, 0x430 + 4 * i)), [300, 303]);
  assertEquals(word(bench, 0x420), 0);
  assertEquals(isOver(bench), true);
});

Deno.test("red.async changes a word in another block, many lanes at once", () => {
  const bench = pair(32 * 4);
  bench.machine.checks = false;
  bench.sharedBytes(1).fill(0, 0x400, 0x404);
  bench.set("r1", (2 << 24) | 0x400);
  bench.set("r4", (lane) => lane);
  bench.run(
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r4, [%r2];",
  );
  assertEquals(word(bench, 0x400), 496);
  assertEquals(isOver(bench), true);
});

Deno.test("red.async may follow another before that is over, other accesses may not", () => {
  const bench = pair(4);
  const store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r4, [%r2];";
  const reduce =
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or.b32 [%r1], %r4, [%r2];";
  bench.set("r4", 5);
  bench.run(store, 1);
  assertThrows(() => bench.run(reduce, 1), Fault, "has not waited");
  assertEquals(isOver(bench), true);
  bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 8;", 1);
  bench.set("r1", (2 << 24) | 0x400);
  bench.set("r2", (2 << 24) | BARRIER);
  bench.run(reduce, 1);
  bench.run(reduce, 1);
  assertThrows(() => bench.run(store, 1), Fault, "has not waited");
});

/** Protocols of mbarriers, instruction by instruction. */
import fc from "../../support/property.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { decodeBarrier, encodeBarrier } from "../../../emulator/async/barrier.ts";
import { Fault } from "../../../emulator/fault.ts";
import { ALL, Bench, type BenchOptions } from "./bench.ts";

const AT = 0x100;

/** A bench whose barrier at %r1 expects some arrivals. */
function ready(count: number, options: BenchOptions = {}): Bench {
  const bench = new Bench(options);
  bench.set("r1", AT);
  bench.run(`mbarrier.init.shared::cta.b64 [%r1], ${count};`, 1);
  return bench;
}

/** Lanes for which the phase of a parity is over. */
function over(bench: Bench, parity: number, mask = 1): number {
  bench.run(`mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], ${parity};`, mask);
  return bench.get("p1") & mask;
}

Deno.test("decodeBarrier() reads what encodeBarrier() wrote", () => {
  const count = fc.integer({ min: 0, max: 2 ** 20 - 1 });
  fc.assert(fc.property(
    fc.record({
      phase: fc.integer({ min: 0, max: 1 }),
      pending: count,
      expected: count,
      transactions: fc.integer({ min: 1 - 2 ** 20, max: 2 ** 20 - 1 }),
    }),
    (state) => assertEquals(decodeBarrier(...encodeBarrier(state)), state),
  ));
});

Deno.test("mbarrier.try_wait.parity follows the phases", () => {
  const bench = ready(2);
  // The phase before the first counts as over.
  assertEquals([over(bench, 0), over(bench, 1)], [0, 1]);
  for (let phase = 0; phase < 4; phase++) {
    bench.run("mbarrier.arrive.shared.b64 %rd1, [%r1];", 1);
    assertEquals(over(bench, phase & 1), 0);
    bench.run("mbarrier.arrive.shared.b64 %rd1, [%r1];", 1);
    assertEquals(over(bench, phase & 1), 1);
    assertEquals(over(bench, (phase + 1) & 1), 0);
  }
});

Deno.test("mbarrier.try_wait lets other warps run when it fails", () => {
  const bench = ready(1);
  over(bench, 1);
  assertEquals(bench.yields, 0);
  over(bench, 0);
  assertEquals(bench.yields, 1);
});

Deno.test("mbarrier.arrive returns tokens with the phase and the arrivals before", () => {
  const bench = ready(3);
  for (const [i, missing] of [3, 2, 1].entries()) {
    bench.run(`mbarrier.arrive.shared.b64 %rd${i}, [%r1];`, 1);
    bench.run(`mbarrier.pending_count.b64 %r2, %rd${i};`, 1);
    assertEquals(bench.get("r2"), missing);
    bench.run(`mbarrier.test_wait.shared.b64 %p1, [%r1], %rd${i};`, 1);
    assertEquals(bench.get("p1") & 1, missing === 1 ? 1 : 0);
  }
  bench.run("mbarrier.arrive.shared.b64 %rd5, [%r1];", 1);
  bench.run("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd5;", 1);
  assertEquals(bench.get("p1") & 1, 0);
});

Deno.test("mbarrier.arrive counts each lane, and each lane has its own token", () => {
  const bench = ready(32);
  bench.run("mbarrier.arrive.shared.b64 %rd1, [%r1];", ALL);
  bench.run("mbarrier.pending_count.b64 %r2, %rd1;", ALL);
  assertEquals([0, 1, 31].map((lane) => bench.get("r2", lane)), [32, 31, 1]);
  assertEquals(over(bench, 0, ALL), ALL);
});

Deno.test("mbarrier.arrive takes counts, mbarrier.arrive_drop leaves for good", () => {
  const bench = ready(5);
  bench.run("mbarrier.arrive.shared::cta.b64 %rd1, [%r1], 3;", 1);
  bench.run("mbarrier.arrive_drop.shared::cta.b64 %rd1, [%r1], 2;", 1);
  assertEquals(over(bench, 0), 1);
  bench.run("mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [%r1], 2;", 1);
  assertEquals(over(bench, 1), 0);
  bench.run("mbarrier.arrive.shared::cta.b64 %rd1, [%r1];", 1);
  assertEquals(over(bench, 1), 1);
});

Deno.test("mbarrier.expect_tx and complete_tx hold a phase up, also while the count is negative", () => {
  const bench = ready(1);
  bench.run("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 96;", 1);
  bench.run("mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r1], 64;", 1);
  assertEquals(over(bench, 0), 0);
  bench.run("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 32;", 1);
  assertEquals(over(bench, 0), 1);
  bench.run("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 1048575;", 1);
  bench.run("mbarrier.arrive.shared.b64 %rd1, [%r1];", 1);
  assertEquals(over(bench, 1), 0);
  bench.run("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 1048575;", 1);
  assertEquals(over(bench, 1), 1);
});

Deno.test("mbarrier.arrive.shared::cluster arrives at the barrier of another block", () => {
  const bench = ready(2, { blocks: 2 });
  bench.enter(1, 0);
  // mapa of rank 0.
  bench.set("r1", (1 << 24) | AT);
  bench.run("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", 1);
  bench.run("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 1;", 1);
  assertThrows(
    () => bench.run("mbarrier.arrive.shared::cta.b64 %rd1, [%r1];", 1),
    Fault,
    "another",
  );
  bench.enter(0, 0);
  bench.set("r1", AT);
  assertEquals(over(bench, 0), 1);
});

Deno.test("mbarrier instructions take generic addresses", () => {
  const bench = new Bench();
  bench.setLong("rd1", (0x7f20n << 32n) | BigInt(AT));
  bench.run("mbarrier.init.b64 [%rd1], 1;", 1);
  bench.run("mbarrier.arrive.b64 %rd2, [%rd1];", 1);
  bench.run("mbarrier.test_wait.b64 %p1, [%rd1], %rd2;", 1);
  assertEquals(bench.get("p1") & 1, 1);
  bench.setLong("rd1", bench.pointer(0));
  assertThrows(() => bench.run("mbarrier.arrive.b64 %rd2, [%rd1];", 1), Fault, "not in shared");
});

Deno.test("mbarrier instructions fault where they are misused", () => {
  const misused = (text: string, words: string, prepare?: (bench: Bench) => void): void => {
    const bench = ready(2);
    prepare?.(bench);
    const fault = assertThrows(() => bench.run(text, 1), Fault, words);
    assertEquals(fault.kind, "barrier misuse");
  };
  misused("mbarrier.init.shared.b64 [%r1], 1;", "is initialised already");
  misused("mbarrier.arrive.shared.b64 %rd1, [%r1+8];", "is not initialised");
  misused(
    "mbarrier.arrive.shared.b64 %rd1, [%r1];",
    "was invalidated",
    (bench) => bench.run("mbarrier.inval.shared.b64 [%r1];", 1),
  );
  misused(
    "mbarrier.arrive.shared.b64 %rd1, [%r1], 3;",
    "takes 2 more arrivals in this phase, not 3",
  );
  misused("mbarrier.arrive.shared.b64 %rd1, [%r1], 0;", "cannot take 0 arrivals");
  misused("mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1], 2;", "ends its phase");
  misused("mbarrier.init.shared.b64 [%r1+16], 0;", "cannot expect 0 arrivals");
  misused("mbarrier.init.shared.b64 [%r1+16], 1048576;", "only 1 to 1048575");
  misused("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 1048576;", "outside of ±1048575");
  misused("mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 2;", "parity 2 is neither 0 nor 1");
  misused("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd7;", "no token");
  misused("mbarrier.arrive.shared.b64 %rd1, [%r1];", "was overwritten", (bench) => {
    bench.sharedBytes()[AT] = 7;
  });
});

Deno.test("mbarrier instructions detect uninitialised barriers without checks as well", () => {
  const bench = new Bench({ checks: false });
  bench.set("r1", AT);
  for (const value of [0, 0xff]) {
    bench.sharedBytes().fill(value);
    const fault = assertThrows(() => over(bench, 0), Fault);
    assertEquals(fault.kind, "barrier misuse");
  }
  bench.run("mbarrier.init.shared.b64 [%r1], 1;", 1);
  bench.run("mbarrier.init.shared.b64 [%r1], 1;", 1);
  assert(over(bench, 1) === 1);
});

Deno.test("mbarrier instructions fault at addresses where no barrier can be", () => {
  const bench = ready(1);
  assertThrows(
    () => bench.run("mbarrier.arrive.shared.b64 %rd1, [%r1+4];", 1),
    Fault,
    "multiple of 8",
  );
  assertThrows(
    () => bench.run("mbarrier.arrive.shared.b64 %rd1, [%r1+65536];", 1),
    Fault,
    "goes past",
  );
});

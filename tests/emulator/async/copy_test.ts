/** cp.async, its groups, and what may not be touched until they are waited for. */
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { must } from "../../../compiler/support/bug.ts";
import { accessOf } from "../../../emulator/access/state.ts";
import { attend } from "../../../emulator/check/order.ts";
import { pendingProblem } from "../../../emulator/async/pending.ts";
import { Fault } from "../../../emulator/fault.ts";
import { ALL, Bench } from "./bench.ts";

/** A bench with addresses: %r1 and %rd1 step by so many bytes from lane to lane. */
function stepping(step: number, options: ConstructorParameters<typeof Bench>[0] = {}): Bench {
  const bench = new Bench(options);
  bench.globalBytes.forEach((_, i, bytes) => bytes[i] = (i * 7 + (i >> 8)) & 0xff);
  for (const block of bench.blocks) {
    for (const warp of block.warps) {
      bench.enter(block.rank, warp.index);
      bench.set("r1", (lane) => (32 * warp.index + lane) * step);
      bench.setLong("rd1", (lane) => bench.pointer(256 + (32 * warp.index + lane) * step));
    }
  }
  bench.enter(0, 0);
  return bench;
}

/** The finding for an access to shared memory of a lane of the running warp. */
function problem(bench: Bench, offset: number, lane: number, writing = false): string | undefined {
  const { machine } = bench;
  attend(accessOf(machine).order, machine);
  const location = machine.block.shared + offset;
  return pendingProblem(machine.block, location, 4, writing, machine.warp, lane);
}

Deno.test("cp.async copies 4, 8 and 16 bytes a lane", () => {
  for (const bytes of [4, 8, 16]) {
    const bench = stepping(bytes);
    const cache = bytes === 16 ? "cg" : "ca";
    bench.run(`cp.async.${cache}.shared.global [%r1], [%rd1], ${bytes};`, 0x7fff_ffff);
    const expected = bench.globalBytes.slice(256, 256 + 32 * bytes);
    expected.fill(0, 31 * bytes);
    assertEquals(bench.sharedBytes().slice(0, 32 * bytes), expected);
  }
});

Deno.test("cp.async fills with zeros what it does not read", () => {
  const bench = stepping(16);
  bench.sharedBytes().fill(0xee);
  bench.set("r3", (lane) => lane % 17);
  // Sources of lanes that read nothing may be anything.
  bench.setLong("rd1", (lane) => lane % 17 === 0 ? 12345n : bench.pointer(256 + 16 * lane));
  bench.run("cp.async.ca.shared.global [%r1], [%rd1], 16, %r3;");
  for (let lane = 0; lane < 32; lane++) {
    const expected = new Uint8Array(16);
    expected.set(bench.globalBytes.subarray(256 + 16 * lane, 256 + 16 * lane + lane % 17));
    assertEquals(bench.sharedBytes().slice(16 * lane, 16 * lane + 16), expected);
  }
});

Deno.test("cp.async ignores its source where a predicate says so", () => {
  const bench = stepping(8);
  bench.sharedBytes().fill(0xee);
  bench.set("p1", 0b110);
  bench.run("cp.async.ca.shared.global [%r1], [%rd1], 8, %p1;", 0b111);
  const expected = new Uint8Array(24);
  expected.set(bench.globalBytes.subarray(256, 264));
  assertEquals(bench.sharedBytes().slice(0, 24), expected);
});

Deno.test("cp.async faults at addresses it cannot use", () => {
  const faults = (change: (bench: Bench) => void, kind: string): void => {
    const bench = stepping(16);
    change(bench);
    const fault = assertThrows(
      () => bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16, %r3;"),
      Fault,
    );
    assertEquals([fault.kind, fault.lane], [kind, 3]);
  };
  const lane3 = <T>(there: T, elsewhere: (lane: number) => T) => (lane: number): T =>
    lane === 3 ? there : elsewhere(lane);
  const valid = (bench: Bench): void => {
    bench.set("r3", 16);
  };
  faults((bench) => {
    valid(bench);
    bench.set("r1", lane3(24, (lane) => 16 * lane + 64));
  }, "misaligned");
  faults((bench) => {
    valid(bench);
    bench.set("r1", lane3(0x4000, (lane) => 16 * lane));
  }, "out of bounds");
  faults((bench) => {
    valid(bench);
    bench.setLong("rd1", lane3(bench.pointer(8), (lane) => bench.pointer(16 * lane)));
  }, "misaligned");
  faults((bench) => {
    valid(bench);
    bench.setLong("rd1", lane3(bench.pointer(0x20000), (lane) => bench.pointer(16 * lane)));
  }, "out of bounds");
  faults((bench) => bench.set("r3", lane3(17, () => 16)), "illegal instruction");
});

Deno.test("cp.async leaves its destination pending until the thread waits for the group", () => {
  const bench = stepping(16);
  for (let stage = 0; stage < 3; stage++) {
    bench.set("r1", (lane) => 1024 * stage + 16 * lane);
    bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
    bench.run("cp.async.commit_group;");
  }
  const pending = (): boolean[] => [0, 1024, 2048].map((at) => problem(bench, at, 0) !== undefined);
  assertEquals(pending(), [true, true, true]);
  bench.run("cp.async.wait_group 2;");
  assertEquals(pending(), [false, true, true]);
  bench.run("cp.async.wait_group 2;");
  assertEquals(pending(), [false, true, true]);
  bench.run("cp.async.wait_group 0;");
  assertEquals(pending(), [false, false, false]);
});

Deno.test("cp.async.wait_all waits for copies of no group too", () => {
  const bench = stepping(16);
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
  bench.run("cp.async.wait_group 0;");
  assertEquals(problem(bench, 0, 0) === undefined, false);
  bench.run("cp.async.wait_all;");
  assertEquals(problem(bench, 0, 0), undefined);
});

Deno.test("cp.async is not visible to other threads before a barrier", () => {
  const bench = stepping(16, { warps: 2 });
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
  bench.run("cp.async.wait_all;");
  assertEquals(problem(bench, 16, 1), undefined);
  assertEquals(problem(bench, 16, 2) === undefined, false);
  bench.enter(0, 1);
  assertEquals(problem(bench, 16, 1) === undefined, false);
  // A barrier of the warp makes it visible to the warp, one of the block to the block.
  must(bench.blocks[0]?.warps[0], "warp").phase++;
  bench.enter(0, 0);
  assertEquals(problem(bench, 16, 2), undefined);
  bench.enter(0, 1);
  assertEquals(problem(bench, 16, 1) === undefined, false);
  bench.barrier();
  assertEquals(problem(bench, 16, 1), undefined);
});

Deno.test("cp.async must not write where an earlier one may still write", () => {
  const bench = stepping(16);
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
  const fault = assertThrows(
    () => bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;"),
    Fault,
    "has not waited",
  );
  assertEquals(fault.kind, "pending copy");
});

Deno.test("cp.async must not overwrite what another warp reads without a barrier", () => {
  const bench = stepping(16, { warps: 2 });
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
  bench.run("cp.async.wait_all;");
  bench.enter(0, 1);
  bench.set("r1", (lane) => 16 * lane);
  const fault = assertThrows(
    () => bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;"),
    Fault,
  );
  assertEquals(fault.kind, "pending copy");
  bench.barrier();
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
});

Deno.test("cp.async.mbarrier.arrive arrives, and with the phase the copies are over", () => {
  for (const noinc of [true, false]) {
    const bench = stepping(16, { warps: 2 });
    bench.set("r2", 0x2000);
    bench.run(`mbarrier.init.shared.b64 [%r2], ${noinc ? 32 : 1};`, 1);
    bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
    bench.run(`cp.async.mbarrier.arrive${noinc ? ".noinc" : ""}.shared.b64 [%r2];`);
    bench.enter(0, 1);
    bench.set("r2", 0x2000);
    const wait = (): number => {
      bench.run("mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;", ALL);
      bench.run("mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;", ALL);
      return bench.get("p1") | 0;
    };
    if (!noinc) {
      assertEquals(wait(), 0);
      bench.run("mbarrier.arrive.shared.b64 %rd3, [%r2];", 1);
    }
    assertEquals(problem(bench, 16, 5) === undefined, false);
    assertEquals(wait(), ALL);
    assertEquals(problem(bench, 16, 5), undefined);
  }
});

Deno.test("cp.async remembers nothing in runs that are not checked", () => {
  const bench = stepping(16, { checks: false });
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;");
  bench.run("cp.async.commit_group;");
  assertEquals(problem(bench, 0, 0), undefined);
});

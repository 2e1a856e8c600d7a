/** cp.async.bulk in all directions, its reductions, and pipelines of both. */
import fc from "../../support/property.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { accessOf } from "../../../emulator/access/state.ts";
import { attend } from "../../../emulator/check/order.ts";
import { pendingProblem } from "../../../emulator/async/pending.ts";
import { Fault } from "../../../emulator/fault.ts";
import { ALL, Bench } from "./bench.ts";

const BARRIER = 0x3f00;
const LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
const STORE = "cp.async.bulk.global.shared::cta.bulk_group";

function prepared(options: ConstructorParameters<typeof Bench>[0] = {}): Bench {
  const bench = new Bench(options);
  bench.globalBytes.forEach((_, i, bytes) => bytes[i] = (i * 13 + (i >> 7)) & 0xff);
  for (const block of bench.blocks) {
    for (const warp of block.warps) {
      bench.enter(block.rank, warp.index);
      bench.set("r1", 0x400);
      bench.set("r2", BARRIER);
      bench.setLong("rd1", bench.pointer(0x1000));
    }
    bench.run("mbarrier.init.shared.b64 [%r2], 1;", 1);
  }
  bench.enter(0, 0);
  return bench;
}

/** Polls twice: the first time, copies may still be pending. */
function isOver(bench: Bench, parity: number): boolean {
  bench.run(`mbarrier.try_wait.parity.shared.b64 %p1, [%r2], ${parity};`, 1);
  bench.run(`mbarrier.try_wait.parity.shared.b64 %p1, [%r2], ${parity};`, 1);
  return (bench.get("p1") & 1) === 1;
}

function problem(bench: Bench, offset: number, writing = false): string | undefined {
  const { machine } = bench;
  attend(accessOf(machine).order, machine);
  const location = machine.block.shared + offset;
  return pendingProblem(machine.block, location, 4, writing, machine.warp, 0);
}

Deno.test("cp.async.bulk copies bytes from global memory and counts them; checked, as late as possible", () => {
  const bench = prepared();
  const before = bench.sharedBytes().slice(0x400, 0x450);
  bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 96;", 1);
  bench.run(`${LOAD} [%r1], [%rd1], 80, [%r2];`, 1);
  assertEquals(isOver(bench, 0), false);
  bench.run(`${LOAD} [%r1+512], [%rd1+16], 16, [%r2];`, 1);
  assertEquals(bench.sharedBytes().slice(0x400, 0x450), before);
  assertEquals(isOver(bench, 0), true);
  assertEquals(bench.sharedBytes().slice(0x400, 0x450), bench.globalBytes.slice(0x1000, 0x1050));
});

Deno.test("cp.async.bulk may take longer than the first question in checked runs", () => {
  for (const checks of [true, false]) {
    const bench = prepared({ checks, warps: 2 });
    bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 16;", 1);
    bench.run(`${LOAD} [%r1], [%rd1], 16, [%r2];`, 1);
    for (const warp of [0, 1]) {
      bench.enter(0, warp);
      const answers = [0, 1].map(() => {
        bench.run("mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;", 1);
        return bench.get("p1") & 1;
      });
      assertEquals(answers, [checks ? 0 : 1, 1]);
    }
  }
});

Deno.test("cp.async.bulk may be ahead of the bytes that are announced", () => {
  const bench = prepared();
  bench.run(`${LOAD} [%r1], [%rd1], 64, [%r2];`, 1);
  assertEquals(isOver(bench, 0), false);
  bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 64;", 1);
  assertEquals(isOver(bench, 0), true);
});

Deno.test("cp.async.bulk.multicast::cluster writes to the same offsets in all blocks of the mask", () => {
  const bench = prepared({ blocks: 3 });
  for (let rank = 0; rank < 3; rank++) {
    bench.enter(rank, 0);
    bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 32;", 1);
  }
  bench.enter(2, 0);
  bench.set("h1", 0b011);
  bench.run(`${LOAD}.multicast::cluster [%r1], [%rd1], 32, [%r2], %h1;`, 1);
  const done: boolean[] = [];
  for (let rank = 0; rank < 3; rank++) {
    bench.enter(rank, 0);
    done.push(isOver(bench, 0));
  }
  assertEquals(done, [true, true, false]);
  assertEquals(bench.sharedBytes(1).slice(0x400, 0x420), bench.globalBytes.slice(0x1000, 0x1020));
  bench.set("h1", 0b1000);
  assertThrows(
    () => bench.run(`${LOAD}.multicast::cluster [%r1], [%rd1], 32, [%r2], %h1;`, 1),
    Fault,
    "of a cluster of 3",
  );
});

Deno.test("cp.async.bulk copies to another block of the cluster and signals it", () => {
  const bench = prepared({ blocks: 2, checks: false });
  bench.enter(1, 0);
  bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 48;", 1);
  bench.enter(0, 0);
  bench.sharedBytes().subarray(0x400, 0x430).fill(0x5a);
  // mapa of rank 1.
  bench.set("r3", (2 << 24) | 0x800);
  bench.set("r4", (2 << 24) | BARRIER);
  bench.run(
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%r1], 48, [%r4];",
    1,
  );
  assertEquals(bench.sharedBytes(1).slice(0x800, 0x830), new Uint8Array(48).fill(0x5a));
  bench.enter(1, 0);
  assertEquals(isOver(bench, 0), true);
});

Deno.test("cp.async.bulk stores, and its source stays until the group is waited for", () => {
  for (const wait of ["cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;"]) {
    const bench = prepared();
    bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 64;", 1);
    bench.run(`${LOAD} [%r1], [%rd1], 64, [%r2];`, 1);
    const early = assertThrows(() => bench.run(`${STORE} [%rd1], [%r1], 64;`, 1), Fault);
    assertEquals(early.kind, "pending copy");
    assertEquals(isOver(bench, 0), true);
    bench.setLong("rd2", bench.pointer(0x2000));
    bench.run(`${STORE} [%rd2], [%r1], 64;`, 1);
    bench.run("cp.async.bulk.commit_group;", 1);
    assertEquals(problem(bench, 0x400), undefined);
    assertEquals(problem(bench, 0x400, true) === undefined, false);
    bench.run(wait, 1);
    assertEquals(bench.globalBytes.slice(0x2000, 0x2040), bench.globalBytes.slice(0x1000, 0x1040));
    assertEquals(problem(bench, 0x400, true), undefined);
  }
});

Deno.test("cp.async.bulk faults at sizes and addresses that are no multiples of 16", () => {
  const bench = prepared();
  assertThrows(() => bench.run(`${LOAD} [%r1], [%rd1], 24, [%r2];`, 1), Fault, "size 24");
  assertThrows(() => bench.run(`${LOAD} [%r1+8], [%rd1], 16, [%r2];`, 1), Fault, "destination");
  assertThrows(() => bench.run(`${LOAD} [%r1], [%rd1+8], 16, [%r2];`, 1), Fault, "source");
  assertThrows(() => bench.run(`${STORE} [%rd1], [%r1], 16;`, 1), Fault, "not written before");
  assertThrows(() => bench.run(`${LOAD} [%r1], [%rd1], 16, [%r2+8];`, 1), Fault, "not initialised");
  assertThrows(
    () => bench.run("cp.async.bulk.prefetch.L2.global [%rd1+8], 16;", 1),
    Fault,
    "multiple of 16",
  );
  bench.run("cp.async.bulk.prefetch.L2.global [%rd1], 16;", 1);
});

/** Two stages, a producer and a consumer warp: full barriers count bytes, empty ones the consumer's arrival. */
function pipeline(bench: Bench, rounds: number, waits: { full: boolean; empty: boolean }): void {
  const full = (stage: number): string => `[%r5+${8 * stage}]`;
  const empty = (stage: number): string => `[%r5+${16 + 8 * stage}]`;
  for (const warp of [0, 1]) {
    bench.enter(0, warp);
    bench.set("r5", 0x3000);
  }
  for (let i = 0; i < 4; i++) bench.run(`mbarrier.init.shared.b64 [%r5+${8 * i}], 1;`, 1);
  bench.barrier();
  const await_ = (barrier: string, parity: number): void => {
    for (let i = 0; i < 2; i++) {
      bench.run(`mbarrier.try_wait.parity.shared.b64 %p1, ${barrier}, ${parity};`, ALL);
    }
    assertEquals(bench.get("p1") | 0, ALL);
  };
  const produce = (k: number): void => {
    bench.enter(0, 0);
    const stage = k % 2;
    const parity = (k >> 1) & 1;
    if (waits.empty) await_(empty(stage), parity ^ 1);
    bench.run(`mbarrier.arrive.expect_tx.shared.b64 %rd9, ${full(stage)}, 512;`, 1);
    bench.run(`${LOAD} [%r1+${1024 * stage}], [%rd1+${512 * k}], 512, ${full(stage)};`, 1);
  };
  const consume = (k: number): void => {
    bench.enter(0, 1);
    const stage = k % 2;
    if (waits.full) await_(full(stage), (k >> 1) & 1);
    for (const at of [0, 508]) {
      const found = problem(bench, 0x400 + 1024 * stage + at);
      if (found !== undefined) throw new Fault("pending copy", found);
    }
    const start = 0x400 + 1024 * stage;
    const from = 0x1000 + 512 * k;
    assertEquals(
      bench.sharedBytes().slice(start, start + 512),
      bench.globalBytes.slice(from, from + 512),
    );
    bench.run(`mbarrier.arrive.shared.b64 %rd9, ${empty(stage)};`, 1);
  };
  produce(0);
  for (let k = 0; k < rounds; k++) {
    if (k + 1 < rounds) produce(k + 1);
    consume(k);
  }
}

Deno.test("cp.async.bulk in a pipeline of stages needs each of its waits", () => {
  pipeline(prepared({ warps: 2 }), 9, { full: true, empty: true });
  assertThrows(
    () => pipeline(prepared({ warps: 2 }), 9, { full: false, empty: true }),
    Fault,
    "has not waited",
  );
  assertThrows(
    () => pipeline(prepared({ warps: 2 }), 9, { full: true, empty: false }),
    Fault,
    "has not waited",
  );
});

/** Reductions by plain arithmetic on BigInts; `bits` wide. */
const INTEGER: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  min: (a, b) => a < b ? a : b,
  max: (a, b) => a > b ? a : b,
  inc: (a, b) => a >= b ? 0n : a + 1n,
  dec: (a, b) => a === 0n || a > b ? b : a - 1n,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

Deno.test("cp.reduce.async.bulk combines integers as arithmetic says", () => {
  const forms = [
    ...["add", "min", "max", "inc", "dec"].map((op) => [op, "u32"] as const),
    ...["add", "min", "max"].map((op) => [op, "s32"] as const),
    ...["add", "min", "max"].map((op) => [op, "u64"] as const),
    ...["min", "max"].map((op) => [op, "s64"] as const),
    ...["and", "or", "xor"].flatMap((op) => [[op, "b32"], [op, "b64"]] as const),
  ];
  for (const [op, type] of forms) {
    const bits = Number(type.slice(1));
    const wrap = (value: bigint): bigint =>
      type.startsWith("s") ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
    const bench = prepared({ checks: false });
    const count = 256 / (bits / 8);
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }), {
          minLength: 2 * count,
          maxLength: 2 * count,
        }),
        (values) => {
          const view = new DataView(bench.machine.memory.buffer);
          const set = (at: number, value: bigint): void =>
            bits === 32
              ? view.setUint32(at, Number(value), true)
              : view.setBigUint64(at, value, true);
          const get = (at: number): bigint =>
            bits === 32 ? BigInt(view.getUint32(at, true)) : view.getBigUint64(at, true);
          const from = bench.machine.block.shared + 0x400;
          const to = bench.global + 0x1000;
          for (let i = 0; i < count; i++) {
            set(to + i * bits / 8, values[i] ?? 0n);
            set(from + i * bits / 8, values[count + i] ?? 0n);
          }
          bench.run(
            `cp.reduce.async.bulk.global.shared::cta.bulk_group.${op}.${type} [%rd1], [%r1], 256;`,
            1,
          );
          for (let i = 0; i < count; i++) {
            const [a, b] = [wrap(values[i] ?? 0n), wrap(values[count + i] ?? 0n)];
            const expected = BigInt.asUintN(bits, INTEGER[op]?.(a, b) ?? 0n);
            assertEquals(get(to + i * bits / 8), expected, `${op}.${type} ${a} ${b}`);
          }
        },
      ),
      { numRuns: 20 },
    );
  }
});

Deno.test("cp.reduce.async.bulk adds to the shared memory of another block", () => {
  const bench = prepared({ blocks: 2, checks: false });
  bench.enter(1, 0);
  bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 16;", 1);
  const word = (rank: number, i: number): number => (bench.blocks[rank]?.shared ?? 0) / 4 + 256 + i;
  for (let i = 0; i < 4; i++) {
    bench.machine.views.u32[word(0, i)] = 10 * i;
    bench.machine.views.u32[word(1, i)] = 0xffff_fffe;
  }
  bench.enter(0, 0);
  bench.set("r3", (2 << 24) | 0x400);
  bench.set("r4", (2 << 24) | BARRIER);
  bench.run(
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 " +
      "[%r3], [%r1], 16, [%r4];",
    1,
  );
  const sums = [0, 1, 2, 3].map((i) => bench.machine.views.u32[word(1, i)]);
  assertEquals(sums, [0xffff_fffe, 8, 18, 28]);
  bench.enter(1, 0);
  assertEquals(isOver(bench, 0), true);
});

Deno.test("cp.reduce.async.bulk adds floats with one rounding, subnormal ones too", () => {
  const bench = prepared({ checks: false });
  const view = new DataView(bench.machine.memory.buffer);
  const from = bench.machine.block.shared + 0x400;
  const to = bench.global + 0x1000;
  // Old, added, sum: bits. f32 as an H200 gives them; f16 and bf16 by hand.
  const cases: readonly [string, number, readonly (readonly number[])[]][] = [
    ["f32", 4, [
      [0x00000001, 0x00000001, 0x00000002],
      [0x00000001, 0x80000001, 0x00000000],
      [0x00400000, 0x00400000, 0x00800000],
      [0x3f800000, 0x7fc12345, 0x7fffffff],
    ]],
    ["noftz.f16", 2, [
      [0x3c00, 0x1000, 0x3c00], // 1 + 2^-11: a tie, to even
      [0x3c01, 0x1000, 0x3c02],
      [0x0001, 0x0001, 0x0002],
      [0x7bff, 0x7bff, 0x7c00],
      [0x7c00, 0xfc00, 0x7fff],
    ]],
    ["noftz.bf16", 2, [
      [0x3f80, 0x3b80, 0x3f80], // 1 + 2^-8: a tie, to even
      [0x3f81, 0x3b80, 0x3f82],
      [0x0001, 0x0001, 0x0002],
      [0x7f7f, 0x7f7f, 0x7f80],
    ]],
  ];
  for (const [type, bytes, sums] of cases) {
    const set = (at: number, value = 0): void =>
      bytes === 4 ? view.setUint32(at, value, true) : view.setUint16(at, value, true);
    for (let i = 0; i < 16 / bytes; i++) {
      set(to + i * bytes, sums[i]?.[0]);
      set(from + i * bytes, sums[i]?.[1]);
    }
    bench.run(
      `cp.reduce.async.bulk.global.shared::cta.bulk_group.add.${type} [%rd1], [%r1], 16;`,
      1,
    );
    sums.forEach(([, , sum], i) => {
      const at = to + i * bytes;
      assertEquals(bytes === 4 ? view.getUint32(at, true) : view.getUint16(at, true), sum, type);
    });
  }
});

Deno.test("nanosleep lets other warps run, other hints do nothing", () => {
  const bench = new Bench();
  bench.run("nanosleep.u32 100;", 1);
  assertEquals(bench.yields, 1);
  bench.run("griddepcontrol.wait;");
  bench.run("setmaxnreg.inc.sync.aligned.u32 64;");
  assertEquals(bench.yields, 1);
});

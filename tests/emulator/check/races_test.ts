import fc from "../../support/property.ts";
import { Fault } from "../../../emulator/fault.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";
import { Rig, type RigOptions } from "../access/rig.ts";

const LOAD = "ld.shared.b32 %r1, [%r0];";
const STORE = "st.shared.b32 [%r0], %r1;";

function newRig(options: RigOptions = {}): Rig {
  const rig = new Rig({ checks: true, warps: 4, ...options });
  rig.begin();
  for (const [b, { warps }] of rig.blocks.entries()) {
    for (const w of warps.keys()) {
      rig.turn(w, b).set("r0", (lane) => 4 * (32 * w + lane)).set("r1", (lane) => lane);
    }
  }
  return rig.turn(0);
}

Deno.test("a barrier of the block orders what its threads do", () => {
  const rig = newRig();
  rig.turn(0).run(STORE).turn(1).run(STORE).barrier();
  rig.turn(0).set("r0", (lane) => 4 * (63 - lane)).run(LOAD);
  rig.turn(1).set("r0", (lane) => 4 * (63 - lane)).run(LOAD);
  rig.barrier().turn(0).run(STORE);
});

Deno.test("a load races with a store of another warp before it", () => {
  const rig = newRig();
  rig.turn(0).run(STORE).turn(1).set("r0", (lane) => 4 * lane);
  const fault = rig.fault(LOAD, 0x10);
  assertEquals([fault.kind, fault.lane], ["missing barrier", 4]);
  assertStringIncludes(
    fault.detail,
    "load of 4 bytes at offset 16 of shared memory by thread 36 is not ordered with a write by thread 4",
  );
  assertStringIncludes(fault.detail, STORE);
});

Deno.test("a store races with loads and stores of other threads before it", () => {
  const rig = newRig();
  rig.turn(0).run(STORE).barrier().run(LOAD);
  rig.turn(1).set("r0", (lane) => 4 * lane);
  assertStringIncludes(rig.fault(STORE, 1).detail, "a read by thread 0");
  const other = newRig();
  other.turn(0).run(STORE).turn(1).set("r0", (lane) => 4 * lane);
  assertStringIncludes(other.fault(STORE, 1).detail, "a write by thread 0");
});

Deno.test("a barrier of the warp orders its lanes only", () => {
  const exchange = (rig: Rig): Rig => rig.set("r0", (lane) => 4 * (lane ^ 1));
  const missing = newRig().run(STORE);
  assertEquals(exchange(missing).fault(LOAD).kind, "missing barrier");
  const right = newRig().run(STORE);
  right.machine.warp.phase++;
  exchange(right).run(LOAD);
  right.turn(1).set("r0", (lane) => 4 * lane);
  assertEquals(right.fault(LOAD).kind, "missing barrier");
});

Deno.test("a store races with a broadcast load that several lanes made", () => {
  const rig = newRig().run(STORE);
  rig.barrier().set("r0", () => 0).run(LOAD);
  assertStringIncludes(rig.fault(STORE, 1 << 31).detail, "other threads of its warp");
  const alone = newRig().run(STORE);
  alone.barrier().set("r0", () => 0).run(LOAD, 8).run(STORE, 8);
});

Deno.test("lanes of one store race only if their values differ", () => {
  const rig = newRig().set("r0", () => 16).set("r1", () => 5).run(STORE);
  rig.barrier().set("r1", (lane) => lane >> 4);
  const fault = rig.fault(STORE);
  assertEquals(fault.kind, "race");
  assertStringIncludes(fault.detail, "another lane of the warp stores another value there");
  rig.barrier().run(STORE, 0xffff);
});

Deno.test("atomic and volatile accesses race with plain ones only", () => {
  const rig = newRig().run(STORE);
  rig.barrier();
  for (const warp of [0, 1, 2]) {
    rig.turn(warp).set("r0", (lane) => 4 * (lane & 3));
    rig.run("atom.shared.add.u32 %r2, [%r0], %r1;").run("ld.volatile.shared.b32 %r2, [%r0];");
    rig.run("st.relaxed.cta.shared.b32 [%r0], %r1;");
  }
  rig.turn(3).set("r0", () => 0);
  assertEquals(rig.fault(LOAD).kind, "missing barrier");
  rig.barrier().run(LOAD).turn(2);
  assertEquals(rig.fault("red.shared.add.u32 [%r0], %r1;").kind, "missing barrier");
});

Deno.test("a release and then an acquire order warps of a block", () => {
  const flag = {
    store: "st.release.cta.shared.b32 [%r3], %r1;",
    load: "ld.acquire.cta.shared.b32 %r4, [%r3];",
  };
  const rig = newRig().set("r3", () => 512).run(STORE).run(flag.store, 1);
  rig.turn(1).set("r3", () => 512).set("r0", (lane) => 4 * lane);
  assertEquals(rig.fault(LOAD).kind, "missing barrier");
  const right = newRig().set("r3", () => 512).run(STORE).run(flag.store, 1);
  right.turn(1).set("r3", () => 512).set("r0", (lane) => 4 * lane).run(flag.load, 1).run(LOAD);
  // Later releases of the first warp do not undo that.
  right.turn(0).run(flag.store, 1).turn(1).run(LOAD);
  // A third warp has acquired nothing.
  right.turn(2).set("r0", (lane) => 4 * lane);
  assertEquals(right.fault(LOAD).kind, "missing barrier");
  const fenced = (flag: string): Rig => {
    const fences = newRig().set("r3", () => 512).run(STORE).run("fence.acq_rel.cta;").run(flag, 1);
    fences.turn(1).set("r3", () => 512).set("r0", (lane) => 4 * lane);
    return fences.run("ld.relaxed.cta.shared.b32 %r4, [%r3];", 1).run("fence.acq_rel.cta;");
  };
  fenced("st.relaxed.cta.shared.b32 [%r3], %r1;").run(LOAD);
});

Deno.test("an acquire before the release orders nothing", () => {
  const rig = newRig().run(STORE).turn(1).run("fence.acq_rel.gpu;").turn(0).run(
    "fence.acq_rel.gpu;",
  );
  rig.turn(1).set("r0", (lane) => 4 * lane);
  assertEquals(rig.fault(LOAD).kind, "missing barrier");
});

Deno.test("races are distinguished by granules as small as the narrowest access", () => {
  const halves = newRig({ granule: 2 });
  halves.set("r0", (lane) => 2 * lane).run("st.shared.b16 [%r0], %h1;");
  const words = newRig({ granule: 4 });
  words.turn(0).set("r0", (lane) => 16 * lane).run("st.shared.v2.b32 [%r0], {%r1, %r2};");
  words.turn(1).set("r0", (lane) => 16 * lane + 8).run("st.shared.v2.b32 [%r0], {%r1, %r2};");
  words.turn(2).set("r0", (lane) => 16 * lane);
  assertEquals(words.fault("ld.shared.v4.b32 {%r1,%r2,%r3,%r4}, [%r0];").kind, "missing barrier");
});

Deno.test("a launch begins with no accesses", () => {
  const rig = newRig();
  const x = rig.device(128);
  rig.begin().point("d0", (lane) => x + 4 * lane).run("st.global.b32 [%d0], %r1;");
  rig.begin().turn(1).point("d0", (lane) => x + 4 * lane).run("st.global.b32 [%d0], %r1;");
});

const GLOBAL_LOAD = "ld.global.b32 %r1, [%d0];";
const GLOBAL_STORE = "st.global.b32 [%d0], %r1;";

function globalRig(options: RigOptions = {}): Rig {
  const rig = new Rig({ checks: true, blocks: 3, warps: 2, ...options });
  const x = rig.device(4096);
  rig.begin();
  for (const [b, { warps }] of rig.blocks.entries()) {
    for (const w of warps.keys()) {
      rig.turn(w, b).point("d0", (lane) => x + 4 * lane).point("d1", () => x + 1024);
    }
  }
  return rig.turn(0, 0);
}

Deno.test("blocks race in global memory, barriers or not", () => {
  const rig = globalRig().run(GLOBAL_STORE);
  rig.barrier(0).barrier(1).turn(0, 1);
  const fault = rig.fault(GLOBAL_LOAD);
  assertEquals(fault.kind, "race");
  assertStringIncludes(fault.detail, "a write by thread 0 of block 0");
  const reads = globalRig().run(GLOBAL_LOAD).turn(0, 1).run(GLOBAL_LOAD).turn(1, 1);
  assertEquals(reads.fault(GLOBAL_STORE).kind, "missing barrier");
});

Deno.test("threads of a block are ordered in global memory by its barriers", () => {
  const rig = globalRig().run(GLOBAL_STORE).turn(1);
  assertEquals(rig.fault(GLOBAL_LOAD).kind, "missing barrier");
  const right = globalRig().run(GLOBAL_STORE).barrier().turn(1).run(GLOBAL_LOAD);
  assertEquals(right.turn(0).fault(GLOBAL_STORE).kind, "missing barrier");
});

Deno.test("a ticket with fences orders blocks, one of a smaller scope does not", () => {
  const ticket = "atom.global.inc.u32 %r2, [%d1], %r3;";
  const blocks = (fence: string): Rig => {
    const rig = globalRig();
    rig.turn(1, 0).run(GLOBAL_STORE).barrier(0).turn(0, 0).run(fence, 1).run(ticket, 1);
    rig.turn(0, 1).run(ticket, 1).run(fence, 1).barrier(1).turn(1, 1);
    return rig;
  };
  blocks("fence.acq_rel.gpu;").run(GLOBAL_LOAD).barrier(1).turn(0, 1).run(GLOBAL_STORE);
  blocks("membar.gl;").run(GLOBAL_LOAD);
  assertEquals(blocks("membar.cta;").fault(GLOBAL_LOAD).kind, "race");
  const atomics = globalRig().run(GLOBAL_STORE).run(
    "red.release.gpu.global.add.u32 [%d1], %r3;",
    1,
  );
  atomics.turn(0, 1).run("atom.acquire.gpu.global.add.u32 %r2, [%d1], %r3;", 1).run(GLOBAL_LOAD);
});

Deno.test("blocks of a cluster are ordered by its barriers, in shared memory too", () => {
  const rig = new Rig({ checks: true, blocks: 2, warps: 1, cluster: true });
  rig.begin();
  const remote = (block: number): Rig =>
    rig.turn(0, block).set("r0", (lane) => ((2 - block) << 24) | (4 * lane)).set("r1", () => 1);
  remote(0).run("st.shared::cluster.b32 [%r0], %r1;");
  rig.turn(0, 1).set("r0", (lane) => 4 * lane);
  assertEquals(rig.fault("ld.shared.b32 %r1, [%r0];").kind, "race");
  rig.barrier(0).barrier(1).run("ld.shared.b32 %r1, [%r0];");
  remote(0);
  assertEquals(rig.fault("st.shared::cluster.b32 [%r0], %r1;").kind, "race");
  rig.barrier(0).barrier(1).run("st.shared::cluster.b32 [%r0], %r1;");
});

/** An access of a thread, or a barrier; threads are of two warps of two lanes each. */
type Step =
  | {
    readonly kind: "access";
    readonly warp: number;
    readonly lane: number;
    readonly cell: number;
    readonly store: boolean;
  }
  | { readonly kind: "block" }
  | { readonly kind: "warp"; readonly warp: number };

interface Seen {
  readonly warp: number;
  readonly lane: number;
  readonly cell: number;
  readonly store: boolean;
  readonly block: number;
  readonly phase: number;
}

/** The first step that races with an earlier one, by looking at all pairs. */
function firstRace(steps: readonly Step[]): number {
  const seen: Seen[] = [];
  let block = 0;
  const phases = [0, 0, 0];
  for (const [i, step] of steps.entries()) {
    if (step.kind === "block") block++;
    else if (step.kind === "warp") phases[step.warp] = (phases[step.warp] ?? 0) + 1;
    else {
      const { warp, lane, cell, store } = step;
      const now = { warp, lane, cell, store, block, phase: phases[warp] ?? 0 };
      const races = seen.some((old) =>
        old.cell === cell && (old.store || store) && old.block === block &&
        (old.warp !== warp || (old.lane !== lane && old.phase === now.phase))
      );
      if (races) return i;
      seen.push(now);
    }
  }
  return -1;
}

Deno.test("races are found exactly when two accesses have no barrier between them", () => {
  const access = fc.record({
    kind: fc.constant("access" as const),
    warp: fc.nat(2),
    lane: fc.nat(2),
    cell: fc.nat(1),
    store: fc.boolean(),
  });
  const step = fc.oneof(
    { arbitrary: access, weight: 6 },
    { arbitrary: fc.record({ kind: fc.constant("block" as const) }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant("warp" as const), warp: fc.nat(2) }), weight: 2 },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 24 }), (steps) => {
      const rig = newRig();
      rig.turn(0).set("r0", (lane) => 4 * (lane % 2)).set("r1", () => 0).run(STORE).barrier();
      const load = rig.compile(LOAD);
      const store = rig.compile(STORE);
      let found = -1;
      for (const [i, each] of steps.entries()) {
        if (each.kind === "block") rig.barrier();
        else if (each.kind === "warp") {
          const warp = rig.blocks[0]?.warps[each.warp];
          if (warp !== undefined) warp.phase++;
        } else {
          rig.turn(each.warp).set("r0", () => 4 * each.cell);
          try {
            (each.store ? store : load)(rig.machine.warp.registerFile, 1 << each.lane);
          } catch (error) {
            assert(error instanceof Fault && /^(race|missing barrier)$/.test(error.kind));
            found = i;
            break;
          }
        }
      }
      assertEquals(found, firstRace(steps));
    }),
    { numRuns: 500 },
  );
});

Deno.test("reads of global memory by several lanes before a barrier of the block are none after it", () => {
  const text = kernelText(`.reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd0, [p0];
    mov.u32 %r0, %tid.x;
    xor.b32 %r1, %r0, 1;
    mul.wide.u32 %rd1, %r1, 4;
    add.s64 %rd1, %rd0, %rd1;
    ld.global.b32 %r2, [%rd1];
    bar.sync 0;
    mul.wide.u32 %rd2, %r0, 4;
    add.s64 %rd2, %rd0, %rd2;
    ld.global.b32 %r3, [%rd2];
    st.global.b32 [%rd2], %r2;`);
  const x = Int32Array.from({ length: 32 }, (_, i) => i);
  emulate(text, { args: [x] });
  assertEquals([...x], [...x.keys()].map((i) => i ^ 1));
});

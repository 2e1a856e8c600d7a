import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { kernelText } from "../../support/emulate.ts";
import { createEmulator, type Emulator, type LaunchReport } from "../../../emulator/launch.ts";
import { Fault } from "../../../emulator/fault.ts";
import { WINDOW } from "../../../emulator/memory.ts";
import { spawnWorker } from "../../../ffi/threads/spawn.ts";

const BLOCKS = 600;

/** Each thread adds up the numbers below some thousands, and one to a counter; block `bad` stores out of bounds. */
const TEXT = kernelText(
  `
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1;
  ld.param.u64 %rd0, [p0]; ld.param.u32 %r9, [p1];
  mov.u32 %r4, 0; mov.u32 %r5, 0;
LOOP: add.u32 %r4, %r4, %r5; xor.b32 %r4, %r4, %r3; add.u32 %r5, %r5, 1;
  setp.lt.u32 %p0, %r5, 3000; @%p0 bra LOOP;
  mul.wide.u32 %rd1, %r3, 4; add.s64 %rd2, %rd0, %rd1;
  setp.eq.u32 %p1, %r2, %r9; @%p1 add.s64 %rd2, %rd2, 1048576;
  st.global.u32 [%rd2+4], %r4;
  red.global.add.u32 [%rd0], 1; ret;`,
  { params: ["u64", "u32"] },
);

function expected(thread: number): number {
  let sum = 0;
  for (let i = 0; i < 3000; i++) sum = ((sum + i) ^ thread) >>> 0;
  return sum;
}

function run(emulator: Emulator, workers: number, bad: number): [Uint32Array, LaunchReport] {
  const { machine, heap } = emulator;
  const module = emulator.load(TEXT, "test");
  const words = 1 + 64 * BLOCKS;
  const location = heap.allocate(4 * words, 256, "out");
  machine.views.u8.fill(0, location, location + 4 * words);
  const block = new DataView(new ArrayBuffer(12));
  block.setBigUint64(0, (BigInt(WINDOW.global) << 32n) | BigInt(location), true);
  block.setUint32(8, bad, true);
  try {
    const report = module.kernels.get("k")?.launch({
      grid: [BLOCKS, 1, 1],
      block: [64, 1, 1],
      sharedBytes: 0,
      argumentBlock: new Uint8Array(block.buffer),
      checks: true,
      profile: true,
      budget: 1e9,
      workers,
    });
    assert(report !== undefined);
    return [machine.views.u32.slice(location >> 2, (location >> 2) + words), report];
  } finally {
    heap.free(location);
    module.unload();
  }
}

Deno.test("WorkerPool lets workers run blocks of a large launch, with the same results and counts", () => {
  const emulator = createEmulator({ spawn: spawnWorker });
  try {
    const [alone, counts] = run(emulator, 1, -1);
    const [together, merged] = run(emulator, 3, -1);
    assertEquals(alone[0], 64 * BLOCKS);
    assertEquals(alone[1 + 64 * 7 + 5], expected(64 * 7 + 5));
    assertEquals(together, alone);
    assertEquals(
      [merged.blocks, merged.threadInstructions, merged.instructions],
      [counts.blocks, counts.threadInstructions, counts.instructions],
    );
    assertEquals(merged.access, counts.access);
  } finally {
    emulator.close();
  }
});

Deno.test("WorkerPool passes on the fault of the worker that met it", () => {
  const emulator = createEmulator({ spawn: spawnWorker });
  try {
    run(emulator, 3, -1);
    const fault = assertThrows(() => run(emulator, 3, BLOCKS - 1), Fault);
    assertEquals(fault.kind, "out of bounds");
    assertEquals(fault.origin?.block, [BLOCKS - 1, 0, 0]);
  } finally {
    emulator.close();
  }
});

/** Whole kernels: the right ones run without a fault, those with a bug stop where it is. */
import { must } from "../../../compiler/support/bug.ts";
import { Fault } from "../../../emulator/fault.ts";
import { createEmulator, type Emulator, type LaunchReport } from "../../../emulator/launch.ts";
import { emulate, kernelText } from "../../support/emulate.ts";
import { WINDOW } from "../../../emulator/memory.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";

interface Run {
  readonly grid: number;
  readonly block: number;
  readonly pointers: readonly number[];
  readonly profile?: boolean;
}

function launch(emulator: Emulator, ptx: string, run: Run): LaunchReport {
  const [kernel] = [...emulator.load(ptx, "test").kernels.values()];
  const argumentBlock = new Uint8Array(8 * run.pointers.length);
  const view = new DataView(argumentBlock.buffer);
  run.pointers.forEach((location, i) => {
    view.setUint32(8 * i, location, true);
    view.setUint32(8 * i + 4, WINDOW.global, true);
  });
  return must(kernel, "kernel").launch({
    grid: [run.grid, 1, 1],
    block: [run.block, 1, 1],
    sharedBytes: 0,
    argumentBlock,
    checks: true,
    profile: run.profile ?? false,
    budget: 1e6,
    workers: 1,
  });
}

const module = (params: readonly string[], variables: string, body: string): string =>
  `.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(${params.map((name) => `.param .u64 ${name}`).join(", ")}) {
  .reg .b32 %r<16>;
  .reg .b64 %d<16>;
  .reg .pred %p<4>;
  ${variables}
  ${params.map((name, i) => `ld.param.u64 %d${i}, [${name}];`).join("\n  ")}
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r3, %r1, %r2, %r0;
  mul.wide.u32 %d8, %r3, 4;
  ${body}
  ret;
}`;

/** Reverses the 64 elements of each block through shared memory. */
const reverse = (barrier: string): string =>
  module(
    ["X", "Y"],
    ".shared .align 16 .b8 tile[256];",
    `add.s64 %d2, %d0, %d8;
  ld.global.b32 %r4, [%d2];
  mov.u32 %r5, tile;
  shl.b32 %r6, %r0, 2;
  add.u32 %r7, %r5, %r6;
  st.shared.b32 [%r7], %r4;
  ${barrier}
  xor.b32 %r6, %r6, 252;
  add.u32 %r7, %r5, %r6;
  ld.shared.b32 %r4, [%r7];
  add.s64 %d3, %d1, %d8;
  st.global.b32 [%d3], %r4;`,
  );

function tensors(elements: number): { emulator: Emulator; pointers: number[] } {
  const emulator = createEmulator();
  const pointers = ["x", "y"].map((name) => emulator.heap.allocate(4 * elements, 256, name));
  const { u32 } = emulator.machine.views;
  pointers.forEach((location) => {
    for (let i = 0; i < elements; i++) u32[location / 4 + i] = i;
  });
  return { emulator, pointers };
}

const faultOf = (action: () => void): Fault => assertThrows(action, Fault);

Deno.test("a reversal in shared memory runs, and is as cheap as can be", () => {
  const { emulator, pointers } = tensors(512);
  const run = { grid: 8, block: 64, pointers, profile: true };
  const { access } = launch(emulator, reverse("bar.sync 0;"), run);
  const { u32 } = emulator.machine.views;
  for (let i = 0; i < 512; i++) assertEquals(u32[(pointers[1] ?? 0) / 4 + i], i ^ 63);
  assertEquals([access.requests, access.sectors, access.idealSectors], [32, 128, 128]);
  assertEquals([access.sharedRequests, access.wavefronts, access.bankConflicts], [32, 32, 0]);
});

Deno.test("a reversal without its barrier is stopped", () => {
  const { emulator, pointers } = tensors(512);
  const fault = faultOf(() =>
    launch(emulator, reverse("membar.cta;"), { grid: 8, block: 64, pointers })
  );
  assertEquals(fault.kind, "missing barrier");
  assertStringIncludes(fault.detail, "in shared memory");
});

Deno.test("a launch that is too large by one block leaves its tensors by name", () => {
  const { emulator, pointers } = tensors(500);
  const fault = faultOf(() =>
    launch(emulator, reverse("bar.sync 0;"), { grid: 8, block: 64, pointers })
  );
  assertEquals([fault.kind, fault.lane, fault.origin?.block?.[0]], ["out of bounds", 20, 7]);
  assertStringIncludes(fault.detail, "load of 4 bytes at byte 2000, 0 bytes past the end of X");
});

/** Each block writes a sum; the block that comes last adds them up. */
const ticket = (before: string, after: string): string =>
  module(
    ["X", "Y"],
    "",
    `mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d0, %d2;
  st.global.b32 [%d3], %r1;
  ${before}
  atom.global.inc.u32 %r4, [%d1], 7;
  ${after}
  setp.ne.u32 %p1, %r4, 7;
  @%p1 bra done;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
  mov.u64 %d4, %d0;
again:
  ld.global.b32 %r7, [%d4];
  add.u32 %r5, %r5, %r7;
  add.s64 %d4, %d4, 4;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 8;
  @%p2 bra again;
  st.global.b32 [%d1+4], %r5;
done:`,
  );

Deno.test("the last block may read what others wrote before a fence", () => {
  const { emulator, pointers } = tensors(8);
  emulator.machine.views.u32[(pointers[1] ?? 0) / 4] = 0;
  launch(emulator, ticket("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"), {
    grid: 8,
    block: 1,
    pointers,
  });
  assertEquals(emulator.machine.views.u32[(pointers[1] ?? 0) / 4 + 1], 28);
});

Deno.test("the last block must not read what others wrote without a fence", () => {
  const { emulator, pointers } = tensors(8);
  emulator.machine.views.u32[(pointers[1] ?? 0) / 4] = 0;
  const fault = faultOf(() =>
    launch(emulator, ticket("", "fence.acq_rel.gpu;"), { grid: 8, block: 1, pointers })
  );
  assertEquals(fault.kind, "race");
  assertStringIncludes(fault.detail, "thread 0 of block 0");
});

Deno.test("addresses of kernels wrap at 2^64, with and without checks", () => {
  for (const checks of [true, false]) {
    const out = new Uint32Array(4);
    emulate(
      kernelText(`.reg .b64 %a, %b; .reg .b32 %r;
  ld.param.u64 %a, [p0]; mov.u32 %r, 7; sub.s64 %b, %a, 0x200000000; st.global.u32 [%b+0x200000004], %r;
  add.s64 %b, %a, 0x7ffffff8; st.global.u32 [%b-0x7ffffff0], %r;
  ret;`),
      { args: [out], block: [1, 1, 1], checks },
    );
    assertEquals([...out], [0, 7, 7, 0]);
  }
});

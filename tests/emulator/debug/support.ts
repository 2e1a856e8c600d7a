/** A kernel whose warps share, wait, part and loop, and launches of it that are looked on at. */
import { createEmulator, type Emulator, type LaunchRequest } from "../../../emulator/launch.ts";
import type { ObservedLaunch } from "../../../emulator/debug/observed_launch.ts";
import type { Observer } from "../../../emulator/debug/observer.ts";
import { WINDOW } from "../../../emulator/memory.ts";
import { kernelText } from "../../support/emulate.ts";
import type { EmulatedKernel } from "../../../emulator/launch.ts";

/** Threads of a block, and blocks. */
export const THREADS = 64;
export const BLOCKS = 3;

/**
 * Each thread stores its number t to shared memory, waits, and adds t rounds of the neighbour's number to p0; the lines
 * are those of a source that says so.
 */
export const EXCHANGE = kernelText(
  `  .shared .align 4 .b8 buffer[256];
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  .loc 1 2 3
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  .loc 1 3 3
  mov.u32 %r3, buffer; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r1;
  .loc 1 4 3
  bar.sync 0;
  .loc 1 5 3
  xor.b32 %r5, %r1, 1; mad.lo.u32 %r5, %r5, 4, %r3; ld.shared.u32 %r6, [%r5];
  and.b32 %r7, %r1, 3; mov.u32 %r8, 0; mov.u32 %r9, 0;
LOOP:
  .loc 1 6 5
  setp.ge.u32 %p1, %r9, %r7;
  @%p1 bra OUT;
  .loc 1 7 7
  add.u32 %r8, %r8, %r6; add.u32 %r9, %r9, 1;
  bra LOOP;
OUT:
  .loc 1 8 3
  ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1;
  mad.lo.u32 %r10, %r2, ${THREADS}, %r1; mul.wide.u32 %rd3, %r10, 4; add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r8;
  ret;`,
).replace(/^(\.address_size 64)$/m, '$1\n.file 1 "exchange.tc"');

/** What it computes. */
export const EXCHANGED = Array.from({ length: BLOCKS * THREADS }, (_, i) => {
  const thread = i % THREADS;
  return (thread ^ 1) * (thread & 3);
});

export interface Prepared {
  readonly emulator: Emulator;
  readonly kernel: EmulatedKernel;
  readonly request: LaunchRequest;
  /** What is in p0 now. */
  read(): number[];
  observe(observer: Observer): ObservedLaunch;
}

/** A kernel of one parameter, the address of `words` words. */
export function prepareKernel(
  ptx: string,
  words: number,
  options: Partial<LaunchRequest> = {},
): Prepared {
  const emulator = createEmulator();
  const { machine, heap } = emulator;
  const [kernel] = emulator.load(ptx, "test").kernels.values();
  if (kernel === undefined) throw new RangeError("the text has a kernel");
  const location = heap.allocate(4 * words, 256, "p0");
  machine.views.u8.fill(0xff, location, location + 4 * words);
  const argumentBlock = new Uint8Array(8);
  const address = (BigInt(WINDOW.global) << 32n) | BigInt(location);
  new DataView(argumentBlock.buffer).setBigUint64(0, address, true);
  const request: LaunchRequest = {
    grid: [BLOCKS, 1, 1],
    block: [THREADS, 1, 1],
    sharedBytes: 0,
    argumentBlock,
    checks: true,
    profile: false,
    budget: 1e6,
    workers: 1,
    ...options,
  };
  return {
    emulator,
    kernel,
    request,
    read: () => [...machine.views.u32.slice(location / 4, location / 4 + words)],
    observe: (observer) => kernel.observe(request, observer),
  };
}

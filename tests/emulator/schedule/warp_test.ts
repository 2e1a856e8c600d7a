import { assert, assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import { emulate, int, kernelText } from "../../support/emulate.ts";
import { Fault } from "../../../emulator/fault.ts";

/** %r1 is the thread's number, %rd2 the address of its word of p0. */
const OWN_WORD = `
  .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<8>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  ld.param.u64 %rd0, [p0]; cvta.to.global.u64 %rd1, %rd0; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd2, %rd1, %rd3;`;

Deno.test("runWarp() lets each lane run as many iterations as it needs", () => {
  const steps = (n: number): number => {
    let count = 0;
    for (let x = n; x !== 1; x = x % 2 === 0 ? x / 2 : 3 * x + 1) count++;
    return count;
  };
  const out = new Uint32Array(77);
  const { report } = emulate(
    kernelText(`${OWN_WORD}
  setp.ge.u32 %p0, %r4, 77; @%p0 bra DONE;
  add.u32 %r5, %r4, 1; mov.u32 %r6, 0;
LOOP: setp.eq.u32 %p1, %r5, 1; @%p1 bra OUT;
  and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra EVEN;
  mad.lo.u32 %r5, %r5, 3, 1; bra.uni NEXT;
EVEN: shr.u32 %r5, %r5, 1;
NEXT: add.u32 %r6, %r6, 1; bra.uni LOOP;
OUT: st.global.u32 [%rd2], %r6;
DONE: ret;`),
    { args: [out], grid: [2, 1, 1], block: [40, 1, 1] },
  );
  assertEquals([...out], Array.from({ length: 77 }, (_, i) => steps(i + 1)));
  assert(report.divergentBranches > 0);
});

Deno.test("runWarp() reconverges lanes after a branch", () => {
  const out = new Uint32Array(32);
  emulate(
    kernelText(`${OWN_WORD}
  and.b32 %r5, %r1, 1; setp.eq.u32 %p0, %r5, 0; @%p0 bra EVEN;
  mov.u32 %r6, 100; bra JOIN;
EVEN: mov.u32 %r6, 200;
JOIN: shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;
  activemask.b32 %r8; popc.b32 %r8, %r8; mad.lo.u32 %r7, %r8, 1000, %r7;
  st.global.u32 [%rd2], %r7; ret;`),
    { args: [out] },
  );
  assertEquals([...out], Array.from({ length: 32 }, (_, i) => 32000 + (i % 2 === 0 ? 100 : 200)));
});

Deno.test("runWarp() gathers the lanes of a membermask, whichever group comes first", () => {
  const out = new Uint32Array(32);
  emulate(
    kernelText(`${OWN_WORD}
  shr.u32 %r5, %r1, 2; shl.b32 %r6, %r5, 2; mov.u32 %r7, 15; shl.b32 %r7, %r7, %r6;
  and.b32 %r8, %r1, 3; setp.eq.u32 %p0, %r8, 3; @%p0 bra LATE;
  add.u32 %r1, %r1, 0;
  bra JOIN;
LATE: nanosleep.u32 20;
JOIN: redux.sync.add.u32 %r9, %r1, %r7;
  st.global.u32 [%rd2], %r9; ret;`),
    { args: [out] },
  );
  assertEquals([...out], Array.from({ length: 32 }, (_, i) => 16 * (i >> 2) + 6));
});

Deno.test("runWarp() lets a lane wait for a lock that another lane of its warp holds", () => {
  const words = new Uint32Array(2);
  emulate(
    kernelText(`
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd0, [p0];
TAKE: atom.global.cas.b32 %r0, [%rd0], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra TAKE;
  fence.acq_rel.gpu;
  ld.global.u32 %r1, [%rd0+4]; add.u32 %r1, %r1, 1; st.global.u32 [%rd0+4], %r1;
  fence.acq_rel.gpu;
  atom.global.exch.b32 %r2, [%rd0], 0; ret;`),
    { args: [words], grid: [5, 1, 1], block: [64, 1, 1] },
  );
  assertEquals([...words], [0, 320]);
});

Deno.test("runWarp() follows the targets of an indexed branch lane by lane", () => {
  const out = new Uint32Array(32);
  emulate(
    kernelText(`${OWN_WORD}
  rem.u32 %r5, %r1, 3;
LIST: .branchtargets A, B, C;
  brx.idx %r5, LIST;
A: mov.u32 %r6, 10; bra JOIN;
B: mov.u32 %r6, 20; bra JOIN;
C: mov.u32 %r6, 30;
JOIN: st.global.u32 [%rd2], %r6; ret;`),
    { args: [out] },
  );
  assertEquals([...out], Array.from({ length: 32 }, (_, i) => 10 * (i % 3 + 1)));
});

Deno.test("runWarp() finds reads of registers that a lane has not written", () => {
  const text = (low: number): string =>
    kernelText(`${OWN_WORD}
  setp.lt.u32 %p0, %r1, ${low};
  @%p0 mov.u32 %r5, 7;
  add.u32 %r6, %r5, 1;
  st.global.u32 [%rd2], %r6; ret;`);
  emulate(text(32), { args: [new Uint32Array(32)] });
  const fault = assertThrows(() => emulate(text(20), { args: [new Uint32Array(32)] }), Fault);
  assertEquals([fault.kind, fault.lane], ["uninitialised register", 20]);
  assertStringIncludes(fault.detail, "%r5");
  assertEquals(fault.origin?.thread, [20, 0, 0]);
});

Deno.test("runWarp() stops what never ends", () => {
  const fault = assertThrows(
    () => emulate(kernelText("L: bra.uni L;"), { args: [new Uint32Array(1)], budget: 100_000 }),
    Fault,
  );
  assertEquals(fault.kind, "instruction budget");
});

Deno.test("runWarp() gives lanes of an incomplete warp their numbers and leaves the others out", () => {
  const out = new Uint32Array(50).fill(9);
  emulate(
    kernelText(`${OWN_WORD} activemask.b32 %r5; st.global.u32 [%rd2], %r5; ret;`, {
      params: ["u64", "u32"],
    }),
    { args: [out, int(0)], block: [50, 1, 1] },
  );
  assertEquals([...out], Array.from({ length: 50 }, (_, i) => i < 32 ? 2 ** 32 - 1 : 2 ** 18 - 1));
});

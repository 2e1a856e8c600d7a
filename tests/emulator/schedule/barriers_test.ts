import { assertEquals, assertThrows } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";
import { Fault } from "../../../emulator/fault.ts";

const HEAD = `
  .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<8>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  ld.param.u64 %rd0, [p0]; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd2, %rd0, %rd3;`;

function faultOf(body: string, threads: number): string {
  const fault = assertThrows(
    () => emulate(kernelText(body), { args: [new Uint32Array(256)], block: [threads, 1, 1] }),
    Fault,
  );
  return fault.kind;
}

Deno.test("arriveAt() lets a block exchange values through shared memory", () => {
  const out = new Uint32Array(3 * 200);
  emulate(
    kernelText(`
  .shared .align 4 .b32 box[200];
  ${HEAD}
  mov.u32 %r5, box; mad.lo.u32 %r6, %r1, 4, %r5; st.shared.u32 [%r6], %r4;
  bar.sync 0;
  sub.u32 %r7, 199, %r1; mad.lo.u32 %r8, %r7, 4, %r5; ld.shared.u32 %r9, [%r8];
  st.global.u32 [%rd2], %r9; ret;`),
    { args: [out], grid: [3, 1, 1], block: [200, 1, 1] },
  );
  const expected = Array.from({ length: 600 }, (_, i) => 200 * Math.floor(i / 200) + 199 - i % 200);
  assertEquals([...out], expected);
});

Deno.test("arriveAt() counts threads that have exited as arrived", () => {
  const out = new Uint32Array(128);
  emulate(
    kernelText(`${HEAD}
  setp.ge.u32 %p0, %r1, 50; @%p0 exit;
  bar.sync 0; st.global.u32 [%rd2], 1; ret;`),
    { args: [out], block: [128, 1, 1] },
  );
  assertEquals(out.reduce((sum, value) => sum + value), 50);
});

Deno.test("arriveAt() finds barriers that some lanes of a warp never come to", () => {
  // Lanes below 16 wait at one barrier, the others at another one.
  const kind = faultOf(
    `${HEAD}
  setp.lt.u32 %p0, %r1, 16; @%p0 bra A;
  bar.sync 1; bra OUT;
A: bar.sync 0;
OUT: ret;`,
    32,
  );
  assertEquals(kind, "divergent barrier");
});

Deno.test("arriveAt() finds warps that wait at different barriers", () => {
  const kind = faultOf(
    `${HEAD}
  setp.lt.u32 %p0, %r1, 32; @%p0 bra A;
  bar.sync 1; bra OUT;
A: bar.sync 0;
OUT: ret;`,
    64,
  );
  assertEquals(kind, "divergent barrier");
});

Deno.test("arriveAt() finds a barrier that waits for more threads than there are", () => {
  assertEquals(faultOf(`${HEAD} bar.sync 1, 128; ret;`, 64), "deadlock");
});

Deno.test("arriveAt() refuses counts that are no multiple of 32", () => {
  assertEquals(faultOf(`${HEAD} bar.sync 1, 48; ret;`, 64), "illegal instruction");
});

Deno.test("arriveAt() reduces predicates over a block", () => {
  const out = new Uint32Array(96);
  emulate(
    kernelText(`${HEAD}
  setp.lt.u32 %p0, %r1, 41;
  bar.red.popc.u32 %r5, 0, %p0;
  bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, !%p0; bar.red.and.pred %p3, 0, !%p4;
  selp.u32 %r6, 1000, 0, %p1; selp.u32 %r7, 2000, 0, %p2;
  add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; st.global.u32 [%rd2], %r5; ret;`.replace(
      "bar.red.and.pred %p3, 0, !%p4;",
      "",
    )),
    { args: [out], block: [96, 1, 1] },
  );
  assertEquals(new Set(out), new Set([2041]));
});

Deno.test("arriveAt() lets one warp announce itself at a barrier and another one wait there", () => {
  const out = new Uint32Array(64);
  emulate(
    kernelText(`
  .shared .align 4 .b32 box[32];
  ${HEAD}
  and.b32 %r10, %r1, 31; mov.u32 %r5, box; mad.lo.u32 %r6, %r10, 4, %r5;
  setp.ge.u32 %p0, %r1, 32; @%p0 bra TAKE;
  mul.lo.u32 %r9, %r1, 3; st.shared.u32 [%r6], %r9;
  bar.arrive 1, 64; bra STORE;
TAKE: bar.sync 1, 64; ld.shared.u32 %r9, [%r6];
STORE: st.global.u32 [%rd2], %r9; ret;`),
    { args: [out], block: [64, 1, 1] },
  );
  assertEquals([...out], Array.from({ length: 64 }, (_, i) => 3 * (i % 32)));
});

Deno.test("arriveAt() lets the blocks of a cluster read each other's shared memory", () => {
  const out = new Uint32Array(4 * 32);
  emulate(
    kernelText(
      `
  .shared .align 4 .b32 box[32];
  ${HEAD}
  mov.u32 %r5, box; mad.lo.u32 %r6, %r1, 4, %r5; st.shared.u32 [%r6], %r4;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  mov.u32 %r7, %cluster_ctarank; xor.b32 %r7, %r7, 1; mapa.shared::cluster.u32 %r8, %r6, %r7;
  ld.shared::cluster.u32 %r9, [%r8];
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  st.global.u32 [%rd2], %r9; ret;`,
      { target: "sm_90", directives: ".reqnctapercluster 2, 1, 1" },
    ),
    { args: [out], grid: [4, 1, 1] },
  );
  const expected = Array.from({ length: 128 }, (_, i) => 32 * ((i >> 5) ^ 1) + i % 32);
  assertEquals([...out], expected);
});

Deno.test("runGrid() lets blocks wait for blocks that come later", () => {
  const words = new Uint32Array(20);
  // Each block waits until the next one has written; the last one writes at once.
  emulate(
    kernelText(
      `
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  mov.u32 %r1, %ctaid.x; ld.param.u64 %rd0, [p0]; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd0, %rd1;
  setp.eq.u32 %p0, %r1, 19; @%p0 bra WRITE;
WAIT: ld.acquire.gpu.global.u32 %r2, [%rd2+4]; setp.eq.u32 %p1, %r2, 0; @%p1 bra WAIT;
WRITE: add.u32 %r3, %r1, 1; st.release.gpu.global.u32 [%rd2], %r3; ret;`,
    ),
    { args: [words], grid: [20, 1, 1], block: [1, 1, 1], budget: 1e9 },
  );
  assertEquals([...words], Array.from({ length: 20 }, (_, i) => i + 1));
});

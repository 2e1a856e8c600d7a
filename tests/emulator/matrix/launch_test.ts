/** Matrix instructions in whole launches. */
import { Fault } from "../../../emulator/fault.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";

/** f16 of a small whole number. */
function half(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | (((value / 2 ** exponent) - 1) * 1024);
}

/** d = a * b of 16x16 and 16x8, a staged through shared memory; `$BARRIER` orders that. */
const LDMATRIX = (barrier: string): string =>
  kernelText(
    `
  .shared .align 16 .b8 tile[768];
  .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<5>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 3;
  mul.wide.u32 %rd4, %r3, 1;
  // Each of 64 threads copies 8 bytes of a, the first 32 also 8 of b.
  add.s64 %rd5, %rd1, %rd4; ld.global.v2.b32 {%r4, %r5}, [%rd5];
  add.u32 %r6, %r2, %r3; st.shared.v2.b32 [%r6], {%r4, %r5};
  setp.ge.u32 %p1, %r1, 32; @%p1 bra WAIT;
  add.s64 %rd5, %rd2, %rd4; ld.global.v2.b32 {%r4, %r5}, [%rd5];
  st.shared.v2.b32 [%r6+512], {%r4, %r5};
WAIT:
  ${barrier}
  @%p1 bra DONE;
  and.b32 %r7, %r1, 15; shr.u32 %r8, %r1, 4;
  shl.b32 %r9, %r7, 5; shl.b32 %r10, %r8, 4; add.u32 %r9, %r9, %r10; add.u32 %r9, %r9, %r2;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r11, %r12, %r13, %r14}, [%r9];
  shl.b32 %r10, %r7, 4; add.u32 %r10, %r10, %r2;
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r15, %r16}, [%r10+512];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},
    {%r11, %r12, %r13, %r14}, {%r15, %r16}, {0f00000000, 0f00000000, 0f00000000, 0f3F800000};
  shr.u32 %r17, %r1, 2; and.b32 %r18, %r1, 3; shl.b32 %r17, %r17, 5; shl.b32 %r18, %r18, 3;
  add.u32 %r17, %r17, %r18; mul.wide.u32 %rd6, %r17, 1; add.s64 %rd6, %rd3, %rd6;
  st.global.v2.f32 [%rd6], {%f1, %f2}; st.global.v2.f32 [%rd6+256], {%f3, %f4};
DONE:
  ret;`,
    { params: ["u64", "u64", "u64"] },
  );

Deno.test("ldmatrix and mma multiply matrices that other warps stored", () => {
  const a = Uint16Array.from({ length: 256 }, (_, i) => half((i * 7) % 13));
  const b = Uint16Array.from({ length: 128 }, (_, i) => half((i * 5) % 11));
  const d = new Float32Array(128);
  emulate(LDMATRIX("bar.sync 0;"), { args: [a, b, d], block: [64, 1, 1] });
  const expected = Array.from({ length: 128 }, (_, i) => {
    const [row, column] = [i >> 3, i % 8];
    // Of c only the last register is not zero.
    let sum = row >= 8 && column % 2 === 1 ? 1 : 0;
    for (let k = 0; k < 16; k++) {
      sum += ((row * 16 + k) * 7) % 13 * (((k * 8 + column) * 5) % 11);
    }
    return sum;
  });
  assertEquals([...d], expected);
});

Deno.test("ldmatrix without a barrier races with the stores of other warps", () => {
  const args = [new Uint16Array(256), new Uint16Array(128), new Float32Array(128)];
  const launch = (): unknown => emulate(LDMATRIX(""), { args, block: [64, 1, 1] });
  const fault = assertThrows(launch, Fault);
  assertEquals(fault.kind, "missing barrier");
});

/** d = a * b - a * b + a * b of 64x16 and 16x8, b all ones, operands in shared memory along k without swizzle. */
const WGMMA = (fence: string): string =>
  kernelText(
    `
  .shared .align 1024 .b8 tile[3072];
  .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<5>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
  // Thread t copies 16 bytes of a: row t / 2, half t % 2; eight rows of a half are 128 bytes.
  shl.b32 %r3, %r1, 4; mul.wide.u32 %rd3, %r3, 1; add.s64 %rd3, %rd1, %rd3;
  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd3];
  shr.u32 %r8, %r1, 1; and.b32 %r9, %r1, 1;
  shl.b32 %r10, %r8, 4; mad.lo.u32 %r10, %r9, 1024, %r10; add.u32 %r10, %r10, %r2;
  st.shared.v4.b32 [%r10], {%r4, %r5, %r6, %r7};
  shl.b32 %r11, %r1, 1; add.u32 %r11, %r11, %r2;
  mov.b32 %r12, 0x3c00; st.shared.b16 [%r11+2048], %r12;
  fence.proxy.async.shared::cta; bar.sync 0;
  // LBO 1024 and SBO 128 of a, LBO 128 of b.
  shr.u32 %r13, %r2, 4; cvt.u64.u32 %rd4, %r13; or.b64 %rd4, %rd4, 0x800400000;
  add.u32 %r13, %r13, 128; cvt.u64.u32 %rd5, %r13; or.b64 %rd5, %rd5, 0x800080000;
  setp.ne.u32 %p1, %r1, %r1;
  ${fence}
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd5, %p1, 1, 1, 0, 0;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd5, 1, 1, -1, 0, 0;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd5, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  shr.u32 %r14, %r1, 5; shl.b32 %r14, %r14, 9; and.b32 %r15, %r1, 31; shr.u32 %r16, %r15, 2;
  shl.b32 %r16, %r16, 5; and.b32 %r15, %r15, 3; shl.b32 %r15, %r15, 3;
  add.u32 %r14, %r14, %r16; add.u32 %r14, %r14, %r15;
  mul.wide.u32 %rd6, %r14, 1; add.s64 %rd6, %rd2, %rd6;
  st.global.v2.f32 [%rd6], {%f1, %f2}; st.global.v2.f32 [%rd6+256], {%f3, %f4};
  ret;`,
    { params: ["u64", "u64"], target: "sm_90a", directives: ".reqntid 128, 1, 1" },
  );

Deno.test("wgmma multiplies what the warp group stored, in a launch with checks", () => {
  const a = Uint16Array.from({ length: 1024 }, (_, i) => half((i >> 4) + i % 16));
  const d = new Float32Array(512);
  const fence = "wgmma.fence.sync.aligned;";
  emulate(WGMMA(fence), { args: [a, d], block: [128, 1, 1] });
  assertEquals([...d], Array.from({ length: 512 }, (_, i) => 16 * (i >> 3) + 120));
});

Deno.test("wgmma without a fence is a fault in a launch with checks", () => {
  const args = [new Uint16Array(1024), new Float32Array(512)];
  const launch = (): unknown => emulate(WGMMA(""), { args, block: [128, 1, 1] });
  assertEquals(assertThrows(launch, Fault).kind, "illegal instruction");
});

import { dropDead } from "../../../compiler/ptx/drop_dead.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { printInstruction } from "../../../compiler/ptx/print.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { Item } from "../../../compiler/ptx/func.ts";
import { assertEquals } from "../../support/assert.ts";

function bodyOf(statements: string): readonly Item[] {
  const text =
    `.version 8.0\n.target sm_90\n.entry k() { .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; ${statements} }`;
  return must(parsePtx(text).kernels[0], "kernel").body;
}

const printed = (body: readonly Item[]): string[] =>
  body.map((item) => item.kind === "instruction" ? printInstruction(item) : item.kind);

Deno.test("dropDead() removes unused values, and the values that only they use", () => {
  const body = bodyOf(`mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1; mul.lo.s32 %r3, %r2, %r2;
    ld.global.b32 %r4, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 st.global.b32 [%rd1], %r1; ret;`);
  assertEquals(printed(dropDead(body)), [
    "mov.u32 %r1, %tid.x;",
    "setp.eq.s32 %p1, %r1, 0;",
    "@%p1 st.global.b32 [%rd1], %r1;",
    "ret;",
  ]);
});

Deno.test("dropDead() keeps effects, observed reads and unknown instructions", () => {
  const statements = [
    "atom.global.add.u32 %r1, [%rd1], 1;",
    "ld.volatile.global.b32 %r2, [%rd1];",
    "ld.acquire.gpu.global.b32 %r3, [%rd1];",
    "shfl.sync.idx.b32 %r4, %r5, 0, 31, -1;",
    "add.cc.u32 %r6, %r5, 1;",
    "cp.async.wait_all;",
    "bar.sync 0;",
    "frobnicate.b32 %r7;",
    "exit;",
  ];
  assertEquals(printed(dropDead(bodyOf(statements.join("\n")))), statements);
});

Deno.test("dropDead() removes what a loop computes only for its own next iteration", () => {
  const body = bodyOf(`mov.b32 %r1, 0; mov.b32 %r2, 0; L:
    add.s32 %r3, %r1, 1; add.s32 %r4, %r2, 1; setp.lt.s32 %p1, %r3, 9;
    mov.b32 %r1, %r3; mov.b32 %r2, %r4; @%p1 bra L; ret;`);
  assertEquals(printed(dropDead(body)), [
    "mov.b32 %r1, 0;",
    "label",
    "add.s32 %r3, %r1, 1;",
    "setp.lt.s32 %p1, %r3, 9;",
    "mov.b32 %r1, %r3;",
    "@%p1 bra L;",
    "ret;",
  ]);
});

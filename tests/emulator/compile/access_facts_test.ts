/** Loads that a compare and swap repeats are found through copies, arguments of functions and the stack. */
import { Fault } from "../../../emulator/fault.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";

const HEAD = `.reg .pred %p; .reg .b16 %h<8>; .reg .b32 %t, %r<16>; .reg .b64 %x, %y, %d<16>;
mov.u32 %t, %tid.x; ld.param.u64 %y, [p0];`;

/** What is said of a kernel that 64 threads of each of two blocks run: the kind of the fault, or nothing. */
function finding(body: string, head = "", target = "sm_80"): string {
  try {
    emulate(kernelText(`${HEAD}\n${body}\nret;`, { head, target }), {
      args: [new Int32Array(64)],
      block: [64, 1, 1],
      grid: [2, 1, 1],
    });
  } catch (error) {
    if (error instanceof Fault) return error.kind;
    throw error;
  }
  return "";
}

/** A sum by compare and swap; the address of the load and that of the swap are given. */
function sum(load: string, swap: string, before = ""): string {
  return `${before} ld.global.u32 %r1, [${load}];
    AGAIN: add.u32 %r2, %r1, %t;
    atom.global.cas.b32 %r3, [${swap}], %r1, %r2;
    setp.ne.u32 %p, %r1, %r3; mov.u32 %r1, %r3; @%p bra AGAIN;`;
}

Deno.test("isExpected: the first load of a compare and swap loop is no race", () => {
  assertEquals(finding(sum("%y", "%y")), "");
});

Deno.test("isExpected: a sum of bfloat16 as nvcc writes it for sm_80", () => {
  const body = `ld.global.u16 %h1, [%y+2];
    AGAIN: { .reg .b16 one; mov.b16 one, 0x3f80; fma.rn.bf16 %h2, one, one, %h1; }
    atom.global.cas.b16 %h3, [%y+2], %h1, %h2;
    setp.ne.s16 %p, %h1, %h3; mov.u16 %h1, %h3; @%p bra AGAIN;`;
  assertEquals(finding(body), "");
});

Deno.test("isExpected: addresses are compared through copies and constants that are added", () => {
  assertEquals(finding(sum("%y+8", "%d1", "add.u64 %d0, %y, 4; add.u64 %d1, %d0, 4;")), "");
  assertEquals(finding(sum("%d1+8", "%y+8", "mov.u64 %d1, %y;")), "");
});

Deno.test("isExpected: a function that swaps, and values on the stack, as at -G", () => {
  const swap = `.func (.param .b32 out) swap(.param .b64 at, .param .b32 seen, .param .b32 next)
    { .reg .b64 %a; .reg .b32 %s, %n, %o; ld.param.u64 %a, [at]; ld.param.u32 %s, [seen];
      ld.param.u32 %n, [next]; atom.cas.b32 %o, [%a], %s, %n; st.param.b32 [out], %o; ret; }`;
  const body = `.local .align 8 .b8 depot[16]; .reg .b64 %SP, %SPL;
    mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
    ld.u32 %r1, [%y]; mov.b32 %r2, %r1; st.u32 [%SP+0], %r2;
    AGAIN: ld.u32 %r3, [%SP+0]; st.u32 [%SP+4], %r3; add.u32 %r4, %r3, 1; ld.u32 %r5, [%SP+4];
    { .param .b64 a; st.param.b64 [a], %y; .param .b32 b; st.param.b32 [b], %r5;
      .param .b32 c; st.param.b32 [c], %r4; .param .b32 r;
      call.uni (r), swap, (a, b, c); ld.param.b32 %r6, [r]; }
    st.u32 [%SP+0], %r6; ld.u32 %r7, [%SP+4]; ld.u32 %r8, [%SP+0];
    setp.ne.u32 %p, %r7, %r8; @%p bra AGAIN;`;
  assertEquals(finding(body, swap), "");
});

Deno.test("isExpected: other loads, and loads of what is computed, still race", () => {
  const others = [
    `ld.global.u32 %r8, [%y]; ${sum("%y", "%y")}`,
    `${sum("%y", "%y")} ld.global.u32 %r8, [%y];`,
    "ld.global.u32 %r1, [%y]; add.u32 %r2, %r1, 1; atom.global.cas.b32 %r3, [%y], %r2, %t;",
    `${sum("%y+4", "%y")} atom.global.add.u32 %r4, [%y+4], 1;`,
  ];
  for (const body of others) assertMatch(finding(body), /^(?:race|missing barrier)$/);
});

Deno.test("isExpected: such a load races with plain stores", () => {
  const body = `${
    sum("%y", "%y")
  } setp.ne.u32 %p, %t, 40; @%p bra END; st.global.u32 [%y], 0; END:`;
  assertEquals(finding(body), "missing barrier");
});

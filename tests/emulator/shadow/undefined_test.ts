/** Undefined values are carried, and faults where they decide something or are stored to global memory. */
import { Fault } from "../../../emulator/fault.ts";
import { assertEquals, assertMatch, assertThrows } from "../../support/assert.ts";
import { emulate, kernelText } from "../../support/emulate.ts";

/** %t is the thread, %x the address of its word of p0, which is made of the given numbers or of its own. */
const HEAD = `.reg .b16 %h<8>; .reg .b32 %t, %r<32>; .reg .b64 %x, %y, %d<16>; .reg .pred %p<8>;
.reg .f32 %f<8>;
mov.u32 %t, %tid.x; ld.param.u64 %y, [p0]; mad.wide.u32 %x, %t, 4, %y;`;

function run(body: string, head = "", target = "sm_90", version = "8.6"): Uint32Array {
  const out = new Uint32Array(64);
  emulate(kernelText(`${head}${HEAD}\n${body}\nret;`, { target, version }), {
    args: [out],
    block: [64, 1, 1],
  });
  return out;
}

function fault(body: string, head = ""): Fault {
  return assertThrows(() => run(body, head), Fault);
}

/** A register that lanes below 8 of each warp have. */
const SOME = "and.b32 %r1, %t, 31; setp.lt.u32 %p1, %r1, 8; @%p1 mov.u32 %r2, %t;";
const SHARED = ".shared .align 16 .b8 tile[512];";
const LOCAL = ".local .align 16 .b8 spot[64];";

const CARRIED: Readonly<Record<string, string>> = {
  "a copy": `${SOME} mov.u32 %r3, %r2; @!%p1 mov.u32 %r3, 5; st.global.u32 [%x], %r3;`,
  "a choice": `${SOME} selp.u32 %r3, %r2, 5, %p1; st.global.u32 [%x], %r3;`,
  "halves of a word":
    `${SOME} mov.b64 %d1, {%t, %r2}; mov.b64 {%r4, %r5}, %d1; st.global.u32 [%x], %r4;`,
  "the upper half of a register":
    `${SOME} cvt.u64.u32 %d1, %r2; shl.b64 %d1, %d1, 32; cvt.u32.u64 %r4, %d1; st.global.u32 [%x], %r4;`,
  "a sum whose result is dropped": `${SOME} add.u32 %r3, %r2, 1; st.global.u32 [%x], %t;`,
  "a mask": `${SOME} and.b32 %r3, %r2, 0; st.global.u32 [%x], %r3;`,
  "a bit field":
    `${SOME} bfi.b32 %r3, %t, %r2, 8, 4; bfe.u32 %r4, %r3, 8, 4; st.global.u32 [%x], %r4;`,
  "a condition that another one decides":
    `${SOME} setp.gt.u32 %p2, %r2, 3; and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%x], %t;`,
  "a comparison that another one decides":
    `${SOME} setp.gt.and.u32 %p3, %r2, 3, %p1; @%p3 st.global.u32 [%x], %t;`,
  "the result of one lane, shuffled to all":
    `and.b32 %r1, %t, 31; setp.eq.u32 %p1, %r1, 0; @%p1 atom.global.add.u32 %r2, [%y+128], 1;
     shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; min.u32 %r3, %r3, 9; bar.sync 0;
     shr.u32 %r4, %t, 5; setp.eq.u32 %p2, %r4, 0; @%p2 st.global.u32 [%x], %r3;`,
  "a lane that takes no part": `and.b32 %r1, %t, 31; setp.ge.u32 %p1, %r1, 20; @%p1 bra END;
     shfl.sync.down.b32 %r3|%p2, %t, 4, 31, 0xfffff; setp.ge.u32 %p3, %r1, 16; selp.u32 %r3, %t, %r3, %p3;
     st.global.u32 [%x], %r3; END:`,
  "a spare element of shared memory": `${SHARED}
     mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; setp.ne.u32 %p1, %t, 9; @%p1 st.shared.u32 [%r1], %t;
     bar.sync 0; ld.shared.u32 %r2, [%r1]; selp.u32 %r2, %r2, 9, %p1; st.global.u32 [%x], %r2;`,
  "an undefined value in shared memory": `${SHARED} ${SOME}
     mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 4, %r4; st.shared.u32 [%r4], %r2; ld.shared.u32 %r3, [%r4];
     selp.u32 %r3, %r3, 1, %p1; st.global.u32 [%x], %r3;`,
  "part of local memory":
    `${LOCAL} st.local.u32 [spot+4], %t; ld.local.v2.u32 {%r1, %r2}, [spot]; st.global.u32 [%x], %r2;`,
  "padding of a structure": `${SHARED}
     mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; st.shared.u8 [%r1], %t; ld.shared.u32 %r2, [%r1];
     st.global.u32 [%x], %r2;`,
  "bits of a byte in local memory":
    `${LOCAL} bfi.b32 %r2, %t, %r1, 0, 6; st.local.u8 [spot], %r2; ld.local.u8 %r3, [spot];
     and.b32 %r3, %r3, 63; st.global.u32 [%x], %r3;`,
  "a vote that defined lanes decide":
    `${SOME} setp.lt.u32 %p2, %r2, 100; vote.sync.any.pred %p3, %p2, -1; @%p3 st.global.u32 [%x], %t;`,
  "a row of a matrix that is not stored": `${SHARED}
     and.b32 %r1, %t, 31; mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2; setp.ne.u32 %p1, %t, 8;
     mov.u32 %r3, 0; setp.lt.u32 %p2, %t, 32; and.pred %p1, %p1, %p2;
     @%p1 st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3}; bar.sync 0;
     ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r2];
     mov.f32 %f0, 0f00000000;
     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r4, %r5, %r6, %r7}, {%r3, %r3}, {%f0, %f0, %f0, %f0};
     mov.b32 %r8, %f1; setp.ge.u32 %p3, %r1, 4; and.pred %p3, %p3, %p2; @%p3 st.global.u32 [%x], %r8;`,
};

for (const [what, body] of Object.entries(CARRIED)) {
  Deno.test(`undefined values are carried: ${what}`, () => {
    run(body);
  });
}

interface Mistake {
  readonly body: string;
  readonly kind: Fault["kind"];
  readonly thread: number;
  readonly says: RegExp;
}

const NO_VALUE = "uninitialised register";
const NO_BYTES = "uninitialised memory";

const MISTAKES: Readonly<Record<string, Mistake>> = {
  "a sum that begins with nothing": {
    body: "add.u32 %r1, %r1, %t; st.global.u32 [%x], %r1;",
    kind: NO_VALUE,
    thread: 0,
    says:
      /^%r1 is undefined where it is stored to global memory: `add.u32 %r1, %r1, %t;` assigned it from %r1,/,
  },
  "an address": {
    body: `${SOME} mad.wide.u32 %d1, %r2, 4, %y; ld.global.u32 %r3, [%d1];`,
    kind: NO_VALUE,
    thread: 8,
    says:
      /^%d1 is undefined where it is used as an address: `mad.wide.u32 .*;` assigned it from %r2, /,
  },
  "a branch": {
    body: `${SOME} setp.eq.u32 %p2, %r2, 0; @%p2 bra END; add.u32 %r4, %t, 1; END:`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%p2 is undefined where a branch depends on it/,
  },
  "an indexed branch": {
    body: `${SOME} LIST: .branchtargets A, B; brx.idx %r2, LIST; A: B:`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%r2 is undefined where a branch depends on it: this thread has not assigned it/,
  },
  "the predicate of a store": {
    body: `${SOME} setp.eq.u32 %p2, %r2, 0; @%p2 st.global.u32 [%x], %t;`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%p2 is undefined where the instruction runs under it/,
  },
  "a value under an undefined predicate": {
    body:
      `${SOME} setp.eq.u32 %p2, %r2, 0; mov.u32 %r5, 0; @%p2 mov.u32 %r5, 1; st.global.u32 [%x], %r5;`,
    kind: NO_VALUE,
    thread: 8,
    says:
      /^%r5 is undefined where it is stored to global memory: `@%p2 mov.u32 %r5, 1;` assigned it/,
  },
  "a count of threads": {
    body: `${SOME} bar.sync 1, %r2;`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%r2 is undefined where a barrier depends on it/,
  },
  "a mask of lanes": {
    body: `${SOME} shfl.sync.idx.b32 %r3, %t, 0, 31, %r2;`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%r2 is undefined where it names the lanes that take part/,
  },
  "an atomic operation on global memory": {
    body: `${SOME} red.global.add.u32 [%y], %r2;`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%r2 is undefined where it is stored to global memory/,
  },
  "one bit": {
    body: `${SOME} or.b32 %r3, %r2, 0xfffffffe; st.global.u32 [%x], %r3;`,
    kind: NO_VALUE,
    thread: 8,
    says: /%r3 is undefined/,
  },
  "half of a pair": {
    body: `${SOME} mov.b64 %d1, {%t, %r2}; and.b64 %d2, %x, -8; st.global.u64 [%d2], %d1;`,
    kind: NO_VALUE,
    thread: 8,
    says: /%d1 is undefined/,
  },
  "a value of another lane": {
    body: `${SOME} shfl.sync.down.b32 %r3, %r2, 1, 31, -1; st.global.u32 [%x], %r3;`,
    kind: NO_VALUE,
    thread: 7,
    says: /%r3 is undefined .* from %r2, which this thread had not assigned/,
  },
  "a lane that takes no part": {
    body:
      `setp.ge.u32 %p1, %t, 20; @%p1 bra END; shfl.sync.down.b32 %r3, %t, 4, 31, 0xfffff; st.global.u32 [%x], %r3; END:`,
    kind: NO_VALUE,
    thread: 16,
    says: /%r3 is undefined .* from a lane that takes no part in `shfl/,
  },
  "a ballot": {
    body:
      `${SOME} setp.eq.u32 %p2, %r2, 0; vote.sync.ballot.b32 %r3, %p2, -1; st.global.u32 [%x], %r3;`,
    kind: NO_VALUE,
    thread: 0,
    says: /%r3 is undefined/,
  },
  "shared memory": {
    body: `${SHARED} mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; setp.ne.u32 %p1, %t, 9;
      @%p1 st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r2, [%r1]; add.u32 %r2, %r2, 1; st.global.u32 [%x], %r2;`,
    kind: NO_BYTES,
    thread: 9,
    says:
      /^load of 4 bytes at tile \+ 36 in shared memory, which nothing has written; `st.global.u32 .*`: it is stored/,
  },
  "a counter in shared memory": {
    body:
      `${SHARED} red.shared.add.u32 [tile], 1; bar.sync 0; ld.shared.u32 %r2, [tile]; st.global.u32 [%x], %r2;`,
    kind: NO_BYTES,
    thread: 32,
    says: /at tile in shared memory/,
  },
  "a lock in shared memory": {
    body:
      `${SHARED} atom.shared.cas.b32 %r2, [tile], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra END; add.u32 %r4, %t, 1; END:`,
    kind: NO_BYTES,
    thread: 0,
    says: /^atomic operation of 4 bytes at tile in shared memory.*a branch depends on it/,
  },
  "an index in shared memory": {
    body:
      `${SHARED} mov.u32 %r1, tile; ld.shared.u32 %r2, [%r1+16]; mad.wide.u32 %d1, %r2, 4, %y; ld.global.u32 %r3, [%d1];`,
    kind: NO_BYTES,
    thread: 0,
    says: /at tile \+ 16 in shared memory.*it is used as an address/,
  },
  "an undefined value in shared memory": {
    body:
      `${SHARED} ${SOME} mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 4, %r4; st.shared.u32 [%r4], %r2; ld.shared.u32 %r3, [%r4];
      st.global.u32 [%x], %r3;`,
    kind: NO_VALUE,
    thread: 8,
    says: /^%r3 is undefined .* from %r2, which this thread had not assigned/,
  },
  "local memory": {
    body:
      `${LOCAL} st.local.u32 [spot+4], %t; ld.local.u32 %r2, [spot+8]; st.global.u32 [%x], %r2;`,
    kind: NO_BYTES,
    thread: 0,
    says: /^load of 4 bytes at spot \+ 8 in local memory, which nothing has written/,
  },
  "part of an element of local memory": {
    body:
      `${LOCAL} st.local.u16 [spot], %t; ld.local.u32 %r2, [spot]; add.u32 %r2, %r2, 1; st.global.u32 [%x], %r2;`,
    kind: NO_BYTES,
    thread: 0,
    says: /whose byte 2 nothing has written/,
  },
  "a row of a matrix": {
    body: `${SHARED} and.b32 %r1, %t, 31; mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2;
      setp.ge.u32 %p4, %t, 32; @%p4 bra END; setp.ne.u32 %p1, %t, 8; mov.u32 %r3, 0;
      @%p1 st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3}; bar.warp.sync -1;
      ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r2]; st.global.u32 [%x], %r5; END:`,
    kind: NO_BYTES,
    thread: 0,
    says: /^load of a matrix at tile \+ 128 in shared memory/,
  },
};

for (const [what, { body, kind, thread, says }] of Object.entries(MISTAKES)) {
  Deno.test(`undefined values are mistakes: ${what}`, () => {
    const found = fault(body);
    assertEquals([found.kind, found.origin?.thread], [kind, [thread, 0, 0]], found.detail);
    assertMatch(found.detail, says);
  });
}

Deno.test("undefined values of one launch are unknown to the next", () => {
  // The same kernel is compiled once: words of shadows belong to warps, and those begin anew.
  const out = new Uint32Array(64);
  const text = kernelText(
    `${HEAD} ld.global.u32 %r1, [%x]; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, 7;
    mov.u32 %r3, %r2; st.global.u32 [%x], %r3; ret;`,
  );
  const { emulator } = emulate(text, { args: [out], block: [64, 1, 1] });
  emulator.close();
  assertEquals([...new Set(out)], [7]);
  assertThrows(() => emulate(text, { args: [out], block: [64, 1, 1] }), Fault);
});

Deno.test("undefined values are no matter without checks", () => {
  const out = new Uint32Array(64);
  const text = kernelText(`${HEAD} st.global.u32 [%x], %r9; ret;`);
  emulate(text, { args: [out], block: [64, 1, 1], checks: false });
});

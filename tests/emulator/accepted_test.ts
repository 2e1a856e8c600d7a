/** What ptxas 13.0 takes beside the forms of the ISA's syntax: it loads, and does what it says. */
import { assertEquals, assertMatch, assertThrows } from "../support/assert.ts";
import { emulate } from "../support/emulate.ts";
import { Fault } from "../../emulator/fault.ts";

const HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n";
const REGISTERS = ".reg .b32 %r<16>; .reg .b64 %q<8>; .reg .b16 %h<8>; .reg .f32 %f<8>; " +
  ".reg .pred %p<4>; .reg .v4 .b32 %v; .reg .v2 .f32 %w; ld.param.u64 %q0, [out];";

/** Runs a body; thread 0 of block 0 stores %r0 to %r3. `before` precedes the kernel. */
function run(body: string, before = "", threads = 32): number[] {
  const out = new Uint32Array(4);
  const text = `${HEAD}${before}
.visible .entry k(.param .u64 out) {
  ${REGISTERS}
  mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
  ${body}
  mov.u32 %r15, %tid.x; mov.u32 %r14, %ctaid.x; or.b32 %r15, %r15, %r14;
  mov.u32 %r14, %ctaid.y; or.b32 %r15, %r15, %r14; setp.ne.u32 %p3, %r15, 0; @%p3 ret;
  st.global.v4.u32 [%q0], {%r0, %r1, %r2, %r3};
  ret;
}`;
  emulate(text, { args: [out], block: [threads, 1, 1], grid: [3, 2, 1] });
  return [...out];
}

const SET = "mov.u32 %r4, 4; mov.u32 %r5, 5; mov.u32 %r6, 6; mov.u32 %r7, 7;";

Deno.test("mov of vectors moves element by element, all at once", () => {
  assertEquals(run(`${SET} mov.v4.u32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7};`), [4, 5, 6, 7]);
  assertEquals(run(`${SET} mov.v2.b32 {%r4, %r5}, {%r5, %r4}; mov.v2.b32 {%r0, %r1}, {%r4, 9};`), [
    5,
    9,
    0,
    0,
  ]);
  assertEquals(run(`${SET} mov.v4.b32 %v, {%r4, %r5, %r6, %r7}; mov.b32 %r0, %v.w;`), [7, 0, 0, 0]);
  assertEquals(
    run("mov.v2.f32 %w, {0f3F800000, 0f40000000}; mov.v2.f32 %w, {%w.y, %w.x}; mov.b32 %r0, %w.r;"),
    [0x40000000, 0, 0, 0],
  );
  assertEquals(
    run(
      `${SET} mov.v2.u16 {%h0, %h1}, {7, 8}; mov.v2.u16 {%h0, %h1}, {%h1, %h0}; mov.b32 %r0, {%h0, %h1};`,
    ),
    [0x70008, 0, 0, 0],
  );
});

Deno.test("special registers are read as vectors, by colours, narrower as in PTX 1, and by cvt", () => {
  assertEquals(run("mov.v4.u32 {%r0, %r1, %r2, %r3}, %ntid;"), [32, 1, 1, 0]);
  assertEquals(run("mov.u32 %r0, %nctaid.r; mov.u32 %r1, %nctaid.g; mov.u32 %r2, %ntid.a;"), [
    3,
    2,
    0,
    0,
  ]);
  assertEquals(
    run(
      "mov.u16 %h0, %ntid.x; cvt.u32.u16 %r0, %h0; cvt.u64.u32 %q1, %nctaid.x; cvt.u32.u64 %r1, %q1;",
    ),
    [32, 3, 0, 0],
  );
  assertEquals(
    run("mov.u32 %r4, %gridid; mov.u64 %q1, %gridid; cvt.u32.u64 %r5, %q1; sub.u32 %r0, %r4, %r5;"),
    [0, 0, 0, 0],
  );
  assertEquals(run("mov.b64 %q1, {%ntid.x, %nctaid.x}; mov.b64 {%r0, %r1}, %q1;"), [32, 3, 0, 0]);
});

Deno.test("reserved shared memory is after that of the kernel, is zero, and has 1 KiB", () => {
  const before = ".extern .shared .align 16 .b8 dynamic[];";
  const body = `
    .shared .b32 own[4];
    mov.u32 %r4, %reserved_smem_offset_begin; mov.u32 %r5, %reserved_smem_offset_end;
    mov.u32 %r6, %reserved_smem_offset_0; mov.u32 %r7, %reserved_smem_offset_1;
    mov.u32 %r8, %reserved_smem_offset_cap; mov.u32 %r9, %total_smem_size;
    mov.u32 %r10, own;
    sub.u32 %r0, %r5, %r4; setp.eq.u32 %p0, %r4, %r9; selp.u32 %r1, %r8, 0, %p0;
    ld.shared.u32 %r2, [%r7+284]; mov.u32 %r11, 5; st.shared.u32 [%r6], %r11;
    bar.sync 0; ld.shared.u32 %r3, [%r6];`;
  assertEquals(run(body, before), [1024, 1024, 0, 5]);
});

Deno.test("functions take vector registers, and old declarations end without a semicolon", () => {
  const before = `
.extern .func (.param .b32 r) other (.param .b32 x)
.func (.reg .v2 .b32 %res) swap (.reg .v2 .b32 %x, .reg .b32 %y) {
  mov.b32 %res.x, %x.y; add.u32 %res.y, %x.x, %y; ret;
}
.func plain
{ ret; }
.func plain2;
.func plain2 { ret; }`;
  const body = `${SET} .reg .v2 .b32 %a, %b; mov.v2.b32 %a, {%r4, %r5};
    call (%b), swap, (%a, %r6); call plain; call plain2; mov.v2.b32 {%r0, %r1}, %b;`;
  assertEquals(run(body, before), [5, 10, 0, 0]);
});

Deno.test("variables of kernels and functions may be global or constant", () => {
  const before =
    ".func (.reg .u32 %o) count { .global .u32 n = 40; atom.global.add.u32 %o, [n], 1; ret; }";
  const body = `.global .u32 g[2] = {11, 12}; .const .u32 c = 13; .global .align 8 .u64 p = g;
    ld.global.u32 %r0, [g+4]; ld.const.u32 %r1, [c];
    { .global .u32 g = 14; ld.global.u32 %r2, [g]; }
    ld.global.u64 %q1, [p]; ld.global.u32 %r3, [%q1];`;
  assertEquals(run(body, before), [12, 13, 14, 11]);
  const one =
    `mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; or.b32 %r4, %r4, %r5; setp.ne.u32 %p1, %r4, 0;
    @%p1 ret; call (%r0), count; call (%r1), count;`;
  assertEquals(run(one, before, 1), [40, 41, 0, 0]);
});

Deno.test("modifiers may be separated from the opcode, numbers begin with a point, registers be none", () => {
  assertEquals(
    run("mov.f32 %f0, .5; mov.b32 %r0, %f0; mov .u32 %r1, 3; .reg .align 8 .b32 %x<0>;"),
    [0x3f000000, 3, 0, 0],
  );
});

Deno.test("functions have addresses that are passed on, compared and kept in tables", () => {
  const before = `.func f { ret; } .func g { ret; } .global .u64 table[2] = {f, g};`;
  const body = `mov.u64 %q1, f; mov.u64 %q2, g; setp.ne.u64 %p0, %q1, %q2; selp.u32 %r0, 1, 0, %p0;
    setp.ne.u64 %p0, %q1, 0; selp.u32 %r1, 1, 0, %p0;
    ld.global.u64 %q3, [table+8]; setp.eq.u64 %p0, %q3, %q2; selp.u32 %r2, 1, 0, %p0;`;
  assertEquals(run(body, before), [1, 1, 1, 0]);
  assertMatch(
    assertThrows(() => run("mov.u64 %q1, f; ld.u32 %r0, [%q1];", before), Fault).message,
    /out of bounds/,
  );
});

/** The fault of a kernel that has an instruction of another kernel's module. */
function faultOf(statement: string): Fault {
  return assertThrows(() => run(statement), Fault);
}

Deno.test("what is not known fails where it runs, with its name", () => {
  const cases: readonly (readonly [statement: string, message: RegExp])[] = [
    ["frobnicate.u32 %r1 -> %r2, {[1]};", /unknown opcode frobnicate/],
    ["@!%p1 frobnicate.u32 %r1, [%q1, <3>], {};", /unknown opcode frobnicate/],
    [".sreg .b64 abc;", /unknown directive \.sreg/],
    ["mov.u32 %r1, %nothing;", /%nothing is not declared, and no special register.*chapter 10/],
    [
      "tcgen05.mma.cta_group::1.kind::f16 [%r1], %q1, %q2, %r2, {%r3, 1}, %p1;",
      /tcgen05\.mma is not supported \(PTX ISA 9\.0, 9\.7\.16/,
    ],
    ["add.u32.frob %r1, %r2, %r3;", /no form of add has the modifiers \.u32\.frob.*9\.7\.1\.1/],
    ["add.u32 %r1, %r2;", /takes 3 operands, not 2.*9\.7\.1\.1/],
  ];
  for (const [statement, message] of cases) {
    const guarded = `mov.u32 %r4, %ctaid.x; setp.eq.u32 %p1, %r4, 1; setp.ne.u32 %p2, %r4, 77;`;
    assertMatch(faultOf(`${guarded} ${statement}`).message, message);
    // What is not reached does no harm.
    assertEquals(run(`mov.u32 %r0, 1; bra OVER; ${statement} OVER:`), [1, 0, 0, 0]);
  }
});

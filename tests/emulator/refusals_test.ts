/** What the emulator does not do says what it is, where it is described, and what to do instead. */
import { Fault } from "../../emulator/fault.ts";
import { assertMatch, assertThrows } from "../support/assert.ts";
import { emulate } from "../support/emulate.ts";

const HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n";
const REGISTERS = ".reg .b32 %r<8>; .reg .b64 %q<8>; .reg .f32 %f<8>; .reg .pred %p<4>;";

function faultOf(body: string, before = ""): Fault {
  const text = `${HEAD}${before}\n.visible .entry k() { ${REGISTERS} ${body} ret; }`;
  return assertThrows(() => emulate(text, { args: [], block: [32, 1, 1] }), Fault);
}

const MALLOC = `.extern .func (.param .b64 r) malloc (.param .b64 n);`;
const LAUNCH = `.extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 a, .param .b64 b);`;
const FUNCTION = `.func (.param .b32 r) twice (.param .b32 x)
  { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }`;
const RECURSIVE = `.func even; .func odd { call even; ret; } .func even { call odd; ret; }`;

const CALL = (name: string): string =>
  `{ .param .b64 a; .param .b64 o; mov.u64 %q1, 8; st.param.b64 [a], %q1; call (o), ${name}, (a); }`;

const CASES: readonly (readonly [
  what: string,
  body: string,
  before: string,
  detail: RegExp,
  hint: RegExp,
])[] = [
  [
    "malloc",
    CALL("malloc"),
    MALLOC,
    /malloc.*Dynamic Global Memory Allocation/,
    /before the launch/,
  ],
  [
    "launches by kernels",
    "{ .param .b64 a; .param .b64 b; .param .b32 o; call (o), cudaLaunchDeviceV2, (a, b); }",
    LAUNCH,
    /cudaLaunchDeviceV2.*CUDA Dynamic Parallelism/,
    /from the host/,
  ],
  ["recursion", "call odd;", RECURSIVE, /odd calls itself.*recursion.*9\.7\.12\.5/, /as a loop/],
  [
    "indirect calls",
    `P: .callprototype (.param .b32 _) _ (.param .b32 _); mov.u64 %q1, 0;
     { .param .b32 a; .param .b32 o; mov.u32 %r1, 3; st.param.b32 [a], %r1; call (o), %q1, (a), P; }`,
    FUNCTION,
    /calls through pointers.*9\.7\.12\.5/,
    /switch/,
  ],
  [
    "functions that are only declared",
    "call elsewhere;",
    ".extern .func elsewhere ();",
    /declares the function elsewhere/,
    /-rdc/,
  ],
  [
    "cooperative launches",
    `mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; or.b32 %r1, %r1, %r2;
     setp.eq.u32 %p1, %r1, 0; @%p1 trap;`,
    "",
    /cooperative launch.*Grid Synchronization/,
    /split the kernel/,
  ],
  [
    "textures",
    "mov.u64 %q1, 0; mov.f32 %f1, 0.0; tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%q1, {%f1}];",
    "",
    /textures are not emulated.*9\.7\.10\.3/,
    /global memory/,
  ],
  [
    "surfaces",
    "mov.u64 %q1, 0; mov.u32 %r1, 0; sust.b.1d.b32.trap [%q1, {%r1}], %r1;",
    "",
    /surfaces are not emulated.*9\.7\.11/,
    /global memory/,
  ],
  ["the stack", "mov.u64 %q1, 8; alloca.u64 %q2, %q1;", "", /on the stack.*9\.7\.17/, /array/],
  [
    "tensor memory",
    "mov.u32 %r1, 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;",
    "",
    /tcgen05\.alloc.*9\.7\.16/,
    /wgmma or mma/,
  ],
];

for (const [what, body, before, detail, hint] of CASES) {
  Deno.test(`refusals name ${what}, a section and the way out`, () => {
    const fault = faultOf(body, before);
    assertMatch(fault.detail, detail);
    assertMatch(fault.hint ?? "", hint);
  });
}

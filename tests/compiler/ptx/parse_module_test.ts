/** Declarations, functions, calls, and operands that only people write. */
import type { Instruction, PtxFunction, PtxKernel, PtxModule } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { printInstruction, printModule, printVariable } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";

const HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n";

const moduleOf = (text: string): PtxModule => parsePtx(`${HEAD}${text}`);
const kernelOf = (text: string): PtxKernel => must(moduleOf(text).kernels[0], "kernel");
const functionOf = (text: string): PtxFunction => must(moduleOf(text).functions[0], "function");

/** Statements as they are printed again. */
function reprinted(statements: string, before = ""): string[] {
  const { body } = kernelOf(`${before}\n.entry k(.param .b32 array[4]) { ${statements} }`);
  return body.flatMap((item) => item.kind === "instruction" ? [printInstruction(item)] : []);
}

Deno.test("parsePtx() reads functions: parameters, results, linkage, directives, attributes", () => {
  assertEquals(
    functionOf(".weak .func (.reg .f64 r) f(.reg .b32 n, .param .align 4 .b8 more[]) { ret; }"),
    {
      name: "f",
      returns: [{ kind: "register", type: "f64", name: "r" }],
      params: [
        { kind: "register", type: "b32", name: "n" },
        { kind: "param", name: "more", type: "b8", bytes: 0, align: 4 },
      ],
      directives: [],
      visible: true,
      weak: true,
      code: {
        registers: [],
        variables: [],
        body: [{ kind: "instruction", opcode: "ret", modifiers: [], operands: [] }],
      },
    },
  );
  assertEquals(
    functionOf(".extern .func .attribute(.unified(0xAB, 0xCD)) g .noreturn .abi_preserve 8;"),
    {
      name: "g",
      returns: [],
      params: [],
      directives: [{ name: "noreturn", values: [] }, { name: "abi_preserve", values: [8] }],
      attributes: ["unified(171, 205)"],
      extern: true,
    },
  );
});

Deno.test("parsePtx() gives each function once, in the order of the first declarations", () => {
  const { functions, aliases } = moduleOf(`
    .func a(); .func b() { call a; } .func a() { ret; } .func b(); .func c(); .alias c, b;`);
  assertEquals(functions.map(({ name, code }) => [name, code !== undefined]), [
    ["a", true],
    ["b", true],
    ["c", false],
  ]);
  assertEquals(aliases, [{ name: "c", target: "b" }]);
});

Deno.test("parsePtx() reads calls of all kinds", () => {
  assertEquals(
    reprinted(`.reg .b32 %r<3>; .reg .b64 %f; .param .b32 p;
      call f; call.uni f, (); call f, (%r1, 5, p); call (%r0), f, (%r1); call (p), f;
      call (%r0), %f, (%r1), proto; call %f, list;
      proto: .callprototype (.param .b32 _) _ (.reg .b32 _, .param .align 8 .b8 _[12]) .noreturn;
      list: .calltargets f, g;`),
    [
      "call f;",
      "call.uni f, ();",
      "call f, (%r1, 5, p);",
      "call (%r0), f, (%r1);",
      "call (p), f;",
      "call (%r0), %f, (%r1), proto;",
      "call %f, list;",
    ],
  );
  const { body } = kernelOf(`.entry k() {
    proto: .callprototype (.param .b32 _) _ (.reg .b32 _, .param .align 8 .b8 _[12]) .noreturn;
    list: .calltargets f, g; }`);
  assertEquals(body, [
    {
      kind: "prototype",
      name: "proto",
      returns: [{ kind: "param", name: "_", type: "b32" }],
      params: [
        { kind: "register", type: "b32", name: "_" },
        { kind: "param", name: "_", type: "b8", bytes: 12, align: 8 },
      ],
      directives: [{ name: "noreturn", values: [] }],
    },
    { kind: "functions", name: "list", functions: ["f", "g"] },
  ]);
});

Deno.test("verifyPtx() looks for the functions and prototypes that calls name", () => {
  const problems = (statement: string): string[] =>
    verifyPtx(
      moduleOf(`.func f(); .entry k() { .reg .b64 %rd1; P: .callprototype _; ${statement} }`),
    );
  assertEquals(problems("call f;"), []);
  assertEquals(problems("call %rd1, P;"), []);
  assertEquals(problems("call g;"), ["k: call g; symbol g is not declared"]);
  assertEquals(problems("call %rd1, Q;"), ["k: call %rd1, Q; label Q is not declared"]);
  assertEquals(problems("call 5;"), []);
});

Deno.test("parsePtx() makes vectors of registers single registers", () => {
  assertEquals(
    reprinted(`.reg .v4 .f32 V; .reg .v2 .b32 W<2>; .reg .b32 %r1; .shared .v4 .f32 S;
      ld.shared.v4.f32 V, [S]; add.f32 V.x, V.g, V.w; mov.b64 W1, 5; mov.b32 %r1, W1.y;`),
    [
      "ld.shared.v4.f32 {%V_x, %V_y, %V_z, %V_w}, [S];",
      "add.f32 %V_x, %V_y, %V_w;",
      "mov.b64 {%W1_x, %W1_y}, 5;",
      "mov.b32 %r1, %W1_y;",
    ],
  );
});

Deno.test("parsePtx() reads indices as bytes", () => {
  const before = ".global .b64 g[4]; .global .v4 .f32 v[2];";
  assertEquals(
    reprinted(
      `.reg .b32 %r; .reg .b64 %rd; .local .b16 l[8];
      ld.global.u64 %rd, g[3]; ld.param.b32 %r, [array[1]]; mov.u64 %rd, l[2]; mov.u64 %rd, g+4-8;
      ld.global.f32 %r, [v[1]+4]; st.global.b64 [g+2*8], 1 << 3;`,
      before,
    ),
    [
      "ld.global.u64 %rd, [g+24];",
      "ld.param.b32 %r, [array+4];",
      "mov.u64 %rd, l+4;",
      "mov.u64 %rd, g+-4;",
      "ld.global.f32 %r, [v+20];",
      "st.global.b64 [g+16], 8;",
    ],
  );
});

Deno.test("parsePtx() reads parts of registers, textures, and variables of both memories", () => {
  assertEquals(
    reprinted(`.reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %t; .reg .pred p;
      vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1; vmad.s32.s32.u32 %r0, %r1, %r2, -%r3;
      vabsdiff4.u32.u32.u32.add %r0.b210, %r1.b3210, %r2.b7654, %r3;
      tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}|p, [%t, {%f0}]; tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [img, smp, {%f0, %f1}];
      ld.global.f32 %f0, [u].unified;`),
    [
      "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;",
      "vmad.s32.s32.u32 %r0, %r1, %r2, -%r3;",
      "vabsdiff4.u32.u32.u32.add %r0.b210, %r1.b3210, %r2.b7654, %r3;",
      "tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%p, [%t, {%f0}];",
      "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [img, smp, {%f0, %f1}];",
      "ld.global.f32 %f0, [u].unified;",
    ],
  );
});

Deno.test("parsePtx() reads variables of all kinds as flat arrays", () => {
  const { variables } = moduleOf(`
    .global .s32 x[3][2] = { {1,2}, {3} }; .const .f32 kernel[][3] = {{.5,1},{2,3,4}};
    .global .v4 .f32 v; .global .v2 .u16 pairs[3]; .common .global .u32 c; .global .u32 many<3>;
    .global .texref t; .tex .u32 old; .global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };
    .extern .global .b32 e[]; .extern .global .b32 e[]; .visible .global .b32 e[2] = {7};
    .global .attribute(.managed) .align 8 .b32 m; .global .u8 bytes[] = {0xff(x), 0xFF00(generic(x)+4), 0xFF00(0x1234)};`
    .replace(".5", "0.5"));
  assertEquals(variables.map(printVariable), [
    ".global .s32 x[6] = {1, 2, 3};",
    ".const .f32 kernel[6] = {0f3F000000, 0f3F800000, 0f00000000, 0f40000000, 0f40400000, 0f40800000};",
    ".global .align 16 .f32 v[4];",
    ".global .align 4 .u16 pairs[6];",
    ".common .global .u32 c;",
    ".global .u32 many0;",
    ".global .u32 many1;",
    ".global .u32 many2;",
    ".global .texref t;",
    ".global .texref old;",
    ".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };",
    ".visible .global .b32 e[2] = {7};",
    ".global .attribute(.managed) .align 8 .b32 m;",
    ".global .u8 bytes[3] = {0xff(x), 0xff00(generic(x+4)), 18};",
  ]);
});

Deno.test("parsePtx() reads directives of modules and kernels, and passes over what is for debuggers", () => {
  const module = parsePtx(`.version 9.0 /* comment */
# 1 "a.cu"
.target sm_80, debug
.target sm_90
@@DWARF .byte 0x2b, 0x00
.pragma "nounroll";
.section .debug_info { .b32 11430 .b8 -11, 111 L: .b32 .debug_abbrev+4, L-L }
.extern .entry later(.param .b32 x);
.visible .entry k(.param .texref t, .param .v2 .f32 v) .pragma "frequency 3", "x"; .maxnreg 64
.reqnctapercluster 2, 1 .blocksareclusters { N0: N1: T: .branchtargets N<2>; }`);
  const kernel = must(module.kernels[0], "kernel");
  assertEquals([module.target, module.pragmas, module.kernels.length], ["sm_90", ["nounroll"], 1]);
  assertEquals(kernel.params, [
    { name: "t", type: "texref" },
    { name: "v", type: "b8", bytes: 8, align: 8 },
  ]);
  assertEquals(kernel.directives, [
    { name: "maxnreg", values: [64] },
    { name: "reqnctapercluster", values: [2, 1] },
    { name: "blocksareclusters", values: [] },
  ]);
  assertEquals(kernel.body, [
    { kind: "pragma", text: "frequency 3" },
    { kind: "pragma", text: "x" },
    { kind: "label", name: "N0" },
    { kind: "label", name: "N1" },
    { kind: "targets", name: "T", labels: ["N0", "N1"] },
  ]);
});

const EVERYTHING = `${HEAD}.file 1 "a.cu"
.func (.reg .b32 r) f (.reg .b32 a, .reg .b32 b);
.global .u64 table[2] = {f, f};
.func (.reg .b32 r) f (.reg .b32 a, .reg .b32 b) { .shared .b32 s; mov.b32 r, a; ret; }
.visible .func (.param .b32 r) g (.param .align 4 .b8 n[]) .abi_preserve 4 { st.param.b32 [r], 1; ret; }
.func (.reg .b32 r) h (.reg .b32 a, .reg .b32 b);
.alias h, f;
.global .align 4 .b32 arr[8];
.visible .entry k(.param .u64 p, .param .b32 q[4]) {
  .reg .v4 .f32 V; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred z;
  .loc 1 5 3
  .loc 1 6 1, function_name name+0, inlined_at 1 5 3
  ld.global.u32 %r0, arr[1]; mov.u64 %rd0, arr+4; ld.global.v4.f32 V, [arr]; add.f32 V.x, V.y, V.w;
  mov.b32 %r1, (1 << 3) | 2; ld.param.u32 %r0, q[1];
  { .param .align 4 .b8 n[8]; .param .b32 r; st.param.b32 [n+4], %r1; call (r), g, (n); ld.param.b32 %r1, [r]; }
  @z call (%r0), h, (%r1, 4); mov.u64 %rd1, f;
  P: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);
  T: .calltargets f, h;
  call (%r0), %rd1, (%r1, %r2), P; call (%r0), %rd1, (%r1, %r2), T;
  ret;
}
.section .debug_str { name: .b8 102, 0 }
`;

ptxasTest("printModule() prints all kinds of declarations so that they assemble", async () => {
  const module = parsePtx(EVERYTHING);
  assertEquals(verifyPtx(module), []);
  const text = printModule(module);
  assertStringIncludes(text, "function_name");
  assertEquals(printModule(parsePtx(text)), text);
  assertEquals(await assemblyErrors(EVERYTHING, "sm_90"), new Map());
  assertEquals(await assemblyErrors(text, "sm_90"), new Map());
});

Deno.test("matchInstruction() says which section describes what is known by name only", () => {
  const problem = (statement: string): string[] =>
    verifyPtx(
      parsePtx(`.version 9.0\n.target sm_100a\n.entry k() { .reg .b32 %r1; ${statement} }`),
    );
  const says = (statement: string, text: string): void => {
    assertEquals(problem(statement), [`k: ${statement} ${text}`]);
  };
  says(
    "tcgen05.wait::ld.sync.aligned;",
    "tcgen05.wait::ld is not supported (PTX ISA 9.0, 9.7.16.8.5)",
  );
  says(
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 %r1;",
    "mma with .kind::mxf4 is not supported (PTX ISA 9.0, 9.7.14.5.14)",
  );
  const unknown: Instruction = { kind: "instruction", opcode: "foo", modifiers: [], operands: [] };
  says(printInstruction(unknown), "unknown opcode foo");
});

import type { PtxModule } from "../../../compiler/ptx/func.ts";
import { inlineCalls, isRecursive } from "../../../compiler/ptx/inline.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { printInstruction, printVariable } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

const REGISTERS = ".reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %rd<3>;";

/** Functions, and a kernel with the given statements; calls expanded. */
function inlined(functions: string, statements: string): PtxModule {
  const text =
    `.version 9.0\n.target sm_90\n.address_size 64\n.file 1 "a.cu"\n${functions}\n.entry k(.param .b32 given) { ${REGISTERS} ${statements} ret; }`;
  const module = inlineCalls(parsePtx(text));
  assertEquals(verifyPtx(module), []);
  return module;
}

/** The kernel's items as text. */
function lines(functions: string, statements: string): string[] {
  const { body } = must(inlined(functions, statements).kernels[0], "kernel");
  return body.map((item) => {
    if (item.kind === "instruction") return printInstruction(item);
    return item.kind === "label" ? `${item.name}:` : item.kind;
  });
}

const TWICE = ".func (.reg .b32 y) twice(.reg .b32 x) { add.s32 y, x, x; ret; }";

Deno.test("inlineCalls() moves arguments and results that are registers", () => {
  assertEquals(lines(TWICE, "call (%r1), twice, (%r2); call.uni (%r3), twice, (7);"), [
    "mov.b32 %x, %r2;",
    "add.s32 %y, %x, %x;",
    "mov.b32 %r1, %y;",
    "mov.b32 %x_1, 7;",
    "add.s32 %y_1, %x_1, %x_1;",
    "mov.b32 %r3, %y_1;",
    "ret;",
  ]);
});

Deno.test("inlineCalls() skips a call whose guard does not hold", () => {
  assertEquals(lines(TWICE, "@!%p1 call (%r1), twice, (%r2);"), [
    "@%p1 bra twice_skip;",
    "mov.b32 %x, %r2;",
    "add.s32 %y, %x, %x;",
    "mov.b32 %r1, %y;",
    "twice_skip:",
    "ret;",
  ]);
});

Deno.test("inlineCalls() continues after the function where it returns", () => {
  const fn = `.func (.reg .b32 y) sign(.reg .b32 x) { .reg .pred p;
    setp.lt.s32 p, x, 0; @p bra LOW; mov.b32 y, 1; ret.uni; LOW: mov.b32 y, -1; @p ret; ret; }`;
  assertEquals(lines(fn, "LOW: call (%r1), sign, (%r2); call (%r1), sign, (%r1);"), [
    "LOW:",
    "mov.b32 %x, %r2;",
    "setp.lt.s32 %p, %x, 0;",
    "@%p bra LOW_1;",
    "mov.b32 %y, 1;",
    "bra.uni sign_end;",
    "LOW_1:",
    "mov.b32 %y, -1;",
    "@%p bra sign_end;",
    "sign_end:",
    "mov.b32 %r1, %y;",
    "mov.b32 %x_1, %r1;",
    "setp.lt.s32 %p_1, %x_1, 0;",
    "@%p_1 bra LOW_2;",
    "mov.b32 %y_1, 1;",
    "bra.uni sign_end_1;",
    "LOW_2:",
    "mov.b32 %y_1, -1;",
    "@%p_1 bra sign_end_1;",
    "sign_end_1:",
    "mov.b32 %r1, %y_1;",
    "ret;",
  ]);
});

const SUM = `.func (.param .b32 s) sum(.param .align 8 .b8 pair[12]) { .reg .b32 a, b;
  ld.param.b32 a, [pair]; ld.param::func.b32 b, [pair+8]; add.s32 a, a, b; st.param.b32 [s], a; ret; }`;
const CALL_SUM = `{ .param .align 8 .b8 p[12]; .param .b32 r; st.param.b64 [p], %rd1;
  st.param.b32 [p+8], %r1; call (r), sum, (p); ld.param.b32 %r2, [r]; }`;

Deno.test("inlineCalls() replaces parameters in memory by the caller's variables", () => {
  assertEquals(lines(SUM, CALL_SUM), [
    "st.local.b64 [p], %rd1;",
    "st.local.b32 [p+8], %r1;",
    "ld.local.b32 %a, [p];",
    "ld.local.b32 %b, [p+8];",
    "add.s32 %a, %a, %b;",
    "st.local.b32 [r], %a;",
    "ld.local.b32 %r2, [r];",
    "ret;",
  ]);
});

Deno.test("inlineCalls() copies parameters whose address the function takes", () => {
  const fn = SUM.replace(
    "ld.param.b32 a, [pair];",
    ".reg .b64 at; mov.b64 at, pair; ld.local.b32 a, [at];",
  );
  assertEquals(lines(fn, CALL_SUM).slice(2, 10), [
    "ld.local.b64 %copied, [p];",
    "st.local.b64 [sum_pair], %copied;",
    "ld.local.b32 %copied_1, [p+8];",
    "st.local.b32 [sum_pair+8], %copied_1;",
    "mov.b64 %at, sum_pair;",
    "ld.local.b32 %a, [%at];",
    "ld.local.b32 %b, [sum_pair+8];",
    "add.s32 %a, %a, %b;",
  ]);
});

Deno.test("inlineCalls() copies a variable that a call gives twice, and kernel parameters", () => {
  const fn = `.func (.param .b32 s) add2(.param .b32 x, .param .b32 y) { .reg .b32 a, b;
    ld.param.b32 a, [x]; ld.param.b32 b, [y]; add.s32 a, a, b; st.param.b32 [s], a; ret; }`;
  const call = "{ .param .b32 p, r; st.param.b32 [p], %r1; call (r), add2, (p, p); }";
  assertEquals(lines(fn, call).slice(1, 7), [
    "ld.local.b32 %copied, [p];",
    "st.local.b32 [add2_x], %copied;",
    "ld.local.b32 %copied_1, [p];",
    "st.local.b32 [add2_y], %copied_1;",
    "ld.local.b32 %a, [add2_x];",
    "ld.local.b32 %b, [add2_y];",
  ]);
  assertEquals(lines(fn, "call (%r1), add2, (given, 5);").slice(0, 3), [
    "ld.param.b32 %copied, [given];",
    "st.local.b32 [add2_x], %copied;",
    "st.local.b32 [add2_y], 5;",
  ]);
});

Deno.test("inlineCalls() passes arrays without a size", () => {
  const fn = `.func (.param .b32 s) first(.param .b32 n, .param .align 4 .b8 rest[]) { .reg .b32 a;
    ld.param.b32 a, [rest+4]; st.param.b32 [s], a; ret; }`;
  const call = "{ .param .b32 n, r; .param .align 4 .b8 rest[8]; call (r), first, (n, rest); }";
  assertEquals(lines(fn, call), [
    "ld.local.b32 %a, [rest+4];",
    "st.local.b32 [r], %a;",
    "ret;",
  ]);
});

Deno.test("inlineCalls() expands calls in functions, and aliases", () => {
  const chain = `${TWICE}
    .func (.reg .b32 b) again(.reg .b32 a); .alias again, four;
    .func (.reg .b32 b) four(.reg .b32 a) { call (b), twice, (a); call (b), twice, (b); }`;
  assertEquals(lines(chain, "call (%r1), again, (%r2);"), [
    "mov.b32 %a, %r2;",
    "mov.b32 %x, %a;",
    "add.s32 %y, %x, %x;",
    "mov.b32 %b, %y;",
    "mov.b32 %x_1, %b;",
    "add.s32 %y_1, %x_1, %x_1;",
    "mov.b32 %b, %y_1;",
    "mov.b32 %r1, %b;",
    "ret;",
  ]);
});

Deno.test("inlineCalls() keeps calls of recursive functions, also where others call those", () => {
  const functions = `
    .func (.reg .b32 y) even(.reg .b32 x);
    .func (.reg .b32 y) odd(.reg .b32 x) { call (y), even, (x); ret; }
    .func (.reg .b32 y) even(.reg .b32 x) { call (y), odd, (x); ret; }
    .func (.reg .b32 y) calls(.reg .b32 x) { call (y), even, (x); ret; }`;
  assertEquals(lines(functions, "call (%r1), calls, (%r2);"), [
    "mov.b32 %x, %r2;",
    "call (%y), even, (%x);",
    "mov.b32 %r1, %y;",
    "ret;",
  ]);
});

Deno.test("inlineCalls() gives functions local variables per kernel and shared ones once", () => {
  const fn = `.func f() { .local .b32 l; .shared .b32 s; .global .b32 g[2] = {1, 2}; .reg .b32 a;
    ld.local.b32 a, [l]; st.shared.b32 [s], a; st.global.b32 [g+4], a; ret; }`;
  const module = inlined(`.global .b32 f_g;\n${fn}`, "call f; call f;");
  const [kernel] = module.kernels;
  assertEquals(module.variables.map(printVariable), [
    ".global .b32 f_g;",
    ".shared .b32 f_s;",
    ".global .b32 f_g_1[2] = {1, 2};",
  ]);
  assertEquals(kernel?.variables.map(printVariable), [".local .b32 f_l;"]);
  const stores = kernel?.body.flatMap((item) =>
    item.kind === "instruction" && item.opcode === "st" ? [printInstruction(item)] : []
  );
  assertEquals(stores, [
    "st.shared.b32 [f_s], %a;",
    "st.global.b32 [f_g_1+4], %a;",
    "st.shared.b32 [f_s], %a_1;",
    "st.global.b32 [f_g_1+4], %a_1;",
  ]);
});

Deno.test("inlineCalls() says where a function was called from", () => {
  const fn = ".func f() { .loc 1 3 5\n ret; }";
  const { body } = must(inlined(fn, ".loc 1 9 1\n call f;").kernels[0], "kernel");
  assertEquals(body.slice(0, 3), [
    { kind: "loc", file: 1, line: 9, column: 1 },
    {
      kind: "loc",
      file: 1,
      line: 3,
      column: 5,
      inlined: { function: "f", file: 1, line: 9, column: 1 },
    },
    { kind: "loc", file: 1, line: 9, column: 1 },
  ]);
});

Deno.test("inlineCalls() gives kernels without calls back as they are", () => {
  const module = inlined(TWICE, "add.s32 %r1, %r1, 1;");
  assert(inlineCalls(module) === module);
});

test("inlineCalls() ends where functions call each other more often than memory holds", () => {
  const levels = Array.from(
    { length: 40 },
    (_, i) => `.func f${i + 1}(.reg .b32 x) { call f${i}, (x); call f${i}, (x); ret; }`,
  );
  const text = [".func f0(.reg .b32 x) { add.s32 x, x, 1; ret; }", ...levels].join("\n");
  // What is left is a call, which fails, rather than what has been expanded by then.
  assertEquals(lines(text, "call f40, (%r1);").map((line) => line.replace(/f\d+/, "f")), [
    "call f;",
  ]);
});

test("inlineCalls() expands calls that are deeper than the stack of the host", () => {
  const levels = Array.from(
    { length: 20_000 },
    (_, i) => `.func f${i + 1}(.reg .b32 x) { call f${i}, (x); ret; }`,
  );
  const text = [".func f0(.reg .b32 x) { add.s32 x, x, 1; ret; }", ...levels].join("\n");
  const module = parsePtx(
    `.version 9.0\n.target sm_90\n.address_size 64\n${text}\n.entry k() { call f20000, (1); ret; }`,
  );
  const { body } = must(inlineCalls(module).kernels[0], "kernel");
  assert(body.every((item) => item.kind !== "instruction" || item.opcode !== "call"));
  assertEquals(body.filter((item) => item.kind === "instruction").length, 20_003);
});

test("inlineCalls() ends where the kernels of a module get too large together", () => {
  const many = (count: number, name: string): string =>
    `.func ${name}(.reg .b32 x) { ${"add.s32 x, x, 1; ".repeat(count)} ret; }`;
  const repeated = `.func g(.reg .b32 x) { ${"call f, (x); ".repeat(200)} ret; }`;
  const kernels = Array.from(
    { length: 12 },
    (_, i) => `.entry k${i}() { call g, (1); ret; }`,
  );
  const module = inlineCalls(parsePtx(
    `.version 9.0\n.target sm_90\n.address_size 64\n${many(1000, "f")}\n${repeated}\n${
      kernels.join("\n")
    }`,
  ));
  const sizes = module.kernels.map(({ body }) => body.length);
  assert(sizes.slice(0, 10).every((size) => size > 200_000), sizes.join());
  assertEquals(sizes.slice(10), [1, 1]);
});

Deno.test("isRecursive() finds functions in cycles of calls, and not those that call them", () => {
  const text =
    `.func a() { call b; ret; } .func b() { call c; call d; ret; } .func c() { call b; ret; }
.func d() { call e; ret; } .func e() { ret; } .func f() { call f; ret; } .func g() { call f; call a; ret; }`;
  const module = parsePtx(`.version 9.0\n.target sm_90\n.address_size 64\n${text}`);
  const recursive = [..."abcdefg"].filter((name) => isRecursive(module, name));
  assertEquals(recursive.join(""), "bcf");
});

import type { PtxModule } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";

const DECLARATIONS =
  `.reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %rd<3>; .reg .f64 %fd<3>;
.shared .b32 tile[4];`;

/** One statement a line, from line 6 on. */
function moduleText(statements: readonly string[], version = "7.0", target = "sm_80"): string {
  return `.version ${version}\n.target ${target}\n.address_size 64
.visible .entry k(.param .u64 p) { ${DECLARATIONS}\nLABEL: ret;\n}`.replace(
    "LABEL: ret;",
    `${statements.join("\n")}\nLABEL: ret;`,
  );
}

/** Problems of one statement, without where it is. */
function problemsOf(statement: string, version?: string, target?: string): string[] {
  return verifyPtx(parsePtx(moduleText([statement], version, target)))
    .map((problem) => problem.replace(/^k: [^;]*; /, ""));
}

/** Statements that are right, and what is wrong with the others. */
const JUDGED: readonly (readonly [statement: string, problem?: string])[] = [
  ["add.u32 %r1, 1, 2;"],
  ["add.f32 %r1, %r2, 0f3F800000;"],
  ["add.f32 %f1, %f2, 1.0;"],
  ["mov.b32 %r1, 0f3F800000;"],
  ["mov.b32 %r1, {%h1, 0};"],
  ["mov.u32 %r1, tile;"],
  ["selp.b32 %r1, 1, 0, !%p1;"],
  ["and.pred %p1, !%p2, 1;"],
  ["ld.global.u8 %h1, [%rd1];"],
  ["ld.global.f32 %rd1, [%rd1];"],
  ["ld.shared.b32 %r1, [tile+8];"],
  ["ld.param.u64 %rd1, [p];"],
  ["st.global.v2.b32 [%rd1], {5, %r1};"],
  ["cvt.u16.u32 %r1, %r2;"],
  ["shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;"],
  ["setp.eq.and.s32 %p1|%p2, %r1, 5, !%p0;"],
  ["bar.sync 0, 32;"],
  ["cp.async.ca.shared.global [tile], [%rd1], 4, %r1;"],
  ["cp.async.cg.shared.global [tile], [%rd1], 16;"],
  ["@%p1 bra LABEL;"],
  [
    "add.u32 %r1, %tid.x, 1;",
    "operand a must be a register (special registers are read by mov), not a special register",
  ],
  ["add.f32 %f1, %f2, 1;", "operand b must be a value of .f32, not an integer"],
  ["add.f16 %h1, %h2, 15360;", "operand b must be a value of .f16, not an integer"],
  ["mov.b16 %h1, 0f3F800000;", "operand a must be a value of .b16, not a float"],
  ["add.u32 %r1, %r2, 0f3F800000;", "operand b must be a value of .u32, not a float"],
  ["add.u64 %rd1, %rd2, tile;", "operand b must be a value, not a symbol"],
  ["add.s32 %f1, %r2, 1;", "operand d is .s32, but %f1 is .f32"],
  ["add.s32 %r1, %rd2, 1;", "operand a is .s32, but %rd2 is .b64"],
  ["add.f32 %f1, %fd1, %f2;", "operand a is .f32, but %fd1 is .f64"],
  ["shl.b64 %rd1, %rd2, %rd1;", "operand b is .u32, but %rd1 is .b64"],
  ["add.s32 %r1, %r2;", "takes 3 operands, not 2"],
  ["bar.sync 0, 32, 1;", "takes 1 to 2 operands, not 3"],
  ["add.s32 [%rd1], %r2, 1;", "operand d must be a single value, not an address"],
  ["ld.global.b32 %r1, %rd1;", "operand a must be an address, not a register"],
  ["ld.global.v4.b32 {%r1, %r2}, [%rd1];", "operand d must have 4 elements, not 2"],
  ["ld.global.v2.b32 %r1, [%rd1];", "operand d must be a vector of 2"],
  ["ld.global.v4.b64 {%rd0, %rd1, %rd2, %rd0}, [%rd1];", "needs PTX 8.8, the module has 7"],
  ["ld.local.volatile.b32 %r1, [%rd1];", "no form of ld has the modifiers .local.volatile.b32"],
  ["add.rn.s32 %r1, %r2, 1;", "no form of add has the modifiers .rn.s32"],
  ["mul.s32 %r1, %r2, 1;", "no form of mul has the modifiers .s32"],
  [
    "cp.async.ca.shared.global [tile], [%rd1], 2;",
    "copies 4, 8, 16 bytes, not 2",
  ],
  ["cp.async.cg.shared.global [tile], [%rd1], 8, %r1;", "copies 16 bytes, not 8"],
  ["frobnicate.b32 %r1;", "unknown opcode frobnicate"],
  ["bra LAPEL;", "label LAPEL is not declared"],
  ["mov.u32 %r1, tiles;", "symbol tiles is not declared"],
  ["@%r1 ret;", "the guard %r1 is no predicate"],
  ["mov.u32 %rd1, %tid.x;", "operand d is .u32, but %rd1 is .b64"],
  ["mov.b64 %rd1, %tid.x;", "%tid.x is .u32, but %rd1 is .b64"],
  ["mov.u32 %r1, %cluster_ctarank;", "%cluster_ctarank needs PTX 7.8, the module has 7"],
];

Deno.test("verifyPtx() judges operands, modifiers and names", () => {
  for (const [statement, problem] of JUDGED) {
    assertEquals(problemsOf(statement), problem === undefined ? [] : [problem], statement);
  }
});

ptxasTest("verifyPtx() judges as ptxas does", async () => {
  // Label errors end ptxas at once, and modifiers in another order are more than it asks for.
  const judged = JUDGED.filter(([statement]) => !/bra|tiles|local\.volatile/.test(statement));
  for (const unknown of [true, false]) {
    const statements = judged.filter(([statement]) => statement.startsWith("frob") === unknown);
    const errors = await assemblyErrors(
      moduleText(statements.map(([statement]) => statement)),
      "sm_80",
    );
    statements.forEach(([statement, problem], i) => {
      assertEquals(
        errors.has(6 + i),
        problem !== undefined,
        `${statement} ${errors.get(6 + i) ?? "was taken"}`,
      );
    });
  }
});

Deno.test("verifyPtx() demands the version and the target that an instruction needs", () => {
  const hint = "ld.global.L1::no_allocate.b32 %r1, [%rd1];";
  assertEquals(problemsOf(hint, "7.3"), ["needs PTX 7.4, the module has 7.3"]);
  assertEquals(problemsOf(hint, "7.4"), []);
  const rounding = "cvt.rn.bf16.f32 %h1, %f1;";
  assertEquals(problemsOf(rounding, "8.0", "sm_75"), [
    "needs sm_80 or later, the module has sm_75",
  ]);
  const fence = "wgmma.fence.sync.aligned;";
  assertEquals(problemsOf(fence, "8.0", "sm_90a"), []);
  assertEquals(problemsOf(fence, "8.0", "sm_90"), ["needs sm_90a, the module has sm_90"]);
  assertEquals(problemsOf(fence, "8.6", "sm_100a"), ["needs sm_90a, the module has sm_100a"]);
});

Deno.test("verifyPtx() finds what a module declares twice or not at all", () => {
  const module = parsePtx(moduleText(["add.s32 %r1, %r2, 3;"]));
  const kernel = must(module.kernels[0], "kernel");
  const changed = (change: Partial<typeof kernel>): PtxModule => ({
    ...module,
    kernels: [{ ...kernel, ...change }],
  });
  const [variable] = kernel.variables;
  assertEquals(verifyPtx(module), []);
  assertEquals(verifyPtx(changed({ registers: [] })), [
    "k: add.s32 %r1, %r2, 3; register %r1 is not declared; register %r2 is not declared",
  ]);
  assertEquals(
    verifyPtx(changed({
      registers: kernel.registers.map((r) => r.name === "r2" ? { ...r, type: "b64" } : r),
    })),
    [
      "k: add.s32 %r1, %r2, 3; register %r2 is declared as .b64, not .b32",
    ],
  );
  assertEquals(
    verifyPtx(changed({ registers: [...kernel.registers, ...kernel.registers.slice(0, 1)] })),
    [
      "k: register %p0 is declared twice",
    ],
  );
  assertEquals(verifyPtx(changed({ body: [...kernel.body, { kind: "label", name: "LABEL" }] })), [
    "k: label LABEL is declared twice",
  ]);
  assertEquals(
    verifyPtx(changed({ variables: [must(variable, "tile"), must(variable, "tile")] })),
    ["k: symbol tile is declared twice"],
  );
  assertEquals(verifyPtx(changed({ body: [{ kind: "loc", file: 2, line: 1, column: 1 }] })), [
    "k: .loc names file 2 of 0",
  ]);
  assertEquals(verifyPtx(changed({ body: [{ kind: "targets", name: "list", labels: ["L"] }] })), [
    "k: label L is not declared",
  ]);
  assertEquals(verifyPtx({ ...module, target: "gfx90a" })[0], "unknown target gfx90a");
});

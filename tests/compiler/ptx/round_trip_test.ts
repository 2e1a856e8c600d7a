/** Print and parse undo each other; no text at all makes the parser fail in another way than with PtxSyntaxError. */
import fc from "../../support/property.ts";
import type { PtxCode, PtxModule } from "../../../compiler/ptx/func.ts";
import { matchInstruction } from "../../../compiler/ptx/match.ts";
import { parsePtx, PtxSyntaxError } from "../../../compiler/ptx/parse.ts";
import { printInstruction, printModule } from "../../../compiler/ptx/print.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { readRecorded } from "../../support/recorded.ts";
import { anyModule, sortedRegisters } from "../../support/emulator/ptx_modules.ts";
import { anySample, sampleModule } from "../../support/emulator/ptx_samples.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

const sortedCode = <T extends PtxCode>(code: T): T => ({
  ...code,
  registers: sortedRegisters(code.registers),
});

/** Registers in one order: declarations are grouped by prefix. */
const sorted = (module: PtxModule): PtxModule => ({
  ...module,
  functions: module.functions.map((fn) =>
    fn.code === undefined ? fn : { ...fn, code: sortedCode(fn.code) }
  ),
  kernels: module.kernels.map(sortedCode),
});

Deno.test("parsePtx() gives back the module that printModule() was given", () => {
  fc.assert(
    fc.property(anyModule, (module) => {
      const text = printModule(module);
      const again = parsePtx(text);
      assertEquals(sorted(again), sorted(module));
      assertEquals(printModule(again), text);
    }),
    { numRuns: 300 },
  );
});

Deno.test("matchInstruction() takes every combination of modifiers and operands of a form", () => {
  fc.assert(
    fc.property(anySample, (instruction) => {
      const match = matchInstruction(instruction);
      assert(typeof match !== "string", `${printInstruction(instruction)} ${match}`);
    }),
    { numRuns: 3000 },
  );
});

/** Targets on which anything may be found that is not gone. */
const TARGETS = ["sm_62", "sm_90a", "sm_120a"];

Deno.test("verifyPtx() takes any instruction of the table for one of the targets", () => {
  fc.assert(
    fc.property(anySample, (instruction) => {
      const problems = TARGETS.map((target) => verifyPtx(sampleModule([instruction], 90, target)));
      const isTaken = instruction.opcode === "call" || problems.some((list) => list.length === 0);
      assert(isTaken, problems.flat().join("\n"));
    }),
    { numRuns: 1000 },
  );
});

const texts = ["reduce", "control", "functions", "printf", "tables"].map((name) =>
  readRecorded(new URL(`nvcc/${name}.ptx`, import.meta.url))
);

/** Pieces of PTX, so that changes are not noticed by the lexer alone. */
const PIECES = [
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  "<",
  ">",
  ";",
  ",",
  ":",
  "@",
  "!",
  "|",
  "+",
  "-",
  "=",
  "?",
  "%",
  ".reg .b32 x;",
  ".param .b64 p;",
  ".func",
  ".entry",
  ".pragma",
  ".section",
  ".branchtargets",
  ".callprototype",
  "call",
  "generic(",
  "0xFF(",
  "0f3F800000",
  "1e999",
  "99999999999999999999",
  "<99999999999>",
  "[2147483647][2147483647]",
  '"',
  "/*",
  "//",
  "\u0000",
  "\u{1F600}",
];

function readsOrRefuses(text: string): void {
  try {
    const module = parsePtx(text);
    // What is read can be printed, and that read again.
    assertEquals(printModule(parsePtx(printModule(module))), printModule(module));
  } catch (error) {
    assert(error instanceof PtxSyntaxError, error instanceof Error ? error.stack : `${error}`);
  }
}

Deno.test("parsePtx() ends with a module or PtxSyntaxError on changed texts", () => {
  const change = fc.record({
    at: fc.nat(),
    length: fc.oneof(fc.constant(0), fc.nat(30)),
    piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })),
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      (text, changes) => {
        const changed = changes.reduce((whole, { at, length, piece }) => {
          const start = at % (whole.length + 1);
          return whole.slice(0, start) + piece + whole.slice(start + length);
        }, text);
        readsOrRefuses(changed);
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("parsePtx() ends with a module or PtxSyntaxError where tokens are in any order", () => {
  const tokens = [...new Set(texts.join("\n").match(/[.%$\w]+|[^\s\w]/g) ?? [])].slice(0, 400);
  const head = ".version 8.0\n.target sm_80\n.entry k() {\n.reg .b32 %r<9>; ";
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...tokens, ...PIECES), { maxLength: 30 }), (list) => {
      readsOrRefuses(head + list.join(" "));
    }),
    { numRuns: 1000 },
  );
});

test("parsePtx() is linear: nested scopes, names declared again and again, long lists", () => {
  const kernel = (body: string): string =>
    `.version 8.0\n.target sm_80\n.entry k() { .reg .b32 %r<9>; ${body} }`;
  const many = 20000;
  const texts = [
    "{ .param .b32 p; .reg .b32 t; L: st.param.b32 [p], t; bra L; }\n".repeat(many),
    `${"{ ".repeat(200)}${"L: bra L; ".replaceAll("L", "L0").repeat(1)}${"} ".repeat(200)}`.repeat(
      50,
    ),
    Array.from({ length: many }, (_, i) => `L${i}: add.s32 %r1, %r1, ${i};`).join("\n"),
    `.global .b32 x[${many}] = {${Array(many).fill("1").join(",")}};`,
  ];
  const sizes = texts.map((text) => parsePtx(kernel(text)).kernels[0]?.body.length ?? 0);
  assertEquals(sizes, [3 * many, 100, 2 * many, 0]);
});

import type { Register, RegisterType } from "../../../compiler/ptx/func.ts";
import { printInstruction, printKernel, printVariable } from "../../../compiler/ptx/print.ts";
import { assertEquals } from "../../support/assert.ts";

const register = (name: string, type: RegisterType = "b32"): Register => ({
  kind: "register",
  type,
  name,
});

function declarations(registers: readonly Register[]): string[] {
  const kernel = { name: "k", params: [], directives: [], registers, variables: [], body: [] };
  return printKernel(kernel).split("\n").filter((line) => line.includes(".reg"));
}

Deno.test("printKernel() declares dense registers as a range and others singly", () => {
  const names = (...all: readonly string[]): Register[] => all.map((name) => register(name));
  assertEquals(declarations(names("r0", "r1", "r2")), ["  .reg .b32 %r<3>;"]);
  assertEquals(declarations(names("r1", "r2")), ["  .reg .b32 %r1;", "  .reg .b32 %r2;"]);
  assertEquals(declarations(names("r01", "x")), ["  .reg .b32 %r01;", "  .reg .b32 %x;"]);
  assertEquals(declarations([register("p0", "pred"), register("r0"), register("p1", "pred")]), [
    "  .reg .pred %p<2>;",
    "  .reg .b32 %r<1>;",
  ]);
});

Deno.test("printInstruction() writes negative offsets as ptxas reads them", () => {
  const [base, value] = [register("rd1", "b64"), register("r1")];
  const load = (offset: bigint): string =>
    printInstruction({
      kind: "instruction",
      opcode: "ld",
      modifiers: ["global", "b32"],
      operands: [value, { kind: "address", base, offset }],
      guard: { register: register("p1", "pred"), negated: true },
    });
  assertEquals(load(-16n), "@!%p1 ld.global.b32 %r1, [%rd1+-16];");
  assertEquals(load(16n), "@!%p1 ld.global.b32 %r1, [%rd1+16];");
  assertEquals(load(0n), "@!%p1 ld.global.b32 %r1, [%rd1];");
});

Deno.test("printVariable() writes floats by their bits and single values without braces", () => {
  assertEquals(
    printVariable({ space: "const", name: "one", type: "f32", initial: [0x3f800000n] }),
    ".const .f32 one = 0f3F800000;",
  );
  assertEquals(
    printVariable({
      space: "global",
      name: "at",
      type: "u64",
      count: 1,
      align: 8,
      initial: [{ symbol: "x", offset: -4n, generic: true }],
    }),
    ".global .align 8 .u64 at[1] = {generic(x+-4)};",
  );
});

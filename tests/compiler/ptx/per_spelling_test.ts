/** A fact is found once per spelling, and never mixed up where opcodes share their modifiers. */
import { assertEquals } from "../../support/assert.ts";
import type { Instruction } from "../../../compiler/ptx/func.ts";
import { perSpelling } from "../../../compiler/ptx/per_spelling.ts";

const instruction = (opcode: string, modifiers: readonly string[]): Instruction => ({
  kind: "instruction",
  opcode,
  modifiers,
  operands: [],
});

Deno.test("perSpelling() computes once for instructions that share opcode and modifiers", () => {
  let asked = 0;
  const fact = perSpelling((opcode, modifiers) => `${++asked} ${opcode} ${modifiers.join()}`);
  const modifiers = ["rn", "f32"];
  assertEquals(fact(instruction("add", modifiers)), "1 add rn,f32");
  assertEquals(fact(instruction("add", modifiers)), "1 add rn,f32");
  assertEquals(fact(instruction("mul", modifiers)), "2 mul rn,f32");
  assertEquals(fact(instruction("add", modifiers)), "3 add rn,f32");
  assertEquals(fact(instruction("add", ["f64"])), "4 add f64");
});

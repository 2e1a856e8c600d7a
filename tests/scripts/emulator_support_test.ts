import { classifyRows } from "../../scripts/emulator_support.ts";
import type { Instruction } from "../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../compiler/ptx/match.ts";
import { PTX_OPS } from "../../compiler/ptx/ops.ts";
import { contextFor, type SymbolLocation } from "../../emulator/compile/context.ts";
import { RegisterFileLayout } from "../../emulator/compile/layout.ts";
import { selectStep } from "../../emulator/compile/select.ts";
import { Fault } from "../../emulator/fault.ts";
import { newHost } from "../../emulator/host.ts";
import { newMemory } from "../../emulator/memory.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";

const rows = classifyRows();

/** What a lane that reaches the instruction is stopped with. */
function faultOf(instruction: Instruction, match: Match | string): Fault {
  const { machine } = newHost(newMemory(1 << 16));
  const site = { kernel: "k", text: instruction.opcode };
  const symbols = new Map<string, SymbolLocation>([["ARGUMENT", { space: "local", location: 0 }]]);
  const context = contextFor(
    machine,
    new RegisterFileLayout([], new Map(), () => 0n),
    symbols,
    site,
    90,
  );
  const line = { instruction, site, match, labels: [], sync: undefined };
  const step = selectStep(line, context);
  assertEquals(step.kind, "function");
  return assertThrows(() => step.kind === "function" && step.run(0, 1), Fault);
}

Deno.test("classifyRows() has samples of every form of every instruction", () => {
  assertEquals(rows.map(({ opcode }) => opcode), Object.keys(PTX_OPS));
  for (const { opcode, row, forms } of rows) {
    assertEquals(forms.length, row.forms.length);
    for (const { form, samples } of forms) assert(samples.length > 0, `${opcode}${form.form}`);
  }
});

Deno.test("selectStep() stops at every form without an implementation, and names the section of the ISA", () => {
  const unsupported = rows.flatMap(({ forms }) => forms).flatMap(({ samples }) =>
    samples.filter(({ way }) => way === "none")
  );
  assert(unsupported.length > 0);
  for (const { sample: { instruction } } of unsupported) {
    const match = matchInstruction(instruction);
    assert(typeof match !== "string");
    const fault = faultOf(instruction, match);
    assertEquals(fault.kind, "unsupported instruction");
    assertStringIncludes(fault.detail, match.row.isa);
    assertEquals(fault.site?.text, instruction.opcode);
  }
});

Deno.test("selectStep() stops at instructions and modifiers that are known by name only", () => {
  for (const { opcode, row } of rows) {
    const names = row.forms.length === 0 ? [undefined] : row.unsupported ?? [];
    for (const name of names) {
      const modifiers = name === undefined ? [] : [name];
      const instruction: Instruction = { kind: "instruction", opcode, modifiers, operands: [] };
      const match = matchInstruction(instruction);
      const fault = faultOf(instruction, match);
      assertEquals(fault.kind, "unsupported instruction", `${opcode} .${name}`);
      assertStringIncludes(fault.detail, row.isa);
    }
  }
});

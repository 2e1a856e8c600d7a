/** Numbers registers densely, in the order in which they appear: `r0, r1, …` per prefix. `renamed` has the names before. */
import type { Instruction, Item, Operand, Register } from "./func.ts";
import { mapRegisters } from "./operand.ts";

export function renumber(
  body: readonly Item[],
): { body: Item[]; registers: Register[]; renamed: ReadonlyMap<string, Register> } {
  const renamed = new Map<string, Register>();
  const counts = new Map<string, number>();
  const rename = (register: Register): Register => {
    let found = renamed.get(register.name);
    if (found === undefined) {
      const prefix = register.name.replace(/\d+$/, "");
      const index = counts.get(prefix) ?? 0;
      counts.set(prefix, index + 1);
      found = { ...register, name: `${prefix}${index}` };
      renamed.set(register.name, found);
    }
    return found;
  };
  const operandOf = (operand: Operand): Operand => mapRegisters(operand, rename);
  const instructionOf = (instruction: Instruction): Instruction => {
    const operands = instruction.operands.map(operandOf);
    return instruction.guard === undefined ? { ...instruction, operands } : {
      ...instruction,
      operands,
      guard: { ...instruction.guard, register: rename(instruction.guard.register) },
    };
  };
  return {
    body: body.map((item) => item.kind === "instruction" ? instructionOf(item) : item),
    registers: [...renamed.values()],
    renamed,
  };
}

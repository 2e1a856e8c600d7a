/** Numbers registers densely, in the order in which they appear: `r0, r1, …` per prefix. `renamed` has the names before. */
import type { Instruction, Item, Operand, Register } from "./func.ts";
import { startOfNumber } from "./register_names.ts";
import { mapRegisters } from "./operand.ts";

export function renumber(
  body: readonly Item[],
): { body: Item[]; registers: Register[]; renamed: ReadonlyMap<string, Register> } {
  const renamed = new Map<string, Register>();
  const counts = new Map<string, number>();
  const rename = (register: Register): Register => {
    let found = renamed.get(register.name);
    if (found === undefined) {
      const { kind, type, name } = register;
      const prefix = name.slice(0, startOfNumber(name));
      const index = counts.get(prefix) ?? 0;
      counts.set(prefix, index + 1);
      found = { kind, type, name: `${prefix}${index}` };
      renamed.set(name, found);
    }
    return found;
  };
  const operandOf = (operand: Operand): Operand => mapRegisters(operand, rename);
  const instructionOf = (
    { kind, opcode, modifiers, operands: named, guard }: Instruction,
  ): Instruction => {
    const operands = named.map(operandOf);
    return guard === undefined ? { kind, opcode, modifiers, operands } : {
      ...{ kind, opcode, modifiers, operands },
      guard: { register: rename(guard.register), negated: guard.negated },
    };
  };
  return {
    body: body.map((item) => item.kind === "instruction" ? instructionOf(item) : item),
    registers: [...renamed.values()],
    renamed,
  };
}

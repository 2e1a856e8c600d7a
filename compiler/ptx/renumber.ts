/** Numbers registers densely, in the order in which they appear: `r0, r1, …` per prefix. `renamed` has the new ones. */
import type { Instruction, Item, Operand, Register } from "./func.ts";
import { startOfNumber } from "./register_names.ts";
import { mapRegisters } from "./operand.ts";
import { RegisterTable } from "./register_table.ts";

export function renumber(body: readonly Item[]): {
  body: Item[];
  registers: Register[];
  renamed: (register: Register) => Register | undefined;
} {
  const renamed = new RegisterTable<Register>();
  const registers: Register[] = [];
  const counts = new Map<string, number>();
  const rename = (register: Register): Register => {
    let found = renamed.get(register);
    if (found === undefined) {
      const { kind, type, name } = register;
      const prefix = name.slice(0, startOfNumber(name));
      const index = counts.get(prefix) ?? 0;
      counts.set(prefix, index + 1);
      found = { kind, type, name: `${prefix}${index}` };
      renamed.set(register, found);
      registers.push(found);
    }
    return found;
  };
  const operandOf = (operand: Operand): Operand => mapRegisters(operand, rename);
  const instructionOf = (
    { kind, opcode, modifiers, operands: named, guard }: Instruction,
  ): Instruction => {
    const operands = named.map(operandOf);
    if (guard === undefined) return { kind, opcode, modifiers, operands };
    const { register, negated } = guard;
    return {
      kind,
      opcode,
      modifiers,
      operands,
      guard: { register: rename(register), negated },
    };
  };
  return {
    body: body.map((item) => item.kind === "instruction" ? instructionOf(item) : item),
    registers,
    renamed: (register) => renamed.get(register),
  };
}

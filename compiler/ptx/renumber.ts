/** Numbers registers densely, in the order in which they appear: `r0, r1, …` per prefix. */
import type { Instruction, Item, Operand, Register } from "./func.ts";

export function renumber(body: readonly Item[]): { body: Item[]; registers: Register[] } {
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
  const operandOf = (operand: Operand): Operand => {
    switch (operand.kind) {
      case "register":
        return rename(operand);
      case "vector":
        return { ...operand, elements: operand.elements.map(operandOf) };
      case "pair":
        return { ...operand, first: operandOf(operand.first), second: operandOf(operand.second) };
      case "negated":
        return { ...operand, operand: operandOf(operand.operand) };
      case "address":
        return operand.base === undefined ? operand : { ...operand, base: operandOf(operand.base) };
      default:
        return operand;
    }
  };
  const instructionOf = (instruction: Instruction): Instruction => {
    const operands = instruction.operands.map(operandOf);
    return instruction.guard === undefined
      ? { ...instruction, operands }
      : { ...instruction, operands, guard: { ...instruction.guard, register: rename(instruction.guard.register) } };
  };
  return {
    body: body.map((item) => item.kind === "instruction" ? instructionOf(item) : item),
    registers: [...renamed.values()],
  };
}

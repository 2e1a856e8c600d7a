/**
 * Last names of registers: `r0, r1, …` per bank, dense and in the order in which they appear. Registers are named where
 * they are, for copies of all instructions with others took as long as half of printing them.
 */
import type { Item, Register } from "../ptx/func.ts";
import { forEachRegister } from "../ptx/operand.ts";
import { bug } from "../support/bug.ts";
import { type Bank, BodyRegister, PREFIX } from "./body_register.ts";

/** Names the registers of a complete body; `registers` has those that appear. */
export function nameRegisters(body: readonly Item[]): {
  readonly registers: readonly Register[];
  readonly appears: (register: Register) => boolean;
} {
  const registers: Register[] = [];
  const counts: Record<Bank, number> = { pred: 0, b16: 0, b32: 0, b64: 0 };
  const named: boolean[] = [];
  const name = (register: Register): void => {
    if (!(register instanceof BodyRegister)) bug("a register of another body");
    const { index, type } = register;
    if (named[index] === true) return;
    named[index] = true;
    register.name = `${PREFIX[type]}${counts[type]++}`;
    registers.push(register);
  };
  for (const item of body) {
    if (item.kind !== "instruction") continue;
    for (const operand of item.operands) forEachRegister(operand, name);
    if (item.guard !== undefined) name(item.guard.register);
  }
  return {
    registers,
    appears: ({ index }) => index !== undefined && named[index] === true,
  };
}

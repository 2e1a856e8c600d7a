/** Removes instructions whose results are not used. */
import type { Instruction, Item, Register } from "./func.ts";
import { findRow } from "./match.ts";
import { forEachRegister } from "./operand.ts";
import { perSpelling } from "./per_spelling.ts";
import { RegisterTable } from "./register_table.ts";

/** Reads that other threads or devices can observe. */
const OBSERVED: ReadonlySet<string> = new Set(["volatile", "relaxed", "acquire", "mmio"]);

/** The first operand is all that the instruction changes. */
function isRemovable(opcode: string, modifiers: readonly string[]): boolean {
  const effect = findRow(opcode, modifiers)?.row.effect;
  if (effect !== "pure" && effect !== "read") return false;
  return effect === "pure" || !modifiers.some((modifier) => OBSERVED.has(modifier));
}

const removable = perSpelling(isRemovable);

/** Of a register that is live. */
const NONE: number[] = [];

/**
 * The items that matter. Right for any control flow: a register is live if any live instruction reads it, and then
 * all that write it are. What a loop computes only for its own next iteration is not live.
 */
export function dropDead(body: readonly Item[]): Item[] {
  /** Indices of the items that write a register and can be removed; most registers are written once. */
  const writes = new RegisterTable<number | number[]>();
  const kept: Instruction[] = [];
  /** By item: 1 for what stays. */
  const live = new Uint8Array(body.length);
  body.forEach((item, index) => {
    const target = item.kind === "instruction" ? item.operands[0] : undefined;
    if (item.kind !== "instruction" || target === undefined || !removable(item)) {
      live[index] = 1;
      if (item.kind === "instruction") kept.push(item);
      return;
    }
    forEachRegister(target, (register) => {
      const others = writes.get(register);
      if (others === undefined) writes.set(register, index);
      else if (typeof others === "number") writes.set(register, [others, index]);
      else others.push(index);
    });
  });
  const work: Instruction[] = [];
  const keep = (index: number): void => {
    const item = body[index];
    if (live[index] === 1 || item?.kind !== "instruction") return;
    live[index] = 1;
    work.push(item);
  };
  const need = (register: Register): void => {
    const found = writes.get(register);
    if (found === undefined || found === NONE) return;
    writes.set(register, NONE);
    if (typeof found === "number") keep(found);
    else found.forEach(keep);
  };
  const needSources = ({ operands, guard }: Instruction, first: number): void => {
    for (let i = first; i < operands.length; i++) {
      const operand = operands[i];
      if (operand !== undefined) forEachRegister(operand, need);
    }
    if (guard !== undefined) need(guard.register);
  };
  // Of what cannot be removed, any operand may be a source.
  for (const instruction of kept) needSources(instruction, 0);
  for (let item = work.pop(); item !== undefined; item = work.pop()) needSources(item, 1);
  return body.filter((_item, index) => live[index] === 1);
}

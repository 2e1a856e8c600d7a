/** Removes instructions whose results nobody needs. */
import type { Instruction, Item } from "./func.ts";
import { findRow } from "./match.ts";
import { forEachRegister } from "./operand.ts";

/** Reads that other threads or devices can tell from none. */
const OBSERVED: ReadonlySet<string> = new Set(["volatile", "relaxed", "acquire", "mmio"]);

/** The first operand is all that the instruction changes. */
function removable(instruction: Instruction): boolean {
  const effect = findRow(instruction.opcode, instruction.modifiers)?.row.effect;
  if (effect !== "pure" && effect !== "read") return false;
  return effect === "pure" || !instruction.modifiers.some((modifier) => OBSERVED.has(modifier));
}

/**
 * The items that matter. Right for any control flow: a register is live if any live instruction reads it, and then
 * all that write it are. What a loop computes only for its own next round is not live.
 */
export function dropDead(body: readonly Item[]): Item[] {
  const writers = new Map<string, Instruction[]>();
  const live = new Set<Item>();
  const work: Instruction[] = [];
  const reach = (instruction: Instruction): void => {
    if (live.has(instruction)) return;
    live.add(instruction);
    work.push(instruction);
  };
  for (const item of body) {
    if (item.kind !== "instruction") continue;
    const [target] = item.operands;
    if (target === undefined || !removable(item)) {
      reach(item);
      continue;
    }
    forEachRegister(target, ({ name }) => {
      const list = writers.get(name);
      if (list === undefined) writers.set(name, [item]);
      else list.push(item);
    });
  }
  const need = (name: string): void => {
    writers.get(name)?.forEach(reach);
    writers.delete(name);
  };
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    // Of what cannot be removed, any operand may be a source.
    const sources = removable(item) ? item.operands.slice(1) : item.operands;
    for (const operand of sources) forEachRegister(operand, ({ name }) => need(name));
    if (item.guard !== undefined) need(item.guard.register.name);
  }
  return body.filter((item) => item.kind !== "instruction" || live.has(item));
}

/** Removes instructions whose results are not used. */
import type { Instruction, Item } from "./func.ts";
import { findRow } from "./match.ts";
import { forEachRegister } from "./operand.ts";
import { perSpelling } from "./per_spelling.ts";

/** Reads that other threads or devices can observe. */
const OBSERVED: ReadonlySet<string> = new Set(["volatile", "relaxed", "acquire", "mmio"]);

/** The first operand is all that the instruction changes. */
function isRemovable(opcode: string, modifiers: readonly string[]): boolean {
  const effect = findRow(opcode, modifiers)?.row.effect;
  if (effect !== "pure" && effect !== "read") return false;
  return effect === "pure" || !modifiers.some((modifier) => OBSERVED.has(modifier));
}

/**
 * The items that matter. Right for any control flow: a register is live if any live instruction reads it, and then
 * all that write it are. What a loop computes only for its own next iteration is not live.
 */
export function dropDead(body: readonly Item[]): Item[] {
  const removable = perSpelling(isRemovable);
  /** Instructions that can be removed, by the registers that they write; each register only until it is live. */
  const writers = new Map<string, Instruction[]>();
  const kept: Instruction[] = [];
  for (const item of body) {
    if (item.kind !== "instruction") continue;
    const [target] = item.operands;
    if (target === undefined || !removable(item)) {
      kept.push(item);
      continue;
    }
    forEachRegister(target, ({ name }) => {
      const list = writers.get(name);
      if (list === undefined) writers.set(name, [item]);
      else list.push(item);
    });
  }
  const live = new Set<Item>(kept);
  const work: Instruction[] = [];
  const need = ({ name }: { readonly name: string }): void => {
    const found = writers.get(name);
    if (found === undefined) return;
    writers.delete(name);
    for (const instruction of found) {
      if (live.has(instruction)) continue;
      live.add(instruction);
      work.push(instruction);
    }
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
  return body.filter((item) => item.kind !== "instruction" || live.has(item));
}

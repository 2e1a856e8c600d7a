/** Removes instructions whose results nobody reads. */
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

/** The items that matter. Right for any control flow: a register is live if any instruction reads it. */
export function dropDead(body: readonly Item[]): Item[] {
  const reads = new Map<string, number>();
  const count = (name: string, by: number): void => {
    reads.set(name, (reads.get(name) ?? 0) + by);
  };
  const candidates = new Set(body.filter((item) => item.kind === "instruction" && removable(item)));
  const sources = (instruction: Instruction, visit: (name: string) => void): void => {
    const operands = candidates.has(instruction)
      ? instruction.operands.slice(1)
      : instruction.operands;
    operands.forEach((operand) => forEachRegister(operand, (r) => visit(r.name)));
    if (instruction.guard !== undefined) visit(instruction.guard.register.name);
  };
  for (const item of body) if (item.kind === "instruction") sources(item, (name) => count(name, 1));

  // Readers come after what they read, but for loops: sweep backwards until nothing changes.
  const dead = new Set<Item>();
  for (let changed = true; changed;) {
    changed = false;
    for (let i = body.length - 1; i >= 0; i--) {
      const item = body[i];
      if (item?.kind !== "instruction" || dead.has(item) || !candidates.has(item)) continue;
      const target = item.operands[0];
      let live = target === undefined;
      if (target !== undefined) {
        forEachRegister(target, (r) => live ||= (reads.get(r.name) ?? 0) > 0);
      }
      if (live) continue;
      dead.add(item);
      sources(item, (name) => count(name, -1));
      changed = true;
    }
  }
  return body.filter((item) => !dead.has(item));
}

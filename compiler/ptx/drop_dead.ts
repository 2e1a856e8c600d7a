/** Removes instructions whose results nobody reads. */
import type { Instruction, Item, Operand, Register } from "./func.ts";

/** Opcodes with an effect beyond their destination, or with no destination. */
const EFFECTS: ReadonlySet<string> = new Set([
  "st",
  "bar",
  "barrier",
  "ret",
  "exit",
  "bra",
  "atom",
  "red",
  "membar",
  "fence",
  "trap",
  "cp",
  "prefetch",
  "mbarrier",
  "shfl",
  "vote",
  "match",
  "redux",
  "elect",
  "setmaxnreg",
  "call",
  "brkpt",
  "nanosleep",
  "wgmma",
  "stmatrix",
  "griddepcontrol",
  "discard",
  "applypriority",
]);

function forEachRegister(operand: Operand, visit: (register: Register) => void): void {
  switch (operand.kind) {
    case "register":
      visit(operand);
      return;
    case "vector":
      operand.elements.forEach((element) => forEachRegister(element, visit));
      return;
    case "pair":
      forEachRegister(operand.first, visit);
      forEachRegister(operand.second, visit);
      return;
    case "negated":
      forEachRegister(operand.operand, visit);
      return;
    case "address":
      if (operand.base !== undefined) forEachRegister(operand.base, visit);
      return;
    default:
      return;
  }
}

function removable(instruction: Instruction): boolean {
  return !EFFECTS.has(instruction.opcode) && !instruction.modifiers.includes("volatile");
}

/** The items that matter. Right for any control flow: a register is live if any instruction reads it. */
export function dropDead(body: readonly Item[]): Item[] {
  const reads = new Map<string, number>();
  const count = (name: string, by: number): void => {
    reads.set(name, (reads.get(name) ?? 0) + by);
  };
  const sources = (instruction: Instruction, visit: (name: string) => void): void => {
    const operands = removable(instruction) ? instruction.operands.slice(1) : instruction.operands;
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
      if (item === undefined || item.kind !== "instruction" || dead.has(item) || !removable(item)) {
        continue;
      }
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

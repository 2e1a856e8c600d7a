/** Facts about spellings, found once for all instructions that are spelled alike, in all entries that are compiled. */
import type { Instruction } from "./func.ts";

/**
 * `find`, asked once for each opcode with its modifiers as long as those are one array, as they are in what an
 * emitter or a parser makes of one spelling.
 */
export function perSpelling<T>(
  find: (opcode: string, modifiers: readonly string[]) => T,
): (instruction: Instruction) => T {
  const found = new WeakMap<readonly string[], { readonly opcode: string; readonly fact: T }>();
  return ({ opcode, modifiers }) => {
    const known = found.get(modifiers);
    if (known?.opcode === opcode) return known.fact;
    const fact = find(opcode, modifiers);
    found.set(modifiers, { opcode, fact });
    return fact;
  };
}

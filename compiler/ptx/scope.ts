/**
 * Names inside a kernel. Scopes nest in PTX text and not in ours: what an inner scope declares a second time gets a
 * name of its own.
 */
import type { Operand, Register, RegisterType } from "./func.ts";
import { isReserved } from "./special.ts";

/** The names that one kernel has used up. */
export interface UsedNames {
  readonly registers: Set<string>;
  readonly symbols: Set<string>;
  /** Variables of the module, which the kernel's outermost scope may hide. */
  readonly globals: ReadonlySet<string>;
}

/** The name itself, or with a number if it is taken. */
function freshName(wanted: string, taken: (name: string) => boolean): string {
  let name = wanted;
  for (let i = 1; taken(name); i++) name = `${wanted}_${i}`;
  return name;
}

export class Scope {
  readonly #names = new Map<string, Operand>();

  constructor(readonly used: UsedNames, readonly parent?: Scope) {}

  /** What a word in the text stands for. */
  find(word: string): Operand | undefined {
    return this.#names.get(word) ?? this.parent?.find(word);
  }

  /** Declares a register by its word in the text; undefined if this scope has it already. */
  register(word: string, type: RegisterType): Register | undefined {
    if (this.#names.has(word)) return undefined;
    const bare = word.replace(/^%/, "");
    const name = freshName(bare, (n) => this.used.registers.has(n) || isReserved(n));
    this.used.registers.add(name);
    const register: Register = { kind: "register", type, name };
    this.#names.set(word, register);
    return register;
  }

  /** Declares a label or variable; undefined if this scope has it already. */
  symbol(word: string): string | undefined {
    if (this.#names.has(word)) return undefined;
    const hides = (n: string): boolean =>
      this.used.globals.has(n) && (n !== word || this.parent !== undefined);
    const name = freshName(word, (n) => this.used.symbols.has(n) || hides(n));
    this.used.symbols.add(name);
    this.#names.set(word, { kind: "symbol", name });
    return name;
  }
}

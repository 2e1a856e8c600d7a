/**
 * Names inside a kernel or function. Scopes nest in PTX text and not in ours: what an inner scope declares a second
 * time gets a name of its own.
 */
import type { Operand, Register, RegisterType } from "./func.ts";
import { Names } from "./names.ts";
import { isReserved } from "./special.ts";

/** Names of the module with the bytes of an element, 0 for functions. */
export type GlobalNames = ReadonlyMap<string, number>;

/** The names that one kernel has used up. */
export interface UsedNames {
  readonly registers: Names;
  readonly symbols: Names;
  /** Bytes of the elements of variables. */
  readonly elementBytes: Map<string, number>;
  /** What the module declares, which the kernel's outermost scope may hide. */
  readonly globals: GlobalNames;
}

/** No names yet. */
export function usedNames(globals: GlobalNames): UsedNames {
  return { registers: new Names(), symbols: new Names(), elementBytes: new Map(), globals };
}

/** Names of the elements of a vector register: by position and by colour. */
const ELEMENTS: readonly (readonly [string, string])[] = [
  ["x", "r"],
  ["y", "g"],
  ["z", "b"],
  ["w", "a"],
];

export class Scope {
  readonly #names = new Map<string, Operand>();
  /** How many scopes this one is in. */
  readonly depth: number;

  constructor(readonly used: UsedNames, readonly parent?: Scope) {
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  /** The register or variable that a word in the text names. */
  find(word: string): Operand | undefined {
    return this.#names.get(word) ?? this.parent?.find(word);
  }

  /** Bytes of the elements of a variable. */
  elementBytes(name: string): number | undefined {
    const bytes = this.used.elementBytes.get(name) ?? this.used.globals.get(name) ?? 0;
    return bytes > 0 ? bytes : undefined;
  }

  #newRegister(bare: string, type: RegisterType): Register {
    return { kind: "register", type, name: this.used.registers.fresh(bare, isReserved) };
  }

  /** Declares a register by its word in the text; undefined if this scope has it already. */
  register(word: string, type: RegisterType): Register | undefined {
    if (this.#names.has(word)) return undefined;
    const register = this.#newRegister(word.replace(/^%/, ""), type);
    this.#names.set(word, register);
    return register;
  }

  /** Declares a vector register as a register per element; undefined if this scope has it already. */
  vectorRegister(word: string, type: RegisterType, count: number): Register[] | undefined {
    if (this.#names.has(word)) return undefined;
    const bare = word.replace(/^%/, "");
    const elements = ELEMENTS.slice(0, count).map(([coordinate, color]) => {
      const register = this.#newRegister(`${bare}_${coordinate}`, type);
      this.#names.set(`${word}.${coordinate}`, register);
      this.#names.set(`${word}.${color}`, register);
      return register;
    });
    this.#names.set(word, { kind: "vector", elements });
    return elements;
  }

  /** Declares a label or variable; undefined if this scope has it already. */
  symbol(word: string, elementBytes = 0): string | undefined {
    if (this.#names.has(word)) return undefined;
    const hides = (n: string): boolean =>
      this.used.globals.has(n) && (n !== word || this.parent !== undefined);
    const name = this.used.symbols.fresh(word, hides);
    this.used.elementBytes.set(name, elementBytes);
    this.#names.set(word, { kind: "symbol", name });
    return name;
  }
}

/**
 * Which names are types where. C's grammar needs that much: `(a) * b` is a cast of `*b` or a product. Other
 * declared names are kept only because they hide typedef names.
 */

/** What a name means; `unknown-type`: used as a type, not declared, and already reported. */
export type NameKind = "typedef" | "unknown-type" | "other";

/** Typedef names that need no declaration; hidable like names of a scope around the file (language.md 2.1). */
export const PREDECLARED_TYPES = [
  ...["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
  ...["int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"],
  ...["size_t", "ptrdiff_t", "float16", "float32", "float64"],
] as const;

/** Around every file; expressions of pragmas are many and short, so it is made once. */
const PREDECLARED: ReadonlyMap<string, NameKind> = new Map(
  PREDECLARED_TYPES.map((name) => [name, "typedef"]),
);

/** Block-structured table of names. */
export class TypedefScopes {
  /** Names of a file that were used as types and reported: in place of what is predeclared. */
  readonly #unknown = new Map<string, NameKind>();
  readonly #scopes: Map<string, NameKind>[] = [new Map()];

  open(): void {
    this.#scopes.push(new Map());
  }

  close(): void {
    this.#scopes.pop();
  }

  /** Declares a name in the innermost scope. */
  declare(name: string, kind: NameKind): void {
    this.#scopes.at(-1)?.set(name, kind);
  }

  /** Remembers, for the whole file, a name that was used as a type and reported. */
  declareUnknown(name: string): void {
    this.#unknown.set(name, "unknown-type");
  }

  /** What the name means here; undefined if it is not declared. */
  kindOf(name: string): NameKind | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const kind = this.#scopes[i]?.get(name);
      if (kind !== undefined) return kind;
    }
    return this.#unknown.get(name) ?? PREDECLARED.get(name);
  }

  isType(name: string): boolean {
    const kind = this.kindOf(name);
    return kind === "typedef" || kind === "unknown-type";
  }

  /** Every typedef name visible here. */
  typeNames(): string[] {
    const declared = this.#scopes.flatMap((scope) => [...scope.keys()]);
    const names = new Set([...PREDECLARED.keys(), ...declared]);
    return [...names].filter((name) => this.kindOf(name) === "typedef");
  }
}

/** Names in scope: what a name means at its use (language.md, section 6). */
import type { Span } from "../support/source.ts";
import type { Type } from "./tree/types.ts";
import type * as ast from "../parse/ast.ts";
import type { TypedHelper, TypedStmt, ValueType, Variable } from "./tree/typed.ts";
import type { Head } from "./functions/head.ts";
import type { Value } from "./tree/nodes.ts";

/** What a declared name means. */
export type Entry =
  | {
    readonly kind: "variable";
    readonly variable: Variable;
    readonly const: boolean;
    /** Its own initialiser is being checked: reading it is E4005. */
    initialising: boolean;
    /** The value of a `const` scalar with a constant initialiser. */
    value?: Value;
    readonly span: Span;
  }
  | { readonly kind: "typedef"; readonly type: Type; readonly span: Span }
  | { readonly kind: "constant"; readonly value: Value; readonly span: Span }
  /** A file-scope `__constant__` buffer. */
  | { readonly kind: "buffer"; readonly value: Value; readonly span: Span }
  | { readonly kind: "kernel"; readonly span: Span; defined: boolean }
  | HelperEntry
  /** Declared, but wrongly: using it reports nothing more. */
  | { readonly kind: "poison"; readonly span: Span };

export interface HelperEntry {
  readonly kind: "helper";
  readonly helper: TypedHelper;
  readonly paramTypes: readonly ValueType[];
  /** Which parameters are compile-time constants. With any, calls name instances instead of {@linkcode helper}. */
  readonly constants: readonly boolean[];
  /** The lists of {@linkcode helper}, filled when the definition is checked; without body if there are instances. */
  readonly params: Variable[];
  readonly body: TypedStmt[];
  readonly span: Span;
  defined: boolean;
  /** What instances are checked from. */
  source?: HelperSource;
}

/** A definition that is checked once for each set of constants. */
export interface HelperSource {
  readonly head: Head;
  readonly body: ast.Block;
  /** So many names of the file are visible in it. */
  readonly seen: number;
}

/** A helper with the values of its constant parameters. */
export interface HelperInstance {
  readonly entry: HelperEntry;
  readonly helper: TypedHelper;
  /** The values by position; undefined for other parameters. */
  readonly values: readonly (Value | undefined)[];
  /** The lists of {@linkcode helper}, filled when the file's text is checked. */
  readonly params: Variable[];
  readonly body: TypedStmt[];
  /** The first call, and the instance whose body has it. */
  readonly call: Span;
  readonly caller: HelperInstance | undefined;
}

/** One region of text in which a name is declared at most once. */
export class Scope {
  readonly #names = new Map<string, { readonly entry: Entry; readonly order: number }>();

  /** @param seen so many declarations of the parent are visible here: those before this scope */
  constructor(readonly parent?: Scope, readonly seen = Infinity) {}

  /** The number of declarations so far. */
  get size(): number {
    return this.#names.size;
  }

  /** The entry of this very scope. */
  own(name: string): Entry | undefined {
    return this.#names.get(name)?.entry;
  }

  /** The innermost entry of a name. */
  lookup(name: string, seen = Infinity): Entry | undefined {
    const own = this.#names.get(name);
    return own !== undefined && own.order < seen ? own.entry : this.outer(name);
  }

  /** What the name means around this scope. */
  outer(name: string): Entry | undefined {
    return this.parent?.lookup(name, this.seen);
  }

  declare(name: string, entry: Entry): void {
    const order = this.#names.get(name)?.order ?? this.#names.size;
    this.#names.set(name, { entry, order });
  }

  /** All names visible here, innermost first. */
  *names(seen = Infinity): IterableIterator<string> {
    for (const [name, { order }] of this.#names) if (order < seen) yield name;
    if (this.parent !== undefined) yield* this.parent.names(this.seen);
  }
}

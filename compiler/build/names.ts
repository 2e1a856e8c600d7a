/**
 * Which value each variable of the source holds where a statement begins, for those who look at a kernel while it runs.
 * A statement is there once for each time that it is built: copies of loops' and helpers' bodies differ. Operations
 * know theirs by the object that is their span, which passes hand on and do not compare.
 */
import type { Variable } from "../check/tree/typed.ts";
import type { Value } from "../ir/func.ts";
import type { Span } from "../support/source.ts";

/** A variable where a statement begins. */
export interface NamedVariable {
  readonly variable: Variable;
  /** The id of its value in the function as it is built. */
  readonly value: number;
}

/** A statement, and the variables in scope before it; of equal names the innermost one. */
export interface NamedStatement {
  readonly span: Span;
  readonly variables: readonly NamedVariable[];
}

/** The current value of each variable, by its id. */
interface Values {
  get(id: number): Value | undefined;
}

/** The number of variables in scope outside of a list of statements. */
type Scope = number;

export class NameRecorder {
  /** By the span of an operation. */
  readonly statements = new Map<Span, NamedStatement>();
  #visible: Variable[] = [];
  #statement: NamedStatement | undefined;
  /** The spans of the statement's operations, by those of the text. */
  #spans = new Map<Span, Span>();

  /** A statement begins, or another part of it; `changed` has variables that hold other values by then, by their ids. */
  begin(span: Span, values: Values, changed?: ReadonlyMap<number, Value>): void {
    const byName = new Map<string, NamedVariable>();
    for (const variable of this.#visible) {
      const value = (changed?.get(variable.id) ?? values.get(variable.id))?.id;
      if (value !== undefined) byName.set(variable.name, { variable, value });
    }
    this.#statement = { span, variables: [...byName.values()] };
    this.#spans = new Map();
  }

  /** The span of an operation that the statement consists of. */
  spanOf(span: Span): Span {
    const known = this.#spans.get(span);
    if (known !== undefined || this.#statement === undefined) return known ?? span;
    const own = { ...span };
    this.#spans.set(span, own);
    this.statements.set(own, this.#statement);
    return own;
  }

  /** A variable has a value from now on; those that the builder makes have negative ids. */
  declare(variable: Variable): void {
    if (variable.id >= 0 && !this.#visible.includes(variable)) this.#visible.push(variable);
  }

  open(): Scope {
    return this.#visible.length;
  }

  close(scope: Scope): void {
    this.#visible.length = scope;
  }

  /** The body of a helper begins, which sees its parameters only. */
  enter(params: readonly Variable[]): readonly Variable[] {
    const outside = this.#visible;
    this.#visible = [...params];
    return outside;
  }

  leave(outside: readonly Variable[]): void {
    this.#visible = [...outside];
  }
}

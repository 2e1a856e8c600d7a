/** The state of one run of the checker, passed to every part of it. */
import { must } from "../support/bug.ts";
import { type Diagnostic, Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import type * as ast from "../parse/ast.ts";
import type { TypedExpr, TypedHelper, ValueType, Variable } from "./tree/typed.ts";
import type { FoldProblem } from "./tree/constants.ts";
import { assigns } from "./analysis/effects.ts";
import type { Value } from "./tree/nodes.ts";
import { type Entry, type HelperEntry, type HelperInstance, Scope } from "./scope.ts";

/** The text of an unsuffixed floating literal, which takes the floating type it meets (2.2). */
export interface WeakLiteral {
  readonly text: string;
  readonly negative: boolean;
}

/** The loop around a statement. */
export interface LoopState {
  hasBreak: boolean;
  hasReturn: boolean;
}

/** The function whose body is being checked. */
export interface FunctionState {
  readonly name: string;
  readonly isKernel: boolean;
  readonly result: ValueType | undefined;
  /** The result type was wrong, so nothing is said about returned values. */
  readonly poisonResult: boolean;
  readonly helper?: TypedHelper;
  /** If the helper has constant parameters. */
  readonly instance?: HelperInstance;
  readonly loops: LoopState[];
}

/** A call of a helper, looked at again when all bodies are known. */
export interface HelperCall {
  readonly caller: TypedHelper | undefined;
  readonly callee: HelperEntry;
  /** The callee itself, or its instance. */
  readonly helper: TypedHelper;
  readonly span: Span;
}

export interface CheckOptions {
  /** Tiles may have at most this many elements; default 2^20. */
  readonly maxTileElements?: number;
  /** What an unsuffixed floating literal is; `double` is C's rule. Default `weak`. */
  readonly literals?: "weak" | "double";
  /** How `@` multiplies `float` tiles; default `ieee`. */
  readonly dot?: "ieee" | "tf32" | "tf32x3" | "bf16x3";
  readonly watch?: Watch;
}

/** Receives what the checker finds for each piece of the text; for editors. */
export interface Watch {
  /** What became of an expression; undefined: it is wrong. */
  readonly expr: (syntax: ast.Expr, typed: TypedExpr | undefined) => void;
  /** What a name means where it is used. */
  readonly use: (span: Span, entry: Entry) => void;
  readonly declare: (name: string, entry: Entry) => void;
}

export class Context {
  readonly watch: Watch | undefined;
  readonly maxTileElements: number;
  readonly doubleLiterals: boolean;
  readonly dotMode: string;
  /** Weak literals by their constant, which holds the `float` value until a type is met. */
  readonly weak: WeakMap<TypedExpr, WeakLiteral>;
  /** Literals that are `double` only by C's rule, for W2015. */
  readonly implicitDoubles: WeakMap<TypedExpr, string>;
  /** Quotients of integer constants that dropped a fraction, as text, for W5028. */
  readonly quotients: WeakMap<TypedExpr, string>;
  readonly calls: HelperCall[] = [];
  /** Instances of helpers, by the values of the constants. */
  readonly instances = new Map<HelperEntry, Map<string, HelperInstance>>();
  /** The same in the order of their first calls; the bodies are checked when all definitions are known. */
  readonly uncheckedInstances: HelperInstance[] = [];
  /** Calls inside a tile `?:`: the bodies may neither load nor have effects. */
  readonly maskedCalls: { readonly helper: TypedHelper; readonly span: Span }[] = [];
  /** Names that were reported as undeclared; once is enough. */
  readonly undeclared: Set<string>;
  /** Functions of the file, for calls before the definition. */
  readonly laterFunctions: Map<string, Span>;
  /** Bytes of `__constant__` buffers so far. */
  constantBytes = 0n;
  readonly file: Scope;
  scope: Scope;
  fn: FunctionState | undefined;
  /** Above 0 in `sizeof e` and in the dead side of a constant condition: folding problems do not count. */
  unevaluated = 0;
  #variables: number;

  /** @param around of the file, for a function that is checked after it; it sees the first `seen` of its names */
  constructor(
    public reporter: Reporter,
    options: CheckOptions,
    around?: { readonly cx: Context; readonly seen: number },
  ) {
    const file = around?.cx;
    this.weak = file?.weak ?? new WeakMap();
    this.implicitDoubles = file?.implicitDoubles ?? new WeakMap();
    this.quotients = file?.quotients ?? new WeakMap();
    this.undeclared = new Set(file?.undeclared);
    this.laterFunctions = file?.laterFunctions ?? new Map();
    this.file = file?.file ?? new Scope();
    this.scope = around === undefined ? this.file : new Scope(this.file, around.seen);
    this.#variables = file === undefined ? 0 : file.#variables;
    this.watch = options.watch;
    this.maxTileElements = options.maxTileElements ?? 2 ** 20;
    this.doubleLiterals = options.literals === "double";
    this.dotMode = options.dot ?? "ieee";
  }

  newVariable(name: string, type: ValueType, span: Span): Variable {
    return { id: this.#variables++, name, type, span };
  }

  /** Runs `body` in a scope of its own. */
  inScope<T>(body: () => T): T {
    const outer = this.scope;
    this.scope = new Scope(outer);
    const result = body();
    this.scope = outer;
    return result;
  }

  /** Runs `body` in a scope of the file, which sees the first `seen` names; what it reports is returned. */
  asideInFile(seen: number, body: () => void): readonly Diagnostic[] {
    const { scope, reporter } = this;
    const own = new Reporter();
    [this.scope, this.reporter] = [new Scope(this.file, seen), own];
    body();
    [this.scope, this.reporter] = [scope, reporter];
    return own.diagnostics;
  }

  /** Runs `body` where values are not computed when `condition` holds. */
  unevaluatedIf<T>(condition: boolean, body: () => T): T {
    if (!condition) return body();
    this.unevaluated++;
    const result = body();
    this.unevaluated--;
    return result;
  }

  /** What a name in the text means. */
  meaning(name: string, span: Span): Entry | undefined {
    const entry = this.scope.lookup(name);
    if (entry !== undefined) this.watch?.use(span, entry);
    return entry;
  }

  /** Enters a name in the current scope; a second one there is E6020. */
  declare(name: string, entry: Entry): void {
    const earlier = this.scope.own(name);
    if (earlier !== undefined) {
      this.reporter.error("E6020", entry.span, `\`${name}\` is declared twice in this scope`, {
        notes: [{ message: `\`${name}\` was declared here first`, span: earlier.span }],
      });
    } else if (this.scope !== this.file) {
      const outer = this.scope.outer(name);
      if (outer !== undefined) {
        this.reporter.warn("W6021", entry.span, `\`${name}\` shadows an outer declaration`, {
          notes: [{ message: "the outer declaration", span: outer.span }],
        });
      }
    }
    this.scope.declare(name, entry);
    this.watch?.declare(name, entry);
  }

  /** Says what folding found wrong: W5170, E5171. */
  foldReporter(span: Span): (problem: FoldProblem) => void {
    return (problem) => {
      if (this.unevaluated > 0) return;
      if (problem === "zero-division") {
        this.reporter.error("E5171", span, "division by zero in a constant expression");
      } else {
        this.reporter.warn("W5170", span, "signed overflow in a constant expression; it wraps");
      }
    };
  }

  /** A value that is computed once and used several times in `body`. */
  once(value: Value, name: string, body: (use: Value) => Value): Value {
    return must(this.tryOnce(value, name, body), "the body of a let");
  }

  /** The same for a body that may be wrong. */
  tryOnce(
    value: Value,
    name: string,
    body: (use: Value) => Value | undefined,
  ): Value | undefined {
    if (value.kind === "constant") return body(value);
    if (value.kind === "variable") {
      const result = body(value);
      if (result === undefined || !assigns(result, value.variable)) return result;
    }
    const variable = this.newVariable(name, value.type, value.span);
    const use: Value = { kind: "variable", variable, type: value.type, span: value.span };
    const result = body(use);
    return result &&
      { kind: "let", variable, value, body: result, type: result.type, span: result.span };
  }
}

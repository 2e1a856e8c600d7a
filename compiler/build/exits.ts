/**
 * `break`, `continue` and `return` as plain structured statements: the rest of a list moves into the branch that gets
 * there, and where several branches get there, or a loop is left, a flag says so. Typed tree to typed tree, so
 * that the flags are variables like all others to the builder.
 *
 *     if (c) return a;          if (c) r = a;
 *     …; return b;              else { …; r = b; }
 *
 *     for (; c; s) {            do {
 *       …                         go = c;
 *       if (d) break;             if (go) { …; if (d) go = false; else { …; s } }
 *       …                       } while (go);
 *     }
 */
import type { TypedExpr, TypedStmt, ValueType, Variable } from "../check/tree/typed.ts";
import { statementsOf } from "../check/tree/typed_walk.ts";
import { must } from "../support/bug.ts";
import type { Span } from "../support/source.ts";

type Of<K extends TypedStmt["kind"]> = Extract<TypedStmt, { kind: K }>;

const BOOL = { kind: "scalar", name: "bool" } as const;

/** Which ways out of a statement there are. */
interface Exits {
  readonly breaks: boolean;
  readonly continues: boolean;
  readonly returns: boolean;
}

const NONE: Exits = { breaks: false, continues: false, returns: false };

function exitsOf(stmt: TypedStmt): Exits {
  switch (stmt.kind) {
    case "break":
      return { ...NONE, breaks: true };
    case "continue":
      return { ...NONE, continues: true };
    case "return":
      return { ...NONE, returns: true };
    case "loop":
      return { ...NONE, returns: exitsOfAll(stmt.body).returns };
    default:
      return exitsOfAll(statementsOf(stmt));
  }
}

function exitsOfAll(stmts: readonly TypedStmt[]): Exits {
  return stmts.map(exitsOf).reduce((a, b) => ({
    breaks: a.breaks || b.breaks,
    continues: a.continues || b.continues,
    returns: a.returns || b.returns,
  }), NONE);
}

/** Statements of a list that may be left from inside, up to which each puts the rest into its branch. */
const MOST_NESTED = 32;

const leaves = ({ breaks, continues, returns }: Exits): boolean => breaks || continues || returns;

/** Whether there is a `break`, `continue` or `return` anywhere inside. */
export function hasExit(stmt: TypedStmt): boolean {
  return ["break", "continue", "return"].includes(stmt.kind) || statementsOf(stmt).some(hasExit);
}

/** Whether nothing after these statements is reached. */
function endsInExit(stmts: readonly TypedStmt[]): boolean {
  return stmts.some((stmt) =>
    stmt.kind === "return" || stmt.kind === "break" || stmt.kind === "continue" ||
    (stmt.kind === "if" && endsInExit(stmt.then) && endsInExit(stmt.else))
  );
}

/** A kernel's or helper's body without exits; the result variable holds what a helper returns. */
export interface Structured {
  readonly stmts: readonly TypedStmt[];
  readonly result: Variable | undefined;
}

/** Rewrites a body; `result` is the type that it returns. */
export function withoutExits(
  stmts: readonly TypedStmt[],
  span: Span,
  newId: () => number,
  result?: ValueType,
): Structured {
  if (!stmts.some(hasExit)) return { stmts, result: undefined };
  const structurer = new Structurer(newId);
  const value = result && structurer.variable("result", result, span);
  const flags: TypedStmt[] = [];
  const at: Surroundings = {
    guards: [],
    loop: undefined,
    returned: structurer.returned(stmts, span, flags),
    result: value,
  };
  const rest = structurer.list(stmts, at);
  const declared: TypedStmt[] = value === undefined
    ? []
    : [{ kind: "declare", variable: value, span }];
  return { stmts: [...declared, ...flags, ...rest], result: value };
}

/** What an exit has to set. */
interface Surroundings {
  /** Flags of lists inside the innermost loop whose rest is to be skipped. */
  readonly guards: readonly Variable[];
  /** The innermost loop; `go` unless it ends by its condition alone. */
  readonly loop: { readonly go: Variable | undefined } | undefined;
  /** Tested after loops that may return. */
  readonly returned: Variable | undefined;
  readonly result: Variable | undefined;
}

class Structurer {
  readonly #newId: () => number;
  readonly #exits = new Map<TypedStmt, Exits>();

  constructor(newId: () => number) {
    this.#newId = newId;
  }

  variable(name: string, type: ValueType, span: Span): Variable {
    return { id: this.#newId(), name, type, span };
  }

  #flag(name: string, span: Span, declared: TypedStmt[]): Variable {
    const variable = this.variable(name, BOOL, span);
    declared.push({ kind: "declare", variable, value: truth(false, span), span });
    return variable;
  }

  /** The flag that a loop inside has returned; undefined where none can. */
  returned(stmts: readonly TypedStmt[], span: Span, declared: TypedStmt[]): Variable | undefined {
    const has = (stmt: TypedStmt): boolean =>
      stmt.kind === "loop" ? exitsOf(stmt).returns : statementsOf(stmt).some(has);
    return stmts.some(has) ? this.#flag("returned", span, declared) : undefined;
  }

  /** A list of statements without what follows an exit. */
  list(stmts: readonly TypedStmt[], at: Surroundings): TypedStmt[] {
    const left = stmts.flatMap((stmt, index) => leaves(this.#exitsOf(stmt)) ? [index] : []);
    const middle = left[left.length >> 1];
    if (left.length > MOST_NESTED && middle !== undefined) return this.#halves(stmts, middle, at);
    const out: TypedStmt[] = [];
    for (const [index, stmt] of stmts.entries()) {
      const exits = this.#exitsOf(stmt);
      const rest = stmts.slice(index + 1);
      if (stmt.kind === "loop") {
        out.push(...this.#loop(stmt, at));
        const isLast = rest.length === 0 && at.guards.length === 0 && at.loop === undefined;
        if (exits.returns && !isLast) return [...out, ...this.#afterLoop(stmt, rest, at)];
        continue;
      }
      if (!leaves(exits)) {
        out.push(stmt.kind === "if" ? this.#inside(stmt, at) : stmt);
        continue;
      }
      return [...out, ...(stmt.kind === "if" ? this.#if(stmt, rest, at) : this.#exit(stmt, at))];
    }
    return out;
  }

  /** The second half runs unless the first has been left, so that a long list is not nested as deeply as it is long. */
  #halves(stmts: readonly TypedStmt[], middle: number, at: Surroundings): TypedStmt[] {
    const { span } = must(stmts[middle], "statement");
    const declared: TypedStmt[] = [];
    const flag = this.#flag("skip", span, declared);
    const first = this.list(stmts.slice(0, middle), { ...at, guards: [...at.guards, flag] });
    const second = this.list(stmts.slice(middle), at);
    const rest: TypedStmt = { kind: "if", condition: use(flag), then: [], else: second, span };
    return [...declared, ...first, rest];
  }

  #exitsOf(stmt: TypedStmt): Exits {
    const exits = this.#exits.get(stmt) ?? exitsOf(stmt);
    this.#exits.set(stmt, exits);
    return exits;
  }

  /** Its branches, which nothing leaves, may hold loops that something leaves. */
  #inside(stmt: Of<"if">, at: Surroundings): TypedStmt {
    if (!hasExit(stmt)) return stmt;
    return { ...stmt, then: this.list(stmt.then, at), else: this.list(stmt.else, at) };
  }

  #exit(stmt: TypedStmt, at: Surroundings): TypedStmt[] {
    const { span } = stmt;
    const set = (variable: Variable | undefined, value: boolean): TypedStmt[] =>
      variable === undefined ? [] : [assign(variable, truth(value, span), span)];
    const out: TypedStmt[] = [];
    if (stmt.kind === "return") {
      if (stmt.value !== undefined && at.result !== undefined) {
        out.push(assign(at.result, stmt.value, span));
      }
      if (at.loop !== undefined) out.push(...set(at.returned, true));
    }
    if (stmt.kind !== "continue") out.push(...set(at.loop?.go, false));
    return [...out, ...at.guards.flatMap((guard) => set(guard, true))];
  }

  /** The rest moves to where it is reached from; from several ends, under a flag. */
  #if(stmt: Of<"if">, rest: readonly TypedStmt[], at: Surroundings): TypedStmt[] {
    const { span } = stmt;
    const open = [stmt.then, stmt.else].filter((branch) => !endsInExit(branch));
    const inline = (branch: readonly TypedStmt[]): TypedStmt[] =>
      this.list(endsInExit(branch) ? branch : [...branch, ...rest], at);
    if (rest.length === 0 || open.length < 2 || isKnown(stmt.condition)) {
      return [{ ...stmt, then: inline(stmt.then), else: inline(stmt.else) }];
    }
    const declared: TypedStmt[] = [];
    const flag = this.#flag("skip", span, declared);
    const inner = { ...at, guards: [...at.guards, flag] };
    return [
      ...declared,
      { ...stmt, then: this.list(stmt.then, inner), else: this.list(stmt.else, inner) },
      { kind: "if", condition: use(flag), then: [], else: this.list(rest, at), span },
    ];
  }

  /** What follows a loop that may have returned: the same exit again, or the rest. */
  #afterLoop(loop: TypedStmt, rest: readonly TypedStmt[], at: Surroundings): TypedStmt[] {
    const { span } = loop;
    if (at.returned === undefined) return this.list(rest, at);
    const then = this.#exit({ kind: "return", span }, at);
    return [{ kind: "if", condition: use(at.returned), then, else: this.list(rest, at), span }];
  }

  #loop(stmt: Of<"loop">, at: Surroundings): TypedStmt[] {
    const { span, condition, step } = stmt;
    const exits = exitsOfAll(stmt.body);
    // Lists around the loop need no flag: what follows it tests `returned`.
    const inside = (go: Variable | undefined): Surroundings => ({
      ...at,
      guards: [],
      loop: { go },
    });
    if (!exits.breaks && !exits.returns) {
      return [{ ...stmt, body: this.list(stmt.body, inside(undefined)) }];
    }
    const go = this.variable("go", BOOL, span);
    const test = condition ?? truth(true, span);
    const declareGo = (value: TypedExpr): TypedStmt => ({
      kind: "declare",
      variable: go,
      value,
      span,
    });
    // What an iteration ends with, unless it leaves the loop.
    const endings: TypedStmt[] = !stmt.testFirst
      ? [assign(go, test, span)]
      : step === undefined
      ? []
      : [{ kind: "expression", expr: step, span: step.span }];
    // Without `continue`, what ends an iteration is the end of the list.
    const iteration = exits.continues
      ? [...this.list(stmt.body, inside(go)), ...guarded(go, endings, span)]
      : this.list([...stmt.body, ...endings], inside(go));
    const body: TypedStmt[] = stmt.testFirst
      ? [declareGo(test), ...guarded(go, iteration, span, condition === undefined)]
      : [declareGo(truth(true, span)), ...iteration];
    const { step: _step, ...loop } = stmt;
    return [...stmt.init, { ...loop, init: [], condition: use(go), body, testFirst: false }];
  }
}

/** Statements that run if the flag is set. */
function guarded(
  flag: Variable,
  stmts: readonly TypedStmt[],
  span: Span,
  always = false,
): readonly TypedStmt[] {
  if (always || stmts.length === 0) return stmts;
  return [{ kind: "if", condition: use(flag), then: stmts, else: [], span }];
}

const isKnown = (condition: TypedExpr): boolean => condition.kind === "constant";

function truth(value: boolean, span: Span): TypedExpr {
  return { kind: "constant", value: value ? 1n : 0n, type: BOOL, span };
}

function use(variable: Variable): TypedExpr {
  return { kind: "variable", variable, type: variable.type, span: variable.span };
}

function assign(variable: Variable, value: TypedExpr, span: Span): TypedStmt {
  const expr: TypedExpr = { kind: "assign", variable, value, type: variable.type, span };
  return { kind: "expression", expr, span };
}

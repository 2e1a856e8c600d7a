/**
 * Promises of `__readonly` and `__writeonly` that the kernel's own text breaks (language.md, 4.3): published
 * kernels do this, so the attribute is dropped with a warning, W4014 or W4015.
 */
import type { Reporter } from "../../support/diagnostic.ts";
import type { TypedExpr, TypedHelper, TypedKernel, TypedStmt, Variable } from "../tree/typed.ts";
import { operandsOf } from "../tree/typed_walk.ts";
import { expressionsOf, statementsOf } from "../tree/typed_walk.ts";

/** The kernel without the promises that it breaks. */
export function dropBrokenPromises(kernel: TypedKernel, reporter: Reporter): TypedKernel {
  const promised = kernel.params.filter(({ attributes }) =>
    attributes.readonly || attributes.writeonly
  );
  if (promised.length === 0) return kernel;
  const roots = new Roots(promised.map(({ variable }) => variable));
  roots.follow(kernel.body);
  const broken = { readonly: new Set<Variable>(), writeonly: new Set<Variable>() };
  for (const { pointer, access } of roots.accesses) {
    for (const variable of roots.of(pointer)) {
      const param = promised.find((candidate) => candidate.variable === variable);
      const promise = access === "write" ? "readonly" : "writeonly";
      if (param?.attributes[promise] !== true || broken[promise].has(variable)) continue;
      broken[promise].add(variable);
      const [code, verb] = access === "write"
        ? ["W4014", "stores"] as const
        : ["W4015", "loads"] as const;
      reporter.warn(
        code,
        pointer.span,
        `the kernel ${verb} through \`${variable.name}\`, which is \`__${promise}\`; the attribute is ignored`,
        { notes: [{ message: `\`${variable.name}\` is declared here`, span: variable.span }] },
      );
    }
  }
  return {
    ...kernel,
    params: kernel.params.map(({ variable, attributes }) => ({
      variable,
      attributes: {
        ...attributes,
        readonly: attributes.readonly && !broken.readonly.has(variable),
        writeonly: attributes.writeonly && !broken.writeonly.has(variable),
      },
    })),
  };
}

interface Access {
  readonly pointer: TypedExpr;
  readonly access: "read" | "write";
}

/** What pointers are passed to: a variable, or the callers of a helper. */
type Target = Variable | TypedHelper;

/** Which parameters a pointer may come from, by following assignments, whatever their order. */
class Roots {
  readonly #of = new Map<Target, Set<Variable>>();
  readonly #helpers = new Set<TypedHelper>();
  readonly #flows: { readonly to: Target; readonly from: TypedExpr }[] = [];
  readonly accesses: Access[] = [];

  constructor(params: readonly Variable[]) {
    for (const param of params) this.#of.set(param, new Set([param]));
  }

  follow(body: readonly TypedStmt[]): void {
    this.#collect(body, undefined);
    for (let changed = true; changed;) {
      changed = false;
      for (const { to, from } of this.#flows) {
        const known = this.#of.get(to) ?? new Set();
        const before = known.size;
        for (const root of this.of(from)) known.add(root);
        this.#of.set(to, known);
        changed ||= known.size > before;
      }
    }
  }

  /** The parameters that a pointer expression may be derived from. */
  of(expr: TypedExpr): ReadonlySet<Variable> {
    switch (expr.kind) {
      case "variable":
        return this.#of.get(expr.variable) ?? new Set();
      case "offset":
        return this.of(expr.pointer);
      case "let":
        return this.of(expr.body);
      case "comma":
        return this.of(expr.then);
      case "store":
      case "assign":
        return this.of(expr.value);
      case "load": // a pointer that was stored somewhere leads anywhere
      case "constant":
        return new Set();
      case "call":
        return this.#of.get(expr.helper) ?? new Set();
      default:
        return this.#union(operandsOf(expr));
    }
  }

  #union(exprs: readonly TypedExpr[]): ReadonlySet<Variable> {
    return new Set(exprs.flatMap((expr) => [...this.of(expr)]));
  }

  #collect(stmts: readonly TypedStmt[], helper: TypedHelper | undefined): void {
    for (const stmt of stmts) {
      if (stmt.kind === "declare" && stmt.value !== undefined) {
        this.#flows.push({ to: stmt.variable, from: stmt.value });
      }
      if (stmt.kind === "return" && stmt.value !== undefined && helper !== undefined) {
        this.#flows.push({ to: helper, from: stmt.value });
      }
      for (const expr of expressionsOf(stmt)) this.#visit(expr);
      this.#collect(statementsOf(stmt), helper);
    }
  }

  #visit(expr: TypedExpr): void {
    for (const operand of operandsOf(expr)) this.#visit(operand);
    switch (expr.kind) {
      case "assign":
      case "let":
        this.#flows.push({ to: expr.variable, from: expr.value });
        break;
      case "load":
        this.accesses.push({ pointer: expr.pointer, access: "read" });
        break;
      case "store":
        this.accesses.push({ pointer: expr.pointer, access: "write" });
        break;
      case "builtin": {
        const [pointer] = expr.args;
        if (pointer === undefined || !expr.name.startsWith("atomic_")) break;
        this.accesses.push({ pointer, access: "write" }, { pointer, access: "read" });
        break;
      }
      case "call":
        this.#enter(expr);
        break;
    }
  }

  #enter({ helper, args }: Extract<TypedExpr, { kind: "call" }>): void {
    for (const [at, param] of helper.params.entries()) {
      const from = args[at];
      if (from !== undefined) this.#flows.push({ to: param, from });
    }
    if (this.#helpers.has(helper)) return;
    this.#helpers.add(helper);
    this.#collect(helper.body, helper);
  }
}

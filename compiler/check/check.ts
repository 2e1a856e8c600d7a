/**
 * The checker: syntax tree to typed tree. All rules of language.md about names, scopes, types, shapes,
 * conversions, constants, masks and attributes end here; a typed tree without errors needs no rule of the
 * language any more.
 *
 *   check_decl.ts, check_stmt.ts        what a file is made of
 *   check_type.ts, check_attributes.ts  types and attributes from syntax
 *   functions/                          heads, bodies and instances of functions
 *   expressions/                        expressions, conversions between types, shapes
 *   tree/                               the typed tree, and folding of constants
 *   analysis/                           masked evaluation, and what is found out about typed trees
 *   builtins/                           the table of built-in functions, and their rules
 */
import { type Diagnostic, Reporter } from "../support/diagnostic.ts";
import type * as ast from "../parse/ast.ts";
import type { TypedHelper, TypedKernel, TypedUnit } from "./tree/typed.ts";
import { type CallGraph, callGraph, cycleTest, reachableFrom } from "./analysis/call_graph.ts";
import { type CheckOptions, Context, type Watch } from "./check_context.ts";
import { checkDeclaration } from "./check_decl.ts";
import {
  checkFunction,
  checkInstances,
  checkKernelName,
  checkNamedKernel,
} from "./functions/check_function.ts";
import { reportRecursion, unseen } from "./functions/helper_instances.ts";
import { checkStaticAssert } from "./check_stmt.ts";
import { dropBrokenPromises } from "./analysis/access.ts";
import { changesSomething } from "./analysis/effects.ts";
import { forEachExprIn } from "./tree/typed_walk.ts";
import { warnUnassigned } from "./analysis/unassigned.ts";

export type { CheckOptions };

/** Checks a file. With errors reported the result may lack what was wrong. */
export function check(unit: ast.Unit, options: CheckOptions, reporter: Reporter): TypedUnit {
  const cx = new Context(reporter, options);
  const hasGlobal = declareFunctions(cx, unit);
  const kernels: TypedKernel[] = [];
  for (const item of unit.items) {
    const kernel = item.kind === "function" ? checkFunction(cx, item, hasGlobal) : undefined;
    if (item.kind !== "function") checkOther(cx, item);
    if (kernel !== undefined) kernels.push(kernel);
  }
  checkInstances(cx);
  const helpers = new Helpers(callGraph(cx.calls));
  checkCalls(cx, helpers);
  if (reporter.errorCount > 0) return { kernels };
  for (const { body } of kernels) warnUnassigned(body, reporter);
  helpers.warnUnassigned(cx);
  return { kernels: kernels.map((kernel) => dropBrokenPromises(kernel, reporter)) };
}

/** A kernel checked on its own; undefined after an error, in it or outside of kernels. */
export interface CheckedKernel {
  readonly kernel: TypedKernel | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * A file whose kernels are checked one by one, when asked for: each instance has only one of them, and a file
 * may have thousands.
 */
export interface CheckedFile {
  /** Of the text outside of kernels. */
  readonly diagnostics: readonly Diagnostic[];
  /** @param watch is called for what the kernel contains, instead of the one that watched the rest of the file */
  readonly check: (kernel: ast.FunctionDefinition, watch?: Watch) => CheckedKernel;
}

/** Checks the text outside of kernels, and the kernels' names. */
export function checkFile(
  unit: ast.Unit,
  kernels: ReadonlySet<ast.TopItem>,
  options: CheckOptions,
): CheckedFile {
  const file = new Reporter();
  const cx = new Context(file, options);
  const hasGlobal = declareFunctions(cx, unit);
  /** The names that each kernel sees. */
  const seen = new Map<ast.TopItem, number>();
  for (const item of unit.items) {
    if (item.kind !== "function") checkOther(cx, item);
    else if (kernels.has(item)) {
      checkKernelName(cx, item, hasGlobal);
      seen.set(item, cx.file.size);
    } else checkFunction(cx, item, hasGlobal);
  }
  checkInstances(cx);
  const helpers = new Helpers(callGraph(cx.calls));
  checkCalls(cx, helpers);
  if (file.errorCount === 0) helpers.warnUnassigned(cx);
  return {
    diagnostics: file.diagnostics,
    check: (definition, watch) => {
      const reporter = new Reporter();
      const ownOptions = watch === undefined ? options : { ...options, watch };
      const own = new Context(reporter, ownOptions, { cx, seen: seen.get(definition) ?? 0 });
      const kernel = checkNamedKernel(own, definition, hasGlobal);
      checkInstances(own);
      const all = own.instances.size === 0
        ? helpers
        : new Helpers(callGraph([...cx.calls, ...own.calls]));
      checkCalls(own, all);
      if (kernel === undefined || file.errorCount + reporter.errorCount > 0) {
        return { kernel: undefined, diagnostics: reporter.diagnostics };
      }
      warnUnassigned(kernel.body, reporter);
      all.warnUnassigned(own);
      return {
        kernel: dropBrokenPromises(kernel, reporter),
        diagnostics: reporter.diagnostics,
      };
    },
  };
}

/** Makes the names of all functions known for messages; says whether any is marked as a kernel. */
function declareFunctions(cx: Context, { items }: ast.Unit): boolean {
  for (const item of items) {
    if (item.kind !== "function" || item.declarator.name === undefined) continue;
    cx.laterFunctions.set(item.declarator.name.text, item.declarator.name.span);
  }
  return items.some((item) =>
    item.kind !== "static-assert" && item.specs.storage.some(({ word }) => word === "__global__")
  );
}

function checkOther(cx: Context, item: Exclude<ast.TopItem, ast.FunctionDefinition>): void {
  if (item.kind === "static-assert") checkStaticAssert(cx, item);
  else checkDeclaration(cx, item);
}

interface Effects {
  readonly changes: boolean;
  readonly loads: boolean;
}

/** What is known of helpers once all of them are checked, computed once for all who call them. */
class Helpers {
  readonly #graph: CallGraph;
  readonly isCyclic: (from: TypedHelper, to: TypedHelper) => boolean;
  readonly #own = new Map<TypedHelper, Effects>();
  readonly #all = new Map<TypedHelper, Effects>();
  readonly #unassigned = new Map<TypedHelper, readonly Diagnostic[]>();

  constructor(graph: CallGraph) {
    this.#graph = graph;
    this.isCyclic = cycleTest(graph);
  }

  /** What a call does, in the helper or in those that it calls. */
  effectsOf(helper: TypedHelper): Effects {
    const known = this.#all.get(helper);
    if (known !== undefined) return known;
    const all = [...reachableFrom(helper, this.#graph)].map((one) => this.#ownEffects(one));
    const effects = {
      changes: all.some(({ changes }) => changes),
      loads: all.some(({ loads }) => loads),
    };
    this.#all.set(helper, effects);
    return effects;
  }

  #ownEffects(helper: TypedHelper): Effects {
    const known = this.#own.get(helper);
    if (known !== undefined) return known;
    const effects = { changes: false, loads: false };
    forEachExprIn(helper.body, (expr) => {
      // Its own variables are no concern of the caller.
      effects.changes ||= expr.kind !== "assign" && changesSomething(expr);
      effects.loads ||= expr.kind === "load";
    });
    this.#own.set(helper, effects);
    return effects;
  }

  /** Warns of the helpers that the calls name. */
  warnUnassigned({ calls, reporter }: Context): void {
    const seen = new Set<string>();
    for (const helper of new Set(calls.map(({ helper }) => helper))) {
      let found = this.#unassigned.get(helper);
      if (found === undefined) {
        const own = new Reporter();
        warnUnassigned(helper.body, own);
        found = own.diagnostics;
        this.#unassigned.set(helper, found);
      }
      for (const diagnostic of unseen(found, seen)) reporter.add(diagnostic);
    }
  }
}

/** What can be judged only when all bodies are known: E4025, E4029, and E5151, E5152 of helpers. */
function checkCalls(cx: Context, helpers: Helpers): void {
  for (const { callee, span } of cx.calls) {
    if (callee.defined) continue;
    const { name } = callee.helper;
    cx.reporter.error("E4029", span, `\`${name}\` is declared but not defined`, {
      notes: [{ message: "the prototype", span: callee.span }],
    });
  }
  const seen = new Set<string>();
  for (const { caller, helper, span } of cx.calls) {
    if (caller === undefined || !helpers.isCyclic(caller, helper)) continue;
    for (const one of unseen([{ code: "E4025", span }], seen)) {
      reportRecursion(cx, caller.name, one.span);
    }
  }
  for (const { helper, span } of cx.maskedCalls) {
    const { name } = helper;
    const { changes, loads } = helpers.effectsOf(helper);
    if (changes) {
      const message = `\`${name}\` has side effects and cannot be called under a mask`;
      cx.reporter.error("E5151", span, message, { hint: "call it before the `?:`" });
    } else if (loads) {
      cx.reporter.error("E5152", span, `no mask can be applied to the loads inside \`${name}\``, {
        hint: "call it before the `?:`, or pass it a mask",
      });
    }
  }
}

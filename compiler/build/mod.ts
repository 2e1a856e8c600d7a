/**
 * From the typed tree to tile IR: SSA by walking, without renaming later. Variables become the values assigned
 * to them; where control meets, they become results of the `if` or carried values of the `while`. Helpers are
 * inlined. Nothing is optimised here beyond not building what a constant condition rules out.
 */
import type { Reporter } from "../support/diagnostic.ts";
import type { TypedKernel, TypedParam } from "../check/tree/typed.ts";
import { type Func, newFunc, newValue, type ParamFacts } from "../ir/func.ts";
import { runOnHeap } from "../support/on_heap.ts";
import { append, type Context, emitConstant, setVariable, Values } from "./context.ts";
import { BuildLimit } from "./limits.ts";
import type { NameRecorder } from "./names.ts";
import { buildBody } from "./stmt.ts";
import { irType } from "./types.ts";
import { leastCommonMultiple } from "../support/arith.ts";

/** A further multiple (elements for integers, bytes for pointers), promises, bounds of integers, and what an integer is. */
export type Assumption = Partial<ParamFacts> & { readonly value?: number };

export interface BuildOptions {
  /** What the instance's specialisation adds, by parameter. */
  readonly assumptions?: ReadonlyMap<string, Assumption>;
  /** Whether promises about locals are checked where `assert` is. That changes code, so only where it was asked for. */
  readonly checkPromises?: boolean;
  /** Notes what variables are called and hold. */
  readonly names?: NameRecorder | undefined;
}

/**
 * The kernel as tile IR; undefined where copies of helpers and loops grow beyond the limits. Reported are
 * that, and hints that cannot be followed.
 */
export function buildFunc(
  kernel: TypedKernel,
  options: BuildOptions,
  reporter: Reporter,
): Func | undefined {
  try {
    return build(kernel, options, reporter);
  } catch (error) {
    if (!(error instanceof BuildLimit)) throw error;
    reporter.error(error.code, error.span, error.message, { hint: error.hint });
    return undefined;
  }
}

function build(kernel: TypedKernel, options: BuildOptions, reporter: Reporter): Func {
  const func = newFunc(kernel.name);
  const cx: Context = {
    func,
    reporter,
    region: func.body,
    values: new Values(),
    made: { last: 0, operations: 0 },
    copying: undefined,
    depth: 0,
    checkPromises: options.checkPromises === true,
    names: options.names,
    buildBody: (inner, { body, span, result }) => buildBody(inner, body, span, result),
  };
  for (const param of kernel.params) {
    const { variable } = param;
    const type = irType(variable.type);
    const assumed = options.assumptions?.get(variable.name);
    const value = newValue(func, type, variable.name);
    func.params.push(value);
    func.paramFacts.push(factsOf(param, assumed));
    const known = assumed?.value;
    setVariable(
      cx,
      variable,
      known === undefined ? value : emitConstant(cx, BigInt(known), type, kernel.span),
    );
  }
  runOnHeap(buildBody(cx, kernel.body, kernel.span));
  append(cx, "return", [], [], kernel.span);
  return func;
}

function factsOf({ attributes }: TypedParam, assumed: Assumption = {}): ParamFacts {
  const declared = attributes.multipleof ?? attributes.aligned ?? 1;
  return {
    multipleof: leastCommonMultiple(declared, assumed.multipleof ?? 1),
    noalias: attributes.noalias || assumed.noalias === true,
    readonly: attributes.readonly || assumed.readonly === true,
    writeonly: attributes.writeonly || assumed.writeonly === true,
    ...assumed.least === undefined ? {} : { least: assumed.least },
    ...assumed.most === undefined ? {} : { most: assumed.most },
  };
}

/**
 * Expands calls of device functions into the kernels that make them, so that the emulator needs no stack:
 *
 *     st.param.b32 [param0], %r1;                   st.local.b32 [param0], %r1;
 *     call (retval0), twice, (param0);      ─▶      ld.local.b32 %r1_1, [param0];
 *     ld.param.b32 %r2, [retval0];                  add.s32 %r2_1, %r1_1, %r1_1;
 *                                                   st.local.b32 [retval0], %r2_1;
 *                                                   ld.local.b32 %r2, [retval0];
 *
 * Calls that stay: of functions that the driver supplies (`vprintf`, `malloc`), of recursive ones, and through pointers.
 * The variables that hold their arguments are local ones as well, so no `.param` variable is left in a kernel.
 */
import type { PtxFunction, PtxKernel, PtxModule, PtxVariable } from "./func.ts";
import { calledName, type Callees, expandKernel } from "./inline_call.ts";
import { hoistVariables, namesOf, withInitial } from "./hoist.ts";

type Defined = Map<string, PtxFunction>;

/** Functions with bodies, by all of their names. */
function definedFunctions({ functions, aliases = [] }: PtxModule): Defined {
  const defined: Defined = new Map();
  for (const fn of functions) if (fn.code !== undefined) defined.set(fn.name, fn);
  for (const { name, target } of aliases) {
    const fn = defined.get(target);
    if (fn !== undefined) defined.set(name, fn);
  }
  return defined;
}

/** Functions that can come to call themselves. */
function recursiveFunctions(defined: Defined): Set<PtxFunction> {
  const callees = new Map<PtxFunction, PtxFunction[]>();
  for (const fn of defined.values()) {
    const names = new Set((fn.code?.body ?? []).map(calledName));
    callees.set(fn, [...names].flatMap((name) => defined.get(name ?? "") ?? []));
  }
  const recursive = new Set<PtxFunction>();
  for (const fn of callees.keys()) {
    const reached = new Set<PtxFunction>();
    const waiting = [...callees.get(fn) ?? []];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(...callees.get(next) ?? []);
    }
    if (reached.has(fn)) recursive.add(fn);
  }
  return recursive;
}

/** Whether a function can come to call itself. */
export function isRecursive(module: PtxModule, name: string): boolean {
  const defined = definedFunctions(module);
  const fn = defined.get(name);
  return fn !== undefined && recursiveFunctions(defined).has(fn);
}

/** Variables of functions that exist once, whoever calls: moved to the module under names that are free there. */
function hoistStatics(module: PtxModule, defined: Defined): {
  readonly variables: PtxVariable[];
  readonly statics: Callees["statics"];
} {
  const names = namesOf(module);
  const variables: PtxVariable[] = [];
  const statics = new Map<PtxFunction, Map<string, string>>();
  for (const fn of new Set(defined.values())) {
    const own = (fn.code?.variables ?? []).filter(({ space, extern }) =>
      space !== "local" && space !== "param" && extern !== true
    );
    const renamed = new Map(
      own.map(({ name }) => [name, names.fresh(`${fn.name}_${name}`)] as const),
    );
    for (const variable of own) {
      const name = renamed.get(variable.name) ?? variable.name;
      variables.push({ ...withInitial(variable, renamed), name });
    }
    statics.set(fn, renamed);
  }
  return { variables, statics };
}

/** Whether something in a kernel has to change. */
function hasCalls(kernel: PtxKernel): boolean {
  return kernel.variables.some(({ space }) => space === "param") ||
    kernel.body.some((item) => calledName(item) !== undefined);
}

/** The module with calls expanded. Kernels without calls or variables of the module stay the same objects. */
export function inlineCalls(given: PtxModule): PtxModule {
  const module = hoistVariables(given);
  if (!module.kernels.some(hasCalls)) return module;
  const defined = definedFunctions(module);
  const recursive = recursiveFunctions(defined);
  const { variables, statics } = hoistStatics(module, defined);
  const inlinable = new Map([...defined].filter(([, fn]) => !recursive.has(fn)));
  const globals = [...module.variables, ...variables, ...module.functions].map(({ name }) => name);
  const callees = { inlinable, statics, globals };
  return {
    ...module,
    variables: [...module.variables, ...variables],
    kernels: module.kernels.map((kernel) =>
      hasCalls(kernel) ? { ...kernel, ...expandKernel(kernel, callees) } : kernel
    ),
  };
}

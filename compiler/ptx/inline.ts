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
import { calledName, type Callees, expandKernel, MOST_MODULE_ITEMS } from "./inline/call.ts";
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

/** A function while its strongly connected component is looked for (Tarjan, "Depth-first search", 1972). */
interface Visit {
  readonly fn: PtxFunction;
  readonly callees: readonly PtxFunction[];
  readonly number: number;
  /** The least number that is reached from here. */
  low: number;
  next: number;
  open: boolean;
}

/** Functions that can come to call themselves: those in a cycle of calls. */
function recursiveFunctions(defined: Defined): Set<PtxFunction> {
  const recursive = new Set<PtxFunction>();
  const visits = new Map<PtxFunction, Visit>();
  const path: Visit[] = [];
  const component: Visit[] = [];
  const enter = (fn: PtxFunction): void => {
    const names = new Set((fn.code?.body ?? []).map(calledName));
    const callees = [...names].flatMap((name) => defined.get(name ?? "") ?? []);
    if (callees.includes(fn)) recursive.add(fn);
    const number = visits.size;
    const visit = { fn, callees, number, low: number, next: 0, open: true };
    visits.set(fn, visit);
    path.push(visit);
    component.push(visit);
  };
  /** Ends the component that begins with a visit. */
  const close = (first: Visit): void => {
    const members = component.splice(component.lastIndexOf(first));
    for (const member of members) {
      member.open = false;
      if (members.length > 1) recursive.add(member.fn);
    }
  };
  for (const fn of defined.values()) {
    if (visits.has(fn)) continue;
    enter(fn);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const callee = visit.callees[visit.next++];
      if (callee === undefined) {
        path.pop();
        const above = path.at(-1);
        if (above !== undefined) above.low = Math.min(above.low, visit.low);
        if (visit.low === visit.number) close(visit);
        continue;
      }
      const known = visits.get(callee);
      if (known === undefined) enter(callee);
      else if (known.open) visit.low = Math.min(visit.low, known.number);
    }
  }
  return recursive;
}

/** Whether a function can come to call itself. */
export function isRecursive(module: PtxModule, name: string): boolean {
  const defined = definedFunctions(module);
  const fn = defined.get(name);
  return fn !== undefined && recursiveFunctions(defined).has(fn);
}

/** Variables of functions that exist once for all callers: moved to the module under names that are free there. */
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
  const left = { items: MOST_MODULE_ITEMS };
  const callees = { inlinable, statics, globals, left };
  return {
    ...module,
    variables: [...module.variables, ...variables],
    kernels: module.kernels.map((kernel) =>
      hasCalls(kernel) ? { ...kernel, ...expandKernel(kernel, callees) } : kernel
    ),
  };
}

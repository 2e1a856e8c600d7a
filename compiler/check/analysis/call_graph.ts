/** Which helpers call which: cycles (E4025), and what a call may reach. */
import type { HelperCall } from "../check_context.ts";
import type { TypedHelper } from "../tree/typed.ts";

/** Callees of each helper that calls any, each once. */
export type CallGraph = ReadonlyMap<TypedHelper, ReadonlySet<TypedHelper>>;

export function callGraph(calls: readonly HelperCall[]): CallGraph {
  const graph = new Map<TypedHelper, Set<TypedHelper>>();
  for (const { caller, helper } of calls) {
    if (caller === undefined) continue;
    const known = graph.get(caller);
    if (known === undefined) graph.set(caller, new Set([helper]));
    else known.add(helper);
  }
  return graph;
}

/** A helper and all that its calls reach. */
export function reachableFrom(from: TypedHelper, graph: CallGraph): ReadonlySet<TypedHelper> {
  const found = new Set([from]);
  // Iterating a set includes what is added meanwhile.
  for (const helper of found) {
    for (const callee of graph.get(helper) ?? []) found.add(callee);
  }
  return found;
}

/**
 * Whether a call is part of a cycle: caller and callee reach each other. Helpers that do are one strongly
 * connected component; these are found by Tarjan's algorithm, without recursion, since chains may be long.
 */
export function cycleTest(graph: CallGraph): (from: TypedHelper, to: TypedHelper) => boolean {
  const component = new Map<TypedHelper, number>();
  const index = new Map<TypedHelper, number>();
  const low = new Map<TypedHelper, number>();
  const open: TypedHelper[] = [];
  const lower = (helper: TypedHelper, to: number): void => {
    low.set(helper, Math.min(low.get(helper) ?? to, to));
  };
  for (const root of graph.keys()) {
    if (index.has(root)) continue;
    const path: { readonly helper: TypedHelper; readonly callees: Iterator<TypedHelper> }[] = [];
    const enter = (helper: TypedHelper): void => {
      index.set(helper, index.size);
      lower(helper, index.size - 1);
      open.push(helper);
      path.push({ helper, callees: (graph.get(helper) ?? new Set<TypedHelper>()).values() });
    };
    enter(root);
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const { helper, callees } = at;
      const next = callees.next();
      if (next.done !== true) {
        const known = index.get(next.value);
        if (known === undefined) enter(next.value);
        else if (!component.has(next.value)) lower(helper, known);
        continue;
      }
      path.pop();
      const lowest = low.get(helper) ?? 0;
      const caller = path.at(-1)?.helper;
      if (caller !== undefined) lower(caller, lowest);
      if (lowest !== index.get(helper)) continue;
      const number = component.size;
      for (let member = open.pop(); member !== undefined; member = open.pop()) {
        component.set(member, number);
        if (member === helper) break;
      }
    }
  }
  return (from, to) =>
    from === to || (component.has(from) && component.get(from) === component.get(to));
}

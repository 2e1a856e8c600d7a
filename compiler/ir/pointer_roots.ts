/** Which parameter a pointer was computed from, by offsets and shape operations, through loops and branches. */
import { edgesOf } from "./flow.ts";
import type { Func, Value } from "./func.ts";
import { hasTrait } from "./table.ts";
import { isPointer } from "./types.ts";
import { walkOps } from "./walk.ts";
import { zip } from "../support/zip.ts";

/** The pointer parameter that each pointer was computed from; undefined where there are several, or something else. */
export function rootsOf(
  func: Func,
  params: ReadonlySet<Value>,
): (pointer: Value) => Value | undefined {
  /** What flows into each result and parameter of control flow. */
  const sources = new Map<Value, Value[]>();
  /** Pointers that control flow results in, operation by operation. */
  const merged: (readonly Value[])[] = [];
  walkOps(func.body, (op) => {
    if (op.regions.length > 0) {
      merged.push(op.results.filter(({ type }) => isPointer(type.element)));
    }
    for (const { from, to } of edgesOf(op)) {
      for (const [target, value] of zip(to, from)) {
        const list = sources.get(target) ?? [];
        list.push(value);
        sources.set(target, list);
      }
    }
  });
  /** The pointer that an operation computed this one from. */
  const baseOf = (value: Value): Value | undefined =>
    !sources.has(value) && value.def !== undefined && hasTrait(value.def, "derives")
      ? value.def.operands[0]
      : undefined;
  // An integer that becomes a pointer may be any address: nothing compares it with that of a result.
  const isRoot = (value: Value): boolean => params.has(value) && isPointer(value.type.element);
  /** All that pointers were computed from, as far as it has been searched. */
  const known = new Map<Value, ReadonlySet<Value | undefined>>();
  const search = (pointer: Value): ReadonlySet<Value | undefined> => {
    const found = new Set<Value | undefined>();
    const seen = new Set([pointer]);
    for (const value of seen) {
      const before = known.get(value);
      before?.forEach((origin) => found.add(origin));
      if (before !== undefined) continue;
      const base = baseOf(value);
      const from = base === undefined ? sources.get(value) : [base];
      if (from === undefined) found.add(isRoot(value) ? value : undefined);
      from?.forEach((one) => seen.add(one));
    }
    return found;
  };
  const resolve = (pointer: Value): ReadonlySet<Value | undefined> => {
    const path: Value[] = [];
    let at = pointer;
    for (let base = baseOf(at); base !== undefined && !known.has(at); base = baseOf(at)) {
      path.push(at);
      at = base;
    }
    const origins = known.get(at) ?? search(at);
    for (const value of [...path, at]) known.set(value, origins);
    return origins;
  };
  // In order, so that the results of one loop are known when the next one is searched.
  for (const results of merged) results.forEach(resolve);
  return (pointer) => {
    const origins = resolve(pointer);
    return origins.size === 1 ? [...origins][0] : undefined;
  };
}

/** Iteration over a function's operations, replacement of values, copies. All in one sweep. */
import { must } from "../support/bug.ts";
import type { Func, Op, Region, Value } from "./func.ts";

/** Calls `visit` for each operation in print order: an operation before what its regions hold. */
export function walkOps(region: Region, visit: (op: Op) => void): void {
  for (const op of region.ops) {
    visit(op);
    for (const inner of op.regions) walkOps(inner, visit);
  }
}

/** Whether a region has operations of one of these names, at any depth. */
export function holds({ ops }: Region, names: ReadonlySet<Op["name"]>): boolean {
  return ops.some(({ name, regions }) =>
    names.has(name) || regions.some((inner) => holds(inner, names))
  );
}

/** The operation that ends a region. */
export function terminatorOf(region: Region): Op {
  return must(region.ops.at(-1), "terminator");
}

/** The values that regions define, with those of the regions inside. */
export function definedIn(...regions: readonly Region[]): ReadonlySet<Value> {
  const values = new Set<Value>();
  const add = (list: readonly Value[]): void => list.forEach((value) => values.add(value));
  for (const region of regions) {
    add(region.params);
    walkOps(region, ({ results, regions: inner }) => {
      add(results);
      inner.forEach(({ params }) => add(params));
    });
  }
  return values;
}

/** The operations that take each value, each once and in print order. */
export function usersOf(func: Func): ReadonlyMap<Value, readonly Op[]> {
  const users = new Map<Value, Op[]>();
  walkOps(func.body, (op) => {
    for (const value of op.operands) {
      const list = users.get(value);
      if (list === undefined) users.set(value, [op]);
      // An operation that takes a value twice is one user.
      else if (list.at(-1) !== op) list.push(op);
    }
  });
  return users;
}

/** How often each value is an operand; values that are none are absent. */
export function countUses(func: Func): ReadonlyMap<Value, number> {
  const uses = new Map<Value, number>();
  walkOps(func.body, (op) => {
    for (const value of op.operands) uses.set(value, (uses.get(value) ?? 0) + 1);
  });
  return uses;
}

/** Replaces every use of the map's keys. Replacements may be keys themselves, but not in a circle. */
export function replaceUses(func: Func, replacements: ReadonlyMap<Value, Value>): void {
  replaceUsesIn(func.body, replacements);
}

/** The same in a region. */
export function replaceUsesIn(region: Region, replacements: ReadonlyMap<Value, Value>): void {
  if (replacements.size === 0) return;
  walkOps(region, (op) => {
    op.operands = op.operands.map((value) => resolve(replacements, value));
  });
}

/** The end of a chain of replacements. */
export function resolve(replacements: ReadonlyMap<Value, Value>, value: Value): Value {
  let at = value;
  for (let next = replacements.get(at); next !== undefined; next = replacements.get(at)) at = next;
  return at;
}

/** An independent copy: changing one does not change the other. Ids are kept. */
export function cloneFunc(func: Func): Func {
  const copies = new Map<Value, Value>();
  const copyValue = (value: Value): Value => {
    const { def: _def, ...rest } = value;
    const copy: Value = rest;
    copies.set(value, copy);
    return copy;
  };
  const copyOp = (op: Op): Op => {
    const copy: Op = {
      ...op,
      operands: op.operands.map((value) => must(copies.get(value), "definition before use")),
      results: op.results.map(copyValue),
      regions: op.regions.map(copyRegion),
    };
    for (const result of copy.results) result.def = copy;
    return copy;
  };
  const copyRegion = (region: Region): Region => ({
    params: region.params.map(copyValue),
    ops: region.ops.map(copyOp),
  });
  return {
    name: func.name,
    params: func.params.map(copyValue),
    paramFacts: [...func.paramFacts],
    body: copyRegion(func.body),
    maps: func.maps,
    ...(func.sharedBytes === undefined ? {} : { sharedBytes: func.sharedBytes }),
    nextId: func.nextId,
  };
}

/** Gives a function the body of one of its copies. */
export function restoreBody(func: Func, copy: Func): void {
  func.maps = copy.maps;
  func.body.ops = copy.body.ops;
  replaceUses(
    func,
    new Map(copy.params.map((param, i) => [param, must(func.params[i], "parameter")])),
  );
}

/** Makes a function the other one, which must not be used any more. */
export function replaceFunc(func: Func, other: Func): void {
  func.params = other.params;
  func.paramFacts = other.paramFacts;
  func.body = other.body;
  func.maps = other.maps;
  func.nextId = other.nextId;
}

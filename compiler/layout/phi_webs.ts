/**
 * Phi webs: classes of tiles that control flow passes to each other. Parameters and results of loops and branches
 * that take each other's values are in one phi web and have one layout.
 */
import { edgesOf, loopOf } from "../ir/flow.ts";
import type { Func, Region, Value } from "../ir/func.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";

export interface PhiWeb {
  readonly members: readonly Value[];
  /** Values that flow in from operations, those deeper inside loops first. */
  readonly sources: readonly Value[];
}

interface Source {
  readonly value: Value;
  readonly depth: number;
}

/** A phi web that grows; one that has become part of another one keeps its position in it. */
interface Growing {
  into: Growing | undefined;
  readonly members: (Value | Growing)[];
  readonly sources: (Source | Growing)[];
}

/** The phi web that one has become part of. */
function rootOf(web: Growing): Growing {
  let root = web;
  while (root.into !== undefined) root = root.into;
  for (let at = web; at.into !== undefined && at.into !== root;) {
    const next: Growing = at.into;
    at.into = root;
    at = next;
  }
  return root;
}

/** What a phi web and its parts list, in order. */
function flatten<T extends object>(
  web: Growing,
  listOf: (web: Growing) => readonly (T | Growing)[],
): T[] {
  const all: T[] = [];
  const open = [listOf(web)[Symbol.iterator]()];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { done, value } = top.next();
    if (done === true) open.pop();
    else if ("into" in value) open.push(listOf(value)[Symbol.iterator]());
    else all.push(value);
  }
  return all;
}

/** The phi web of each tile that is a parameter of a region or a result of control flow. */
export function phiWebsOf(func: Func): ReadonlyMap<Value, PhiWeb> {
  const webs = new Map<Value, Growing>();
  const flows: { readonly to: Value; readonly from: Value; readonly depth: number }[] = [];
  const flow = (targets: readonly Value[], values: readonly Value[], depth: number): void =>
    zip(targets, values).forEach(([to, from]) => {
      if (to.type.shape.length === 0) return;
      if (!webs.has(to)) webs.set(to, { into: undefined, members: [to], sources: [] });
      flows.push({ to, from, depth });
    });
  const visit = (region: Region, depth: number): void => {
    for (const op of region.ops) {
      const inner = op.name === "while" ? depth + 1 : depth;
      op.regions.forEach((one) => visit(one, inner));
      for (const { kind, from, to } of edgesOf(op)) {
        // What enters a loop comes from outside of it.
        if (kind !== "exit") flow(to, from, kind === "entry" ? depth : inner);
      }
      // Results come from the same operand of `condition` as the body's parameters, which has one layout.
      if (op.name === "while") flow(op.results, loopOf(op).body.params, inner);
    }
  };
  visit(func.body, 0);
  for (const { to, from, depth } of flows) {
    const web = rootOf(must(webs.get(to), "phi web"));
    const own = webs.get(from);
    const other = own && rootOf(own);
    if (other === undefined) web.sources.push({ value: from, depth });
    else if (other !== web) {
      web.members.push(other);
      web.sources.push(other);
      other.into = web;
    }
  }
  const finished = new Map<Growing, PhiWeb>();
  return new Map([...webs].map(([value, growing]) => {
    const web = rootOf(growing);
    const done = finished.get(web) ?? {
      members: flatten<Value>(web, ({ members }) => members),
      sources: flatten<Source>(web, ({ sources }) => sources)
        .sort((a, b) => b.depth - a.depth).map((source) => source.value),
    };
    finished.set(web, done);
    return [value, done];
  }));
}

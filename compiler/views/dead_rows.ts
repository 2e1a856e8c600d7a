/**
 * Rows of an operand that a kernel loads without a mask, and whose results it does not store:
 *
 *     acc += *pa @ *pb;  …  *?(rm[:, newaxis] < M && …) pc = acc
 *
 * Row i of a dot depends on row i of its left operand alone, so rows with `rm >= M` may hold anything. Followed are
 * element-wise operations, permutations, sums of dots, loops and branches; every other use is one that needs the row.
 */
import type { AffineAnalysis } from "../contract/affine.ts";
import { type Constraint, varies } from "../contract/affine_rules.ts";
import { addPoly, type Poly, polyKey, polyOf, polyOfAtom, subPoly } from "../contract/poly.ts";
import { edgesOf } from "../ir/flow.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";

/** How each value is used, and where it flows from one region to another. */
export interface Uses {
  readonly users: ReadonlyMap<Value, readonly Op[]>;
  /** What ends a region, and where it takes its operands. */
  readonly edges: ReadonlyMap<Op, readonly (readonly [Value, Value])[]>;
}

export function usesOf(func: Func, users: Uses["users"]): Uses {
  const edges = new Map<Op, (readonly [Value, Value])[]>();
  walkOps(func.body, (op) => {
    if (op.regions.length === 0) return;
    for (const { kind, from, to } of edgesOf(op)) {
      const region = kind === "back"
        ? op.regions[1]
        : kind === "otherwise"
        ? op.regions[1]
        : op.regions[0];
      const end = kind === "entry" || region === undefined ? op : terminatorOf(region);
      const list = edges.get(end) ?? [];
      from.forEach((value, index) => {
        const target = to[index];
        if (target !== undefined) list.push([value, target]);
      });
      edges.set(end, list);
    }
  });
  return { users, edges };
}

/** The extent from which stores mask rows off, and the comparisons that do. */
export interface StoredRows {
  readonly extent: Poly;
  readonly kept: readonly { readonly constraint: Constraint; readonly shape: readonly number[] }[];
}

/** The extent from which every store masks the coordinate of an axis off; undefined where one does not. */
export function extentOfStores(
  load: Value,
  axis: number,
  origin: Poly,
  { users, edges }: Uses,
  analysis: AffineAnalysis,
): StoredRows | undefined {
  let extent: Poly | undefined;
  const kept: { constraint: Constraint; shape: readonly number[] }[] = [];
  const seen = new Set<string>();
  const queue: { readonly value: Value; readonly axis: number }[] = [{ value: load, axis }];
  const add = (value: Value, at: number): void => {
    const key = `${value.id}.${at}`;
    if (!seen.has(key)) queue.push({ value, axis: at });
    seen.add(key);
  };
  /** False: the use needs the row. */
  const follow = (op: Op, value: Value, at: number): boolean => {
    const targets = edges.get(op);
    if (targets !== undefined) {
      for (const [from, to] of targets) if (from === value) add(to, at);
      // The condition of a loop or branch is a scalar.
      return true;
    }
    if (op.name === "permute") {
      add(resultOf(op), op.attrs.order.indexOf(at));
      return true;
    }
    if (op.name === "dot") {
      const { a, b, sum } = operandsOf(op);
      const isRow = (a === value && at === 0) || (b === value && at === 1);
      if (sum === value ? a === value || b === value : !isRow || (a === value && b === value)) {
        return false;
      }
      add(resultOf(op), at);
      return true;
    }
    if (op.name === "store" || op.name === "atomic") {
      const { value: stored, mask, pointer } = operandsOf(op);
      if (stored !== value || pointer === value || mask === undefined || mask === value) {
        return false;
      }
      const coordinate = addPoly(
        origin,
        polyOfAtom({ kind: "lane", key: `lane.${at}`, axis: at }),
      );
      const extentOf = ({ poly }: Constraint): Poly =>
        addPoly(subPoly(coordinate, poly), polyOf(1));
      const constraint = analysis.mask(mask).find((one) => !varies(extentOf(one)));
      if (constraint === undefined) return false;
      const found = extentOf(constraint);
      if (extent !== undefined && polyKey(extent) !== polyKey(found)) return false;
      extent = found;
      kept.push({ constraint, shape: pointer.type.shape });
      return true;
    }
    if (!hasTrait(op, "elementwise")) return false;
    for (const result of op.results) add(result, at);
    return true;
  };
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value, axis: at } = next;
    for (const op of users.get(value) ?? []) if (!follow(op, value, at)) return undefined;
  }
  return extent === undefined ? undefined : { extent, kept };
}

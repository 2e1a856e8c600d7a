/** The dots of a loop that are under conditions of the whole program, such as a table's of the blocks that are there. */
import { branchOf, type Loop, loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { sourcesFirst } from "../../ir/order.ts";
import { rowOf } from "../../ir/table.ts";
import { countUses } from "../../ir/walk.ts";

/** A dot and the branch that it is in. */
export interface GuardedDot {
  readonly dot: OpOf<"dot">;
  readonly branch: OpOf<"if">;
}

/** Such dots, where each adds to a sum that the loop carries and nothing else uses; none if one does not. */
export function guardedDots(func: Func, loop: OpOf<"while">): readonly GuardedDot[] {
  const { test, body, leaving, repeated } = loopOf(loop);
  const uses = countUses(func);
  const guarded: GuardedDot[] = [];
  for (const branch of body.ops) {
    if (branch.name !== "if") continue;
    const { then, thenValues, otherwise, otherwiseValues } = branchOf(branch);
    const dots = then.ops.filter((op) => op.name === "dot");
    const [dot] = dots;
    if (dot === undefined) continue;
    const { sum } = operandsOf(dot);
    const [result, ...others] = branch.results;
    const entered = leaving[body.params.indexOf(sum)];
    const isCarried = entered !== undefined && result !== undefined &&
      repeated[test.params.indexOf(entered)] === result;
    const isAlone = dots.length === 1 && others.length === 0 && otherwise.ops.length === 1 &&
      thenValues[0] === resultOf(dot) && otherwiseValues[0] === sum;
    // The sum is used by the dot, and by the other side.
    if (!isCarried || !isAlone || uses.get(sum) !== 2 || uses.get(resultOf(dot)) !== 1) {
      return [];
    }
    guarded.push({ dot, branch });
  }
  return guarded;
}

/**
 * Moves the boxes that branches load for their dots before the branches: they are copied early, and only where those
 * are done.
 */
export function hoistBoxes({ body }: Loop, guarded: readonly GuardedDot[]): void {
  for (const { dot, branch } of guarded) {
    const { then } = branchOf(branch);
    const inside = new Set<Op>(then.ops);
    const { a, b } = operandsOf(dot);
    const moved = new Set([a, b].flatMap((operand) => sourcesInside(loadOf(operand), inside)));
    then.ops = then.ops.filter((op) => !moved.has(op));
    body.ops.splice(body.ops.indexOf(branch), 0, ...moved);
  }
}

/** A box and what it is loaded from, as far as a region computes it without reading memory; none if it does that. */
function sourcesInside(box: Op | undefined, inside: ReadonlySet<Op>): readonly Op[] {
  if (box?.name !== "tensor_load" || !inside.has(box)) return [];
  const isOutside = ({ def }: Value): boolean => def === undefined || !inside.has(def);
  const sources = sourcesFirst(resultOf(box), isOutside).flatMap(({ def }) => def ?? []);
  return sources.every((op) => op === box || rowOf(op).effect === "pure") ? sources : [];
}

/** The conditions under which tiles are read that only one of the dots takes, by what loads them. */
export function conditionsOfLoads(guarded: readonly GuardedDot[]): ReadonlyMap<Op, Value> {
  const conditions = new Map<Op, Value>();
  const shared = new Set<Op>();
  for (const { dot, branch } of guarded) {
    const { a, b } = operandsOf(dot);
    for (const load of [a, b].map(loadOf)) {
      if (load === undefined) continue;
      if (conditions.has(load)) shared.add(load);
      conditions.set(load, branchOf(branch).condition);
    }
  }
  return new Map([...conditions].filter(([load]) => !shared.has(load)));
}

/** What made a value before it was permuted and laid out. */
function loadOf({ def }: Value): Op | undefined {
  let op = def;
  while (op?.name === "permute" || op?.name === "convert_layout") {
    ({ def: op } = operandsOf(op).value);
  }
  return op;
}

/**
 * Loops whose test comes last, as that of `do` does. What copies operands ahead is about loops that test first; where the
 * launch says that the test would have held before the first iteration too, it may come first in all:
 *
 *     while (k) { …; next = k - 32; test next > 0; next }    ─▶    while (k) { test k > 0 } { …; next = k - 32; next }
 */
import { AffineAnalysis } from "../contract/affine.ts";
import { limitsOfType } from "../contract/magnitude.ts";
import { constantOf, polyExpr } from "../contract/poly.ts";
import type { Requirement } from "../contract/types.ts";
import { varies } from "../contract/affine_rules.ts";
import { copyOps } from "../ir/copy_ops.ts";
import { type Loop, loopOf } from "../ir/flow.ts";
import {
  type Func,
  newOp,
  newValue,
  type Op,
  type OpOf,
  type Region,
  takeNames,
  type Value,
} from "../ir/func.ts";
import { rowOf } from "../ir/table.ts";
import { countUses, replaceUses, walkOps } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import { Demands } from "./demands.ts";

/** Whether a function has dots in tests of loops. */
export function testsLast({ body }: Func): boolean {
  let found = false;
  walkOps(body, (op) => found ||= op.name === "while" && hasDot(loopOf(op).test));
  return found;
}

const hasDot = ({ ops }: Region): boolean => ops.some(({ name }) => name === "dot");

/** Lets loops of dots test first, where that can be demanded of the launch; gives what then is. */
export function testFirst(func: Func): readonly Requirement[] {
  const demands = new Demands();
  const visit = (region: Region): void => {
    for (const op of [...region.ops]) {
      op.regions.forEach(visit);
      if (op.name === "while" && hasDot(loopOf(op).test)) turnRound(func, region, op, demands);
    }
  };
  visit(func.body);
  return demands.list();
}

function turnRound(func: Func, region: Region, op: OpOf<"while">, demands: Demands): void {
  const loop = loopOf(op);
  const { test, initial, condition, continues, leaving } = loop;
  const next = nextOf(loop);
  const uses = countUses(func);
  const places = leaving.map((value, i) => {
    const result = op.results[i];
    return result === undefined || !uses.has(result) ? -1 : next?.indexOf(value) ?? -1;
  });
  const areKept = op.results.every((result, i) => !uses.has(result) || (places[i] ?? -1) >= 0);
  const tested = next && slice(test, continues, next);
  if (next === undefined || !areKept || tested === undefined) return;
  const before = new Map(zip(next, initial));
  const first = copyOps(func, tested, before);
  const holds = before.get(continues);
  if (holds === undefined || !demandHolds(func, region, op, first, holds, demands)) return;
  const entering = test.params.map(({ type }) => newValue(func, type));
  const known = new Map(zip(next, entering));
  const again = copyOps(func, tested, known);
  const goesOn = known.get(continues);
  if (goesOn === undefined) return;
  const types = entering.map(({ type }) => type);
  const regions = [
    {
      params: entering,
      ops: [...again, newOp(func, "condition", [goesOn, ...entering], [], op.span)],
    },
    {
      params: test.params,
      ops: [
        ...test.ops.filter((one) => one !== condition),
        newOp(func, "yield", next, [], op.span),
      ],
    },
  ];
  const made = newOp(func, "while", initial, types, op.span, op.attrs, regions);
  const replaced = new Map<Value, Value>();
  for (const [result, place] of zip(op.results, places)) {
    const now = made.results[place];
    if (now === undefined) continue;
    takeNames(now, result);
    replaced.set(result, now);
  }
  region.ops.splice(region.ops.indexOf(op), 1, made);
  replaceUses(func, replaced);
}

/** What enters the next iteration, if the body does nothing. */
function nextOf({ body, end, repeated, leaving }: Loop): readonly Value[] | undefined {
  if (body.ops.some((op) => op !== end)) return undefined;
  return repeated.map((value) => leaving[body.params.indexOf(value)] ?? value);
}

/** The operations of a test that its condition needs, computed from what enters the next iteration; undefined: others count. */
function slice(test: Region, wanted: Value, next: readonly Value[]): readonly Op[] | undefined {
  const needed = new Set<Op>();
  const params = new Set(test.params);
  const queue = [wanted];
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    if (next.includes(value)) continue;
    if (params.has(value)) return undefined;
    const { def } = value;
    if (def === undefined || !test.ops.includes(def) || needed.has(def)) continue;
    if (rowOf(def).effect !== "pure" || def.regions.length > 0) return undefined;
    needed.add(def);
    queue.push(...def.operands);
  }
  return test.ops.filter((op) => needed.has(op));
}

/** Demands that a condition holds, which is computed before a loop; false where no launch says that. */
function demandHolds(
  func: Func,
  region: Region,
  loop: Op,
  first: readonly Op[],
  holds: Value,
  demands: Demands,
): boolean {
  const at = region.ops.indexOf(loop);
  region.ops.splice(at, 0, ...first);
  const analysis = new AffineAnalysis(func);
  const constraints = analysis.mask(holds);
  const isKnown = analysis.isWhole(holds) && constraints.length > 0 &&
    constraints.every(({ poly, observed }) =>
      [poly, ...observed.map((one) => one.poly)].every((one) => !varies(one)) &&
      observed.every(({ below, where }) => below === undefined && where === undefined)
    );
  region.ops.splice(at, first.length);
  if (!isKnown) return false;
  for (const { poly, observed } of constraints) {
    demands.atMost(polyExpr(poly), 0n);
    for (const { poly: number, type } of observed) {
      if (constantOf(number) !== undefined) continue;
      const { min, max } = limitsOfType(type);
      demands.atMost(polyExpr(number), max);
      demands.atLeast(polyExpr(number), min);
    }
  }
  return true;
}

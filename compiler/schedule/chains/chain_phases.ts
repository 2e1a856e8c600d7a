/**
 * The phases of an iteration of a chain whose dots overlap (overlapped_chain.ts): phase i has what needs the result of
 * the i-th dot of boxes, and of none after it. What needs no dot is in the first phase that uses it.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op, Value } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import type { ChainDot, ChainPlan } from "./chain_plan.ts";

export interface Phases {
  /** Dots of boxes, each the first of a phase. */
  readonly ofBoxes: readonly ChainDot[];
  /** The other dots, which add to what the loop carries, by phase of their operands. */
  readonly later: readonly (readonly ChainDot[])[];
  /** By operation of the loop's body, without the dots of boxes. */
  readonly phaseOf: ReadonlyMap<Op, number>;
  /** By phase: what comes of its dot and is used by later ones, or by the next iteration. */
  readonly held: readonly (readonly Value[])[];
}

export function phasesOf({ loop, dots }: ChainPlan): Phases {
  const { body } = loopOf(loop);
  const ofBoxes = dots.filter(({ a }) => a !== undefined);
  const others = dots.filter(({ a }) => a === undefined);
  const last = ofBoxes.length - 1;
  const results = new Map(ofBoxes.map(({ dot }, i) => [resultOf(dot), i]));
  const adding = new Set<Op>(others.map(({ dot }) => dot));
  // Dots that add to sums keep their order.
  let reached = 0;
  const needed = new Map<Value, number>(results);
  const phaseOf = new Map<Op, number>();
  for (const op of body.ops) {
    if (op.results.some((value) => results.has(value))) continue;
    let phase = Math.max(-1, ...valuesIn(op).map((value) => needed.get(value) ?? -1));
    if (adding.has(op)) reached = phase = Math.max(phase, reached);
    phaseOf.set(op, phase);
    if (!adding.has(op)) { for (const value of op.results) needed.set(value, phase); }
  }
  const held = ofBoxes.map((): Value[] => []);
  const firstUse = new Map<Value, number>();
  const end = body.ops.at(-1);
  for (const op of body.ops.toReversed()) {
    const found = phaseOf.get(op);
    if (found === undefined) continue;
    const uses = op.results.map((value) => firstUse.get(value) ?? last);
    const phase = op === end ? last + 1 : found >= 0 ? found : Math.min(last, ...uses);
    phaseOf.set(op, Math.min(phase, last));
    for (const value of valuesIn(op)) {
      firstUse.set(value, Math.min(firstUse.get(value) ?? last, phase));
      const from = needed.get(value) ?? -1;
      const list = held[from];
      if (list !== undefined && from < phase && !list.includes(value)) list.push(value);
    }
  }
  const later = ofBoxes.map((_, phase) => others.filter(({ dot }) => phaseOf.get(dot) === phase));
  return { ofBoxes, later, phaseOf, held };
}

/** What an operation and those inside of it take. */
function valuesIn(op: Op): readonly Value[] {
  return [...op.operands, ...op.regions.flatMap(({ ops }) => ops.flatMap(valuesIn))];
}

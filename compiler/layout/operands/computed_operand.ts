/**
 * Operands of dots that are computed element by element from one loaded tile: `max(a, 0) @ b`, `(a * s) @ b` with a number or
 * a vector s, `a @ (half[K, N])b`. Copies bring the tile into shared memory, where each thread takes what it has copied and
 * stores what is computed from it in the slot of the operand, before warp groups multiply it.
 */
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { bytesOf, sameShape } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";

/** A value that is computed from a loaded tile. */
export interface Computed {
  readonly value: Value;
  readonly load: OpOf<"load">;
  /** Loads of vectors that are spread over it. */
  readonly vectors: readonly OpOf<"load">[];
}

/** What an operand, maybe permuted, is computed from; undefined where it is loaded itself, or from several tiles. */
export function computedOperand(operand: Value): Computed | undefined {
  let value = operand;
  for (let { def } = value; def?.name === "permute" || def?.name === "convert_layout";) {
    ({ value } = operandsOf(def));
    ({ def } = value);
  }
  const loads = new Set<OpOf<"load">>();
  const vectors: OpOf<"load">[] = [];
  const seen = new Set<Value>();
  const queue = [value];
  for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
    const { def } = one;
    if (def === undefined || seen.has(one)) continue;
    seen.add(one);
    if (def.name === "load" && sameShape(one.type.shape, value.type.shape)) loads.add(def);
    else if (def.name === "load") vectors.push(def);
    else if (hasTrait(def, "elementwise")) queue.push(...def.operands);
    else if (def.name === "broadcast" || def.name === "expand_dims") queue.push(...def.operands);
  }
  const [load, ...others] = loads;
  const isOwn = load !== undefined && others.length === 0 && value.def !== load &&
    operandsOf(load).other === undefined &&
    bytesOf(resultOf(load).type.element) <= bytesOf(value.type.element);
  return isOwn ? { value, load, vectors } : undefined;
}

/** Loads of vectors that are spread over what operands of some dots are computed from. */
export function vectorsOfComputed(
  { body }: Func,
  suits: (dot: OpOf<"dot">) => boolean,
): ReadonlySet<Op> {
  const found = new Set<Op>();
  walkOps(body, (op) => {
    if (op.name !== "dot" || !suits(op)) return;
    const { a, b } = operandsOf(op);
    for (const operand of [a, b]) {
      for (const load of computedOperand(operand)?.vectors ?? []) found.add(load);
    }
  });
  return found;
}

/** The most operations between a load and the dot whose left operand is computed from it. */
const MOST_STEPS = 8;

/** The dot whose left operand is computed from a load, element by element, if nothing else is. */
export function dotOfComputed(
  load: OpOf<"load">,
  users: ReadonlyMap<Value, readonly Op[]>,
): OpOf<"dot"> | undefined {
  let value = resultOf(load);
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const [user, ...others] = users.get(value) ?? [];
    if (user === undefined || others.length > 0) return undefined;
    if (user.name === "dot") {
      return steps > 0 && operandsOf(user).a === value ? user : undefined;
    }
    const [result] = user.results;
    if (!hasTrait(user, "elementwise") || result === undefined) return undefined;
    value = result;
  }
  return undefined;
}

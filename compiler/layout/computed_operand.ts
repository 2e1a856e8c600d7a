/**
 * Operands of dots that are computed element by element from one loaded tile of the same type: `max(a, 0) @ b`, `(a * s) @ b`
 * with a number or a vector s. Copies bring the tile into the slot of the operand, where each thread replaces what it has
 * copied by what is computed from it, before warp groups multiply it.
 */
import type { OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { sameShape } from "../ir/types.ts";

/** A value that is computed from a loaded tile. */
export interface Computed {
  readonly value: Value;
  readonly load: OpOf<"load">;
}

/** What an operand, maybe permuted, is computed from; undefined where it is loaded itself, or from several tiles. */
export function computedOperand(operand: Value): Computed | undefined {
  let value = operand;
  for (let { def } = value; def?.name === "permute" || def?.name === "convert_layout";) {
    ({ value } = operandsOf(def));
    ({ def } = value);
  }
  const loads = new Set<OpOf<"load">>();
  const seen = new Set<Value>();
  const queue = [value];
  for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
    const { def } = one;
    if (def === undefined || seen.has(one)) continue;
    seen.add(one);
    if (def.name === "load" && sameShape(one.type.shape, value.type.shape)) loads.add(def);
    else if (hasTrait(def, "elementwise")) queue.push(...def.operands);
  }
  const [load, ...others] = loads;
  const isOwn = load !== undefined && others.length === 0 && value.def !== load &&
    operandsOf(load).other === undefined &&
    load.results.every(({ type }) => type.element === value.type.element);
  return isOwn ? { value, load } : undefined;
}

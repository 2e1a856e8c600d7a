/**
 * Loads that repeat: what no program writes is loaded once from an address, and under a condition, as long as the scope is
 * open. So loads of a tile that are shifted by an element each, as those of a filter over a picture, load what they have in
 * common once, where the shift changes registers alone.
 */
import type { Func, OpOf, Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { rootsOf } from "../../ir/pointer_roots.ts";
import type { Operand } from "../../ptx/func.ts";
import type { Ref } from "../element.ts";
import type { LowerContext } from "../context.ts";
import { operandKey } from "../emitter.ts";

export function repeatedLoads(func: Func): LowerContext["repeated"] {
  const readOnly = new Set(func.params.filter((_, i) => func.paramFacts[i]?.readonly === true));
  const rootOf = rootsOf(func, new Set(func.params));
  const isReadOnly = (pointer: Value): boolean => {
    const root = readOnly.size === 0 ? undefined : rootOf(pointer);
    return root !== undefined && readOnly.has(root);
  };
  return { isReadOnly, known: new WeakMap() };
}

/** What an access gives: one that was emitted before in this scope, or `load`. */
export function loadedOnce(
  { emitter: { scope }, repeated: { isReadOnly, known } }: LowerContext,
  op: OpOf<"load">,
  [spelling, address, guard]: readonly [string, Operand, Operand | "always"],
  load: () => readonly Ref[],
): readonly Ref[] {
  const { pointer, other } = operandsOf(op);
  const { modifiers, slice } = op.attrs;
  // Then the result depends on address and mask alone.
  const isPlain = other === undefined && modifiers.length === 0 && slice === undefined;
  if (!isPlain || !isReadOnly(pointer)) return load();
  const condition = guard === "always" ? guard : operandKey(guard);
  const key = `${spelling} ${operandKey(address)} ${condition}`;
  const ofScope = known.get(scope) ?? new Map<string, readonly Ref[]>();
  known.set(scope, ofScope);
  const refs = ofScope.get(key) ?? load();
  ofScope.set(key, refs);
  return refs;
}

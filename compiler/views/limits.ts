/** Intervals of integers, and of what types hold. */
import { constant } from "../contract/expr.ts";
import { hull, type Limits, limitsOfType } from "../contract/magnitude.ts";
import type { ContractExpr } from "../contract/types.ts";
import type { Value } from "../ir/func.ts";
import { isPointer } from "../ir/types.ts";
import { SCALARS } from "../support/scalar.ts";

export const INT64: Limits = limitsOfType("int64");
export const within = (inner: Limits, outer: Limits): boolean =>
  inner.min >= outer.min && inner.max <= outer.max;

export function typeLimits({ type: { element } }: Value): Limits {
  return isPointer(element) || SCALARS[element].class !== "int" ? INT64 : limitsOfType(element);
}

export function times(a: Limits, b: Limits): Limits {
  return hull([a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max]);
}

/** A limit as an expression; numbers beyond what expressions hold are at their ends. */
export function limitExpr(value: bigint): ContractExpr {
  const end = BigInt(Number.MAX_SAFE_INTEGER);
  return constant(value > end ? end : value < -end ? -end : value);
}

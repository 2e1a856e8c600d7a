/**
 * The least and the greatest element of a tile of integers that are a scalar plus ranges, as scalars:
 *
 *     (n + (0 … 63)) * 2 + m     n * 2 + m and n * 2 + m + 126
 *
 * The scalars may be anything, so their sums with a range may wrap around; `inOrder` says when they do not.
 */
import type { Value } from "../ir/func.ts";
import { constantOf } from "../ir/op.ts";
import type { TileOp } from "../ir/ops.ts";
import { hasTrait } from "../ir/table.ts";
import { type Element, isPointer } from "../ir/types.ts";
import { intRange, isLossless, wrapInt } from "../support/arith.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { ScalarOps } from "./scalar_ops.ts";

export interface TileEnds {
  readonly least: Value;
  readonly most: Value;
  /** Scalar conditions under which all elements lie between the two: that no sum on the way from one to the other wraps around. */
  readonly inOrder: readonly Value[];
}

/** Integers of a tile: `base`, a scalar, or 0 if absent, plus numbers from `least` to `most`. */
interface Spread {
  readonly base: Value | undefined;
  readonly least: bigint;
  readonly most: bigint;
}

/** How many operations deep an index is looked at. */
const DEEPEST = 24;

/** The ends of a tile; undefined where it is made of anything else. */
export function tileEnds(tile: Value, scalars: ScalarOps): TileEnds | undefined {
  const inOrder: Value[] = [];

  const endsOf = (
    { base, least, most }: Spread,
    element: ScalarName,
  ): Omit<TileEnds, "inOrder"> | undefined => {
    const [lowest, highest] = intRange(element);
    if (base === undefined) {
      if (least < lowest || most > highest) return undefined;
      return { least: scalars.constant(least, element), most: scalars.constant(most, element) };
    }
    // Else a range may go round all integers, and end in order.
    if (most - least > highest / 2n) return undefined;
    const plus = (count: bigint): Value =>
      count === 0n
        ? base
        : scalars.emit("add", [base, scalars.constant(wrapInt(count, element), element)], element);
    const [first, last] = [plus(least), plus(most)];
    if (least !== most) inOrder.push(scalars.emit("le", [first, last], "bool"));
    return { least: first, most: last };
  };

  const find = (value: Value, depth: number): Spread | undefined => {
    const { type: { element, shape }, def } = value;
    if (!isInteger(element)) return undefined;
    const constant = constantOf(value);
    if (typeof constant === "bigint") return { base: undefined, least: constant, most: constant };
    if (shape.length === 0) return { base: value, least: 0n, most: 0n };
    if (def === undefined || depth === 0) return undefined;
    const [first, second] = def.operands;
    if (def.name === "range") {
      const least = BigInt(def.attrs.lo);
      return { base: undefined, least, most: least + BigInt((shape[0] ?? 1) - 1) };
    }
    const left = first && find(first, depth - 1);
    if (first === undefined || left === undefined) return undefined;
    if (hasTrait(def, "reshapes") || def.name === "assume_multiple") return left;
    if (def.name === "convert") return widened(left, first, element);
    const right = second && find(second, depth - 1);
    return right && COMBINE[def.name]?.(left, right, element, scalars);
  };

  const widened = (spread: Spread, { type }: Value, to: ScalarName): Spread | undefined => {
    if (!isInteger(type.element) || !isLossless(type.element, to)) return undefined;
    const ends = endsOf(spread, type.element);
    return ends && {
      base: scalars.emit("convert", [ends.least], to),
      least: 0n,
      most: spread.most - spread.least,
    };
  };

  const { element } = tile.type;
  const spread = find(tile, DEEPEST);
  const ends = spread && isInteger(element) ? endsOf(spread, element) : undefined;
  return ends && { ...ends, inOrder };
}

function isInteger(element: Element): element is ScalarName {
  return !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";
}

type Combine = (
  left: Spread,
  right: Spread,
  element: ScalarName,
  scalars: ScalarOps,
) => Spread | undefined;

/** All modulo 2^bits, so sums may be taken in any order. */
const COMBINE: Readonly<Partial<Record<TileOp, Combine>>> = {
  add: (left, right, element, scalars) => ({
    base: left.base && right.base
      ? scalars.emit("add", [left.base, right.base], element)
      : left.base ?? right.base,
    least: left.least + right.least,
    most: left.most + right.most,
  }),
  sub: (left, right, element, scalars) => ({
    base: right.base === undefined
      ? left.base
      : left.base === undefined
      ? scalars.emit("neg", [right.base], element)
      : scalars.emit("sub", [left.base, right.base], element),
    least: left.least - right.most,
    most: left.most - right.least,
  }),
  mul: (left, right, element, scalars) => {
    if (!isConstant(left) && !isConstant(right)) return undefined;
    const [{ base, least, most }, { least: factor }] = isConstant(right)
      ? [left, right]
      : [right, left];
    return {
      base: base && scalars.emit("mul", [base, scalars.constant(factor, element)], element),
      least: factor < 0n ? most * factor : least * factor,
      most: factor < 0n ? least * factor : most * factor,
    };
  },
};

const isConstant = ({ base, least, most }: Spread): boolean => base === undefined && least === most;

/** add, sub, mul, fma, mad, div, rcp, sqrt of doubles. To nearest they are native; otherwise exact, then rounded. */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import type { LaneOperation } from "../machine.ts";
import {
  addExact,
  divideExact,
  encodeExact,
  type Exact,
  exactOf,
  multiplyExact,
  rootExact,
} from "./exact.ts";
import { fma64 } from "./fma.ts";
import { FORMATS } from "./formats.ts";
import { bitsOfDouble, doubleOf } from "./pun.ts";
import { firstNan } from "./nan.ts";
import { type Rounding, zeroSum } from "./rounding.ts";
import { laneOperation, ofLongs, type Spelling } from "./spelling.ts";

interface DoubleOperation {
  /** Rounded to nearest; right about infinities and NaN, too. */
  readonly native: (a: number, b: number, c: number) => number;
  readonly exact: (a: Exact, b: Exact, c: Exact) => Exact;
  /** The terms that are added, if the result is a sum. */
  readonly terms?: (a: number, b: number, c: number) => readonly [number, number];
  /** Whether the result is infinite though the operands are not, without overflow. */
  readonly pole?: (a: number, b: number) => boolean;
  /** Whose payload a NaN result has: that of the first of these which is NaN (as measured on an H200). */
  readonly payload?: (a: bigint, b: bigint, c: bigint) => bigint;
}

const swapped: DoubleOperation["payload"] = (a, b) => firstNan(b, a);

const negated = ({ mantissa, exponent }: Exact): Exact => ({ mantissa: -mantissa, exponent });
const ONE: Exact = { mantissa: 1n, exponent: 0 };

const fma: DoubleOperation = {
  native: fma64,
  exact: (a, b, c) => addExact(multiplyExact(a, b), c),
  terms: (a, b, c) => [a * b, c],
  payload: (a, b, c) => firstNan(b, c, a),
};

const OPERATIONS: Readonly<Record<string, DoubleOperation>> = {
  add: {
    native: (a, b) => a + b,
    exact: addExact,
    terms: (a, b) => [a, b],
    payload: swapped,
  },
  sub: {
    native: (a, b) => a - b,
    exact: (a, b) => addExact(a, negated(b)),
    terms: (a, b) => [a, -b],
    payload: swapped,
  },
  mul: { native: (a, b) => a * b, exact: multiplyExact, payload: swapped },
  fma,
  mad: fma,
  div: { native: (a, b) => a / b, exact: divideExact, pole: (_, b) => b === 0 },
  rcp: { native: (a) => 1 / a, exact: (a) => divideExact(ONE, a), pole: (a) => a === 0 },
  sqrt: { native: (a) => Math.sqrt(a), exact: rootExact },
};

/** Rounds the exact result, unless the native one is infinite or NaN for another reason than overflow. */
function directed(
  { native, exact, terms, pole }: DoubleOperation,
  rounding: Rounding,
): DoubleOperation["native"] {
  return (a, b, c) => {
    const nearest = native(a, b, c);
    const finite = Number.isFinite(a) && Number.isFinite(b) && Number.isFinite(c);
    if (!finite || nearest !== nearest || pole?.(a, b) === true) return nearest;
    const result = exact(exactOf(a), exactOf(b), exactOf(c));
    if (result.mantissa !== 0n) {
      return doubleOf(BigInt(encodeExact(FORMATS.f64, result, rounding)));
    }
    return terms === undefined ? nearest : zeroSum(...terms(a, b, c), rounding);
  };
}

/** Arithmetic on doubles. */
export function doubleArithmetic(match: Match, { rounding }: Spelling): LaneOperation {
  const operation = must(OPERATIONS[match.opcode], match.opcode);
  const compute = rounding === "rn" ? operation.native : directed(operation, rounding);
  const { payload = firstNan } = operation;
  return laneOperation(
    match,
    ofLongs((a, b, c) => {
      const result = compute(doubleOf(a), doubleOf(b), doubleOf(c));
      return result === result ? bitsOfDouble(result) : payload(a, b, c);
    }),
  );
}

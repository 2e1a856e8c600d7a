/**
 * The `.approx` and `.full` instructions. They are computed in double precision and rounded to nearest, so errors
 * are at most half a unit in the last place, far within what the ISA allows; special values are as in its tables.
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import type { LaneOperation } from "../machine.ts";
import { decoder } from "./decode.ts";
import { finisher } from "./finish.ts";
import { firstNan } from "./nan.ts";
import { eachElement } from "./packed.ts";
import { bitsOfDouble, doubleOf } from "./pun.ts";
import { laneOperation, ofLongs, type Packed, type Spelling } from "./spelling.ts";

/** a * (1 / b), where 1 / b is flushed to zero if it is subnormal. */
function approximateQuotient(a: number, b: number): number {
  const size = Math.abs(b);
  return size > 2 ** 126 && size < 2 ** 128 ? a * (b > 0 ? 0 : -0) : a / b;
}

const FUNCTIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  div: approximateQuotient,
  rcp: (a) => 1 / a,
  sqrt: (a) => Math.sqrt(a),
  rsqrt: (a) => 1 / Math.sqrt(a),
  sin: (a) => Math.sin(a),
  cos: (a) => Math.cos(a),
  lg2: (a) => Math.log2(a),
  ex2: (a) => 2 ** a,
  tanh: (a) => Math.tanh(a),
};

/** Approximations in single precision and narrower. */
export function approximation(match: Match, spelling: Spelling, packed: Packed): LaneOperation {
  const { modifiers } = spelling;
  const ftz = modifiers.has("ftz");
  const compute = modifiers.has("full")
    ? (a: number, b: number): number => a / b
    : must(FUNCTIONS[match.opcode], match.opcode);
  const decode = decoder(packed.format, ftz);
  const finish = finisher(packed.format, { rounding: "rn", ftz });
  return laneOperation(
    match,
    eachElement(
      packed,
      match.operands.length === 3
        ? (a, b) => finish(compute(decode(a), decode(b)))
        : (a) => finish(compute(decode(a), 0)),
    ),
  );
}

const HIGH = 0xffffffff00000000n;
const COARSE_NAN = 0x7fffffff00000000n;
const LEAST_NORMAL = 2 ** -1022;

/**
 * rcp and rsqrt `.approx.ftz.f64`: of the high word alone, and only the high word of the result. Which of the two
 * neighbours that word is, the ISA leaves open; here it is cut off. A NaN whose payload is in the low word is infinity.
 */
function coarse(compute: (a: number) => number): (a: bigint) => bigint {
  return (bits) => {
    const high = doubleOf(bits & HIGH);
    const value = Math.abs(high) < LEAST_NORMAL ? 0 * high : high;
    const result = compute(value);
    if (result !== result) return COARSE_NAN;
    const cut = bitsOfDouble(result) & HIGH;
    return Math.abs(doubleOf(cut)) < LEAST_NORMAL ? cut & (1n << 63n) : cut;
  };
}

/** rcp and rsqrt of doubles. */
export function doubleApproximation(match: Match, { modifiers }: Spelling): LaneOperation {
  const compute: (a: number) => number = match.opcode === "rcp"
    ? (a) => 1 / a
    : (a) => 1 / Math.sqrt(a);
  if (modifiers.has("ftz")) return laneOperation(match, ofLongs(coarse(compute)));
  return laneOperation(
    match,
    ofLongs((a) => {
      const result = compute(doubleOf(a));
      return result === result ? bitsOfDouble(result) : firstNan(a);
    }),
  );
}

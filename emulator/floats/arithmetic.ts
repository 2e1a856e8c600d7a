/** add, sub, mul, fma, mad, div, rcp, sqrt of singles and narrower, in double precision. */
import type { Match } from "../../compiler/ptx/match.ts";
import { bug, must } from "../../compiler/support/bug.ts";
import type { LaneOperation } from "../machine.ts";
import { type Decoder, decoder } from "./decode.ts";
import type { Encoder } from "./encode.ts";
import { finisher } from "./finish.ts";
import { narrowFma } from "./fma.ts";
import { FORMATS } from "./formats.ts";
import { eachElement } from "./packed.ts";
import { type Rounding, sumToOdd, zeroSum } from "./rounding.ts";
import {
  laneOperation,
  ofWords,
  type Packed,
  packedOf,
  type Spelling,
  type WordOperation,
} from "./spelling.ts";

/** An operation whose result is exact, or on the right side of all that the narrow format has. */
type Core = (a: number, b: number, c: number) => number;

/** Sums to be rounded to nearest need no care: a double has more than twice the bits of the format. */
function add(rounding: Rounding): Core {
  if (rounding === "rn") return (a, b) => a + b;
  if (rounding !== "rm") return sumToOdd;
  return (a, b) => {
    const sum = sumToOdd(a, b);
    return sum === 0 ? zeroSum(a, b, rounding) : sum;
  };
}

function subtract(rounding: Rounding): Core {
  const sum = add(rounding);
  return (a, b) => sum(a, -b, 0);
}

function fma(rounding: Rounding): Core {
  if (rounding !== "rm") return narrowFma;
  return (a, b, c) => {
    const sum = narrowFma(a, b, c);
    return sum === 0 ? zeroSum(a * b, c, rounding) : sum;
  };
}

/**
 * By opcode. Products of 24-bit significands are exact in a double; quotients and roots that are not exact are
 * further from every 25-bit number than the error of a double (it has more than 2 * 24 + 2 bits).
 */
const CORES: Readonly<Record<string, (rounding: Rounding) => Core>> = {
  add,
  sub: subtract,
  mul: () => (a, b) => a * b,
  fma,
  mad: fma,
  div: () => (a, b) => a / b,
  rcp: () => (a) => 1 / a,
  sqrt: () => (a) => Math.sqrt(a),
};

/** Decodes, computes, finishes: written out by number of sources, to keep calls short. */
function operationOf(match: Match, core: Core, decode: Decoder, finish: Encoder): WordOperation {
  switch (match.operands.length) {
    case 2:
      return (a) => finish(core(decode(a), 0, 0));
    case 3:
      return (a, b) => finish(core(decode(a), decode(b), 0));
    case 4:
      return (a, b, c) => finish(core(decode(a), decode(b), decode(c)));
    default:
      bug(`${match.opcode} with ${match.operands.length} operands`);
  }
}

/** The NaN, of either sign, that fills in for elements outside of a tensor. The ISA does not say; measured on an H200. */
const OUT_OF_BOUNDS = 0x7ff7;

/** `.oob`: products with what is out of bounds make the result 0. */
const guarded = (operation: WordOperation): WordOperation => (a, b, c) =>
  (a & 0x7fff) === OUT_OF_BOUNDS || (b & 0x7fff) === OUT_OF_BOUNDS ? 0 : operation(a, b, c);

/** Arithmetic on one format. */
export function arithmetic(match: Match, spelling: Spelling, packed: Packed): LaneOperation {
  const { modifiers, rounding } = spelling;
  const ftz = modifiers.has("ftz");
  const core = must(CORES[match.opcode], match.opcode)(rounding);
  const finish = finisher(packed.format, {
    rounding,
    ftz,
    sat: modifiers.has("sat"),
    relu: modifiers.has("relu"),
  });
  const operation = operationOf(match, core, decoder(packed.format, ftz), finish);
  return laneOperation(
    match,
    eachElement(packed, modifiers.has("oob") ? guarded(operation) : operation),
  );
}

/** add, sub and fma of singles with narrower sources: `.f32.f16`, `.f32.bf16`. */
export function mixedArithmetic(match: Match, spelling: Spelling): LaneOperation {
  const { modifiers, rounding, types } = spelling;
  const narrow = decoder(must(packedOf(types[1] ?? ""), "narrow type").format);
  const single = decoder(FORMATS.f32);
  const core = must(CORES[match.opcode], match.opcode)(rounding);
  const finish = finisher(FORMATS.f32, { rounding, sat: modifiers.has("sat") });
  return laneOperation(
    match,
    ofWords(
      match.opcode === "fma"
        ? (a, b, c) => finish(core(narrow(a), narrow(b), single(c)))
        : (a, c) => finish(core(narrow(a), single(c), 0)),
    ),
  );
}

/** Floating-point instructions. In: an instruction on each lane alone. Out: a function of the lane's bits, exact in all roundings. */
import type { Match } from "../../compiler/ptx/match.ts";
import type { LaneOperation } from "../machine.ts";
import { approximation, doubleApproximation } from "./approximate.ts";
import { arithmetic, mixedArithmetic } from "./arithmetic.ts";
import { extreme } from "./compare.ts";
import { conversion } from "./convert.ts";
import { packedConversion } from "./convert_packed.ts";
import { doubleArithmetic } from "./double.ts";
import { copySign, signOperation, testProperty } from "./sign.ts";
import { type Packed, packedOf, type Spelling, spellingOf } from "./spelling.ts";

export { floatComparison } from "./compare.ts";
export { BF16_TO_F32, decode, E4M3_TO_F32, E5M2_TO_F32, F16_TO_F32 } from "./decode.ts";
export { encode, encoder, roundToBf16, roundToF16, roundToTf32 } from "./encode.ts";
export { fma64, narrowFma } from "./fma.ts";
export { type Format, type FormatName, FORMATS } from "./formats.ts";
export { type Rounding, roundToSingle } from "./rounding.ts";

/** How to read an instruction whose types are floats, the first of which is given. */
type Reader = (match: Match, spelling: Spelling, packed: Packed) => LaneOperation;

const readArithmetic: Reader = (match, spelling, packed) => {
  if (spelling.modifiers.has("approx") || spelling.modifiers.has("full")) {
    return packed.format.bits === 64
      ? doubleApproximation(match, spelling)
      : approximation(match, spelling, packed);
  }
  if (spelling.types.length === 2) return mixedArithmetic(match, spelling);
  return packed.format.bits === 64
    ? doubleArithmetic(match, spelling)
    : arithmetic(match, spelling, packed);
};

const READERS: Readonly<Record<string, Reader>> = {
  add: readArithmetic,
  sub: readArithmetic,
  mul: readArithmetic,
  mad: readArithmetic,
  fma: readArithmetic,
  div: readArithmetic,
  rcp: readArithmetic,
  sqrt: readArithmetic,
  rsqrt: readArithmetic,
  sin: readArithmetic,
  cos: readArithmetic,
  lg2: readArithmetic,
  ex2: readArithmetic,
  tanh: readArithmetic,
  neg: signOperation,
  abs: signOperation,
  min: extreme,
  max: extreme,
  testp: testProperty,
  copysign: (match, _, packed) => copySign(match, packed),
};

/** What an instruction on floats does to a lane; undefined if it is none. */
export function floatOperation(match: Match): LaneOperation | undefined {
  const spelling = spellingOf(match);
  const packed = spelling.types.map(packedOf);
  if (match.opcode === "cvt") {
    return packed.some((each) => each !== undefined && each.count > 1)
      ? packedConversion(match, spelling)
      : conversion(match, spelling);
  }
  const reader = Object.hasOwn(READERS, match.opcode) ? READERS[match.opcode] : undefined;
  const [first] = packed;
  return first === undefined ? undefined : reader?.(match, spelling, first);
}

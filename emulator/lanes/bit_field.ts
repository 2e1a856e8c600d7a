/** Fields of bits (PTX ISA 9.0, 9.7.1.19 to 9.7.1.22). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { LaneOperation } from "../machine.ts";
import { bitsOf, isSigned, wideReader } from "./integer.ts";
import { laneOf, modifiersOf, typeOf } from "./shape.ts";

/** Positions and lengths of bfe and bfi: their low byte. */
const BYTE = 0xff;

/**
 * bfe. Bits beyond the top are those of the sign of the field, which is the highest bit that the field has in a.
 * A signed shift does just that: first drop what is above the field, then what is below.
 */
function extract(match: Match): LaneOperation {
  const type = typeOf(match);
  const { bits } = TYPES[type];
  const signed = isSigned(type);
  const read = wideReader(bits, signed);
  const write = bitsOf(bits);
  return laneOf(match, (a, b, c) => {
    const length = Number(c) & BYTE;
    if (length === 0) return write(0n);
    const field = read(a) >> BigInt(Number(b) & BYTE);
    return write(signed ? BigInt.asIntN(length, field) : BigInt.asUintN(length, field));
  });
}

function insert(match: Match): LaneOperation {
  const { bits } = TYPES[typeOf(match)];
  const write = bitsOf(bits);
  return laneOf(match, (a, b, c, d) => {
    const position = BigInt(Number(c) & BYTE);
    const field = ((1n << BigInt(Number(d) & BYTE)) - 1n) << position;
    return write((BigInt(b) & ~field) | ((BigInt(a) << position) & field));
  });
}

function extend(match: Match): LaneOperation {
  const clamps = modifiersOf(match).has("clamp");
  const signed = isSigned(typeOf(match));
  return laneOf(match, (a, b) => {
    const [value, count] = [Number(a), Number(b)];
    if (clamps && count >= 32) return value;
    const shift = 32 - (count & 31);
    if (shift === 32) return 0;
    return signed ? ((value << shift) >> shift) >>> 0 : (value << shift) >>> shift;
  });
}

/** bmsk: ones from bit a on, b of them; what goes beyond the top is dropped. */
function ones(match: Match): LaneOperation {
  const clamps = modifiersOf(match).has("clamp");
  return laneOf(match, (a, b) => {
    const [from, count] = [Number(a), Number(b)];
    if (clamps && from >= 32) return 0;
    const above = 0xffffffff << (from & 31);
    if (clamps && count >= 32) return above >>> 0;
    const end = (from & 31) + (count & 31);
    return (end >= 32 ? above : above & ~(0xffffffff << end)) >>> 0;
  });
}

export const BIT_FIELD: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  bfe: extract,
  bfi: insert,
  szext: extend,
  bmsk: ones,
};

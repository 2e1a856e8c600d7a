/** Logic on bits and predicates (PTX ISA 9.0, 9.7.8.1 to 9.7.8.6). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { bitsOf } from "./integer.ts";
import { laneOf, literalOf, modifiersOf, typeOf } from "./shape.ts";

function binary(
  narrow: (a: number, b: number) => number,
  wide: (a: bigint, b: bigint) => bigint,
): (match: Match) => LaneOperation {
  return (match) =>
    TYPES[typeOf(match)].bits > 32
      ? laneOf(match, (a, b) => wide(BigInt(a), BigInt(b)))
      : laneOf(match, (a, b) => narrow(Number(a), Number(b)) >>> 0);
}

function not(match: Match): LaneOperation {
  const { bits } = TYPES[typeOf(match)];
  const write = bitsOf(bits);
  if (bits > 32) return laneOf(match, (a) => write(~BigInt(a)));
  const ones = bits === 32 ? 0xffffffff : (1 << bits) - 1;
  return laneOf(match, (a) => (Number(a) ^ ones) >>> 0);
}

function isZero(match: Match): LaneOperation {
  return TYPES[typeOf(match)].bits > 32
    ? laneOf(match, (a) => a === 0n ? 1n : 0n)
    : laneOf(match, (a) => a === 0 ? 1 : 0);
}

/** The bits of a, b and c together as numbers of three bits, looked up in a table of eight. */
function lookUp(table: number, a: number, b: number, c: number): number {
  let bits = 0;
  for (let entry = 0; entry < 8; entry++) {
    if (((table >>> entry) & 1) === 0) continue;
    bits |= (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
  }
  return bits >>> 0;
}

function ternary(match: Match): LaneOperation {
  const table = literalOf(match, "lut");
  const result = (a: Bits, b: Bits, c: Bits): number =>
    lookUp(table, Number(a), Number(b), Number(c));
  const isOr = modifiersOf(match).has("or");
  return laneOf(match, result, (a, b, c, q) => {
    const nonzero = result(a, b, c) === 0 ? 0 : 1;
    return isOr ? nonzero | Number(q) : nonzero & Number(q);
  });
}

export const LOGIC: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  and: binary((a, b) => a & b, (a, b) => a & b),
  or: binary((a, b) => a | b, (a, b) => a | b),
  xor: binary((a, b) => a ^ b, (a, b) => a ^ b),
  not,
  cnot: isZero,
  lop3: ternary,
};

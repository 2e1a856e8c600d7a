/** The same operation on both halves of packed operands. */
import type { LaneOperation } from "../machine.ts";
import { U32, U64 } from "./pun.ts";
import { long, ofWords, type Packed, type WordOperation } from "./spelling.ts";

const halves = (operation: WordOperation): WordOperation => (a, b, c) =>
  ((operation(a >>> 16, b >>> 16, c >>> 16) << 16) |
    operation(a & 0xffff, b & 0xffff, c & 0xffff)) >>> 0;

function lowOf(bits: bigint): number {
  return Number(BigInt.asUintN(32, bits));
}

function highOf(bits: bigint): number {
  return Number(bits >> 32n);
}

function join(low: number, high: number): bigint {
  U32[0] = low;
  U32[1] = high;
  return U64[0] ?? 0n;
}

const words = (operation: WordOperation): LaneOperation["evaluate"] => (first, second, third) => {
  const [a, b, c] = [long(first), long(second), long(third)];
  return join(
    operation(lowOf(a), lowOf(b), lowOf(c)),
    operation(highOf(a), highOf(b), highOf(c)),
  );
};

/** An operation on single elements as one on lanes: on each element of a packed type. */
export function eachElement(packed: Packed, operation: WordOperation): LaneOperation["evaluate"] {
  if (packed.count === 1) return ofWords(operation);
  return packed.stride === 32 ? words(operation) : ofWords(halves(operation));
}

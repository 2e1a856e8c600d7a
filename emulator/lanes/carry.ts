/**
 * Extended-precision integers (PTX ISA 9.0, 9.7.2). The condition code is one bit per thread; in the register file it
 * is a predicate word of its own, asked for as the special register `cc`. Operations take it as their last source and
 * give it as their second result.
 *
 * GPUs subtract by adding the complement: a borrow is a carry that is missing. So do we. The ISA's text has a borrow as
 * a 1, which is visible only where `addc` follows `sub.cc`, or `subc` follows `add.cc` (seen on an H200).
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { Bits, Handler, LaneOperation } from "../machine.ts";
import { bitsOf, isSigned, wideReader } from "./integer.ts";
import { laneRows } from "./rows.ts";
import { runLanes } from "./run.ts";
import { type Evaluate, laneOf, modifiersOf, typeOf } from "./shape.ts";

const CONDITION = { kind: "special", name: "cc" } as const;

/** The sum before it wraps; what is beyond its width is the carry. */
type Exact = (a: Bits, b: Bits, c: Bits, d: Bits) => bigint;

function exactOf(match: Match): Exact {
  const { bits } = TYPES[typeOf(match)];
  switch (match.opcode) {
    case "add.cc":
      return (a, b) => BigInt(a) + BigInt(b);
    case "addc":
      return (a, b, carry) => BigInt(a) + BigInt(b) + BigInt(carry);
    case "sub.cc":
      return (a, b) => BigInt(a) + BigInt.asUintN(bits, ~BigInt(b)) + 1n;
    case "subc":
      return (a, b, carry) => BigInt(a) + BigInt.asUintN(bits, ~BigInt(b)) + BigInt(carry);
    default: {
      const read = wideReader(bits, isSigned(typeOf(match)));
      const isHigh = match.opcode === "mad.hi.cc" || modifiersOf(match).has("hi");
      const shift = isHigh ? BigInt(bits) : 0n;
      const half = (a: Bits, b: Bits): bigint => BigInt.asUintN(bits, (read(a) * read(b)) >> shift);
      return match.opcode === "madc"
        ? (a, b, c, carry) => half(a, b) + BigInt(c) + BigInt(carry)
        : (a, b, c) => half(a, b) + BigInt(c);
    }
  }
}

/** The operation of an instruction that reads or writes the condition code. */
export function carryOperation(match: Match): LaneOperation {
  const { bits } = TYPES[typeOf(match)];
  const exact = exactOf(match);
  const write = bitsOf(bits);
  const evaluate: Evaluate = (a, b, c, d) => write(exact(a, b, c, d));
  const { sources, result } = laneOf(match, evaluate);
  const limit = BigInt(bits);
  const carry: Evaluate = (a, b, c, d) => exact(a, b, c, d) >> limit === 0n ? 0 : 1;
  return {
    sources: readsCondition(match) ? [...sources, 1] : sources,
    result,
    evaluate,
    more: writesCondition(match) ? [{ result: 1, evaluate: carry }] : [],
  };
}

const readsCondition = (match: Match): boolean => /^(?:add|sub|mad)c$/.test(match.opcode);
const writesCondition = (match: Match): boolean =>
  match.opcode.endsWith(".cc") || modifiersOf(match).has("cc");

const carry: Handler = (match, context) => {
  const operation = carryOperation(match);
  const { sources, results } = laneRows(match, context);
  const condition = context.row(CONDITION, "pred");
  return runLanes(
    operation,
    readsCondition(match) ? [...sources, { row: condition, invert: 0 }] : sources,
    writesCondition(match) ? [...results, condition] : results,
    context.machine,
  );
};

/** What compiles each of these instructions. */
export const CARRY_HANDLERS: Readonly<Record<string, Handler>> = {
  "add.cc": carry,
  addc: carry,
  "sub.cc": carry,
  subc: carry,
  "mad.lo.cc": carry,
  "mad.hi.cc": carry,
  madc: carry,
};

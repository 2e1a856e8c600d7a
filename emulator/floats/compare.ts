/** Comparisons, min and max. */
import type { Match } from "../../compiler/ptx/match.ts";
import type { TypeName } from "../../compiler/ptx/types.ts";
import { must } from "../../compiler/support/bug.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { decoder } from "./decode.ts";
import { encoder } from "./encode.ts";
import { firstNan } from "./nan.ts";
import { eachElement } from "./packed.ts";
import { bitsOfDouble, doubleOf } from "./pun.ts";
import {
  laneOperation,
  long,
  ofLongs,
  type Packed,
  packedOf,
  type Spelling,
  word,
  type WordOperation,
} from "./spelling.ts";

type Relation = (a: number, b: number) => boolean;

/** Ordered ones are false of NaN, unordered ones true. */
const RELATIONS: Readonly<Record<string, Relation>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a < b || a > b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  equ: (a, b) => !(a < b || a > b),
  neu: (a, b) => a !== b,
  ltu: (a, b) => !(a >= b),
  leu: (a, b) => !(a > b),
  gtu: (a, b) => !(a <= b),
  geu: (a, b) => !(a < b),
  num: (a, b) => a === a && b === b,
  nan: (a, b) => a !== a || b !== b,
};

/** How two values of a floating type compare: `lt`, `geu`, `num`, …; with `ftz`, subnormal numbers are zeros. */
export function floatComparison(
  type: TypeName,
  comparison: string,
  ftz: boolean,
): (a: Bits, b: Bits) => boolean {
  const relation = must(RELATIONS[comparison], `comparison ${comparison}`);
  const { format } = must(packedOf(type), `format of ${type}`);
  if (format.bits === 64) return (a, b) => relation(doubleOf(long(a)), doubleOf(long(b)));
  const decode = decoder(format, ftz);
  return (a, b) => relation(decode(word(a)), decode(word(b)));
}

type Choice = (a: number, b: number) => number;

/** The smaller or the larger, -0 below +0; of a number and NaN the number unless `nanWins`. */
function choiceOf(opcode: string, nanWins: boolean): Choice {
  const choose: Choice = opcode === "min" ? Math.min : Math.max;
  if (nanWins) return choose;
  return (a, b) => a !== a ? b : b !== b ? a : choose(a, b);
}

/** min and max, of two or three. */
export function extreme(match: Match, spelling: Spelling, packed: Packed): LaneOperation {
  const { modifiers } = spelling;
  const { format } = packed;
  const choose = choiceOf(match.opcode, modifiers.has("NaN"));
  if (format.bits === 64) {
    return laneOperation(
      match,
      ofLongs((a, b) => {
        const chosen = choose(doubleOf(a), doubleOf(b));
        return chosen === chosen ? bitsOfDouble(chosen) : firstNan(b, a);
      }),
    );
  }
  const decode = decoder(format, modifiers.has("ftz"));
  const encode = encoder(format, "rn");
  return laneOperation(match, eachElement(packed, wordExtreme()));

  function wordExtreme(): WordOperation {
    const three = match.operands.length === 4;
    const size = modifiers.has("abs") ? Math.abs : (value: number): number => value;
    if (three) {
      return (a, b, c) => encode(choose(choose(size(decode(a)), size(decode(b))), size(decode(c))));
    }
    if (!modifiers.has("abs")) return (a, b) => encode(choose(decode(a), decode(b)));
    const sign = 2 ** (format.bits - 1);
    return (a, b) => {
      const chosen = choose(size(decode(a)), size(decode(b)));
      return chosen === chosen ? (encode(chosen) | ((a ^ b) & sign)) >>> 0 : encode(chosen);
    };
  }
}

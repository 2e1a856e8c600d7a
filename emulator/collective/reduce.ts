/** redux.sync: values of lanes combined (PTX ISA 9.0, 9.7.13.12). */
import type { Match } from "../../compiler/ptx/match.ts";
import { LANES } from "../register_file.ts";
import { modifiersOf, typeOf } from "../lanes/shape.ts";
import type { Handler } from "../machine.ts";
import { destinationRows, sourceRow, storeWord } from "./words.ts";

/** Combines two words. */
type Combine = (a: number, b: number) => number;

const BITS: Readonly<Record<string, Combine>> = {
  add: (a, b) => (a + b) | 0,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

const CANONICAL_NAN = 0x7fffffff;
const isNan = (word: number): boolean => (word & CANONICAL_NAN) > 0x7f800000;

/** Floats in their order as signed integers; -0 is below +0. */
const rank = (word: number): number => word < 0 ? word ^ 0x7fffffff : word;

/** min or max of floats: NaN wins with `.NaN`, and loses without; the result is canonical. */
function floatExtreme(isMin: boolean, nanWins: boolean): Combine {
  return (a, b) => {
    if (isNan(a) || isNan(b)) {
      if (nanWins || (isNan(a) && isNan(b))) return CANONICAL_NAN;
      return isNan(a) ? b : a;
    }
    return (rank(a) < rank(b)) === isMin ? a : b;
  };
}

function combineOf(match: Match): Combine {
  const modifiers = modifiersOf(match);
  const plain = Object.keys(BITS).find((name) => modifiers.has(name));
  if (plain !== undefined) return BITS[plain] ?? ((a) => a);
  const isMin = modifiers.has("min");
  switch (typeOf(match, "a")) {
    case "f32":
      return floatExtreme(isMin, modifiers.has("NaN"));
    case "s32":
      return (a, b) => (a < b) === isMin ? a : b;
    default:
      return (a, b) => ((a >>> 0) < (b >>> 0)) === isMin ? a : b;
  }
}

const reduce: Handler = (match, context) => {
  const combine = combineOf(match);
  const isFloat = typeOf(match, "a") === "f32";
  // .abs drops the sign.
  const bits = modifiersOf(match).has("abs") ? 0x7fffffff : -1;
  const a = sourceRow(match, context);
  const [d] = destinationRows(match, context);
  const { machine } = context;
  return (w, mask) => {
    const { i32 } = machine.views;
    const first = 31 - Math.clz32(mask & -mask);
    let total = (i32[((w + a) >>> 2) + first] ?? 0) & bits;
    for (let lane = first + 1; lane < LANES; lane++) {
      if ((mask >>> lane) & 1) total = combine(total, (i32[((w + a) >>> 2) + lane] ?? 0) & bits);
    }
    if (isFloat && isNan(total)) total = CANONICAL_NAN;
    storeWord(machine.views, w + d, total, mask);
  };
};

export const REDUCE: Readonly<Record<string, Handler>> = { "redux.sync": reduce };

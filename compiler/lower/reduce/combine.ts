/**
 * How reductions and scans combine elements. An accumulator is a list of words: one value, or for `argmax` and
 * `argmin` a key and an index. Keys are integers in the order of the values, so that one comparison serves all
 * types: NaN is below every number, and both zeros are one.
 */
import type { Operand } from "../../ptx/func.ts";
import type { Element } from "../../ir/types.ts";
import type { FoldOp } from "../../ir/ops.ts";
import { opsWith } from "../../ir/table.ts";
import { type ScalarName, SCALARS } from "../../support/scalar.ts";
import { lowerBinary } from "../arithmetic.ts";
import { type Emitter, int } from "../emitter.ts";
import { fromWord, toWord, type WordBank, wordBank, wordType } from "../convert/words.ts";

/** The words of one partial result. */
export type Accumulator = readonly Operand[];

export interface Combiner {
  /** Where each word lives. */
  readonly banks: readonly WordBank[];
  /** The accumulator of one element, at an index along the axis. */
  readonly start: (e: Emitter, element: Operand, index: () => Operand) => Accumulator;
  /** The first argument comes before the second along the axis. */
  readonly combine: (e: Emitter, a: Accumulator, b: Accumulator) => Accumulator;
  /** The result's element. */
  readonly finish: (e: Emitter, sum: Accumulator) => Operand;
  /** `redux.sync` of this operation, where the target has it. */
  readonly redux?: string;
}

const FOLDS = opsWith("folds");

export function combinerOf(operator: string, element: Element): Combiner {
  const folding = FOLDS.find((name) => name === operator);
  if (folding !== undefined) return fold(folding, element);
  return extreme(operator === "argmax", wordType(element), element);
}

function fold(operator: FoldOp, element: Element): Combiner {
  const type = wordType(element);
  const redux = reduxOf(operator, type);
  return {
    banks: [wordBank(element)],
    start: (e, value) => [toWord(e, value, element)],
    combine: (e, [a = int(0)], [b = int(0)]) => [lowerBinary(e, operator, type, a, b)],
    finish: (e, [value = int(0)]) => fromWord(e, value, element),
    ...(redux === undefined ? {} : { redux }),
  };
}

/** Sums and extremes by signedness, logic without; 32 bits only (PTX ISA 9.0, redux.sync). */
function reduxOf(operator: FoldOp, type: ScalarName): string | undefined {
  const { class: kind, bits, signed } = SCALARS[type];
  if (kind !== "int" || bits !== 32) return undefined;
  if (operator === "and" || operator === "or" || operator === "xor") return `${operator}.b32`;
  if (operator === "add" || operator === "min" || operator === "max") {
    return `${operator}.${signed ? "s32" : "u32"}`;
  }
  return undefined;
}

/** The largest key, and of equal ones the lowest index. */
function extreme(largest: boolean, type: ScalarName, element: Element): Combiner {
  const bank = wordBank(element);
  const bits = bank === "b64" ? 64 : 32;
  return {
    banks: [bank, "b32"],
    start: (e, value, index) => [keyOf(e, toWord(e, value, element), type, largest), index()],
    combine: (e, [keyA = int(0), atA = int(0)], [keyB = int(0), atB = int(0)]) => {
      const [a, b] = [e.inRegister(keyA, bank), e.inRegister(keyB, bank)];
      const [i, j] = [e.inRegister(atA, "b32"), e.inRegister(atB, "b32")];
      const earlier = e.pure("setp.lt.u32", "pred", [j, i]);
      const tie = e.pure(`setp.eq.and.b${bits}`, "pred", [b, a, earlier]);
      const wins = e.pure(`setp.gt.or.s${bits}`, "pred", [b, a, tie]);
      return [
        e.pure(`selp.b${bits}`, bank, [b, a, wins]),
        e.pure("selp.b32", "b32", [j, i, wins]),
      ];
    },
    finish: (_, [, index = int(0)]) => index,
  };
}

/** A signed integer that is larger for larger values, or for smaller ones; the least of all for NaN. */
function keyOf(e: Emitter, value: Operand, type: ScalarName, largest: boolean): Operand {
  const { class: kind, bits, signed } = SCALARS[type];
  const size = bits === 64 ? 64 : 32;
  const bank: WordBank = size === 64 ? "b64" : "b32";
  const least = int(-(1n << BigInt(size - 1)));
  const ordered = (key: Operand): Operand =>
    largest ? key : e.pure(`not.b${size}`, bank, [e.inRegister(key, bank)]);
  if (kind === "int") {
    const key = signed || bits < size
      ? value
      : e.pure(`xor.b${size}`, bank, [e.inRegister(value, bank), least]);
    return ordered(key);
  }
  const register = e.inRegister(value, bank);
  // Adding zero makes -0 a +0. The bits of negative floats grow downwards: all but the sign are inverted.
  const zero: Operand = { kind: "float", type: size === 64 ? "f64" : "f32", bits: 0n };
  const positive = e.pure(`add.rn.f${size}`, bank, [register, zero]);
  const sign = e.pure(`shr.s${size}`, bank, [positive, int(size - 1)]);
  const low = e.pure(`and.b${size}`, bank, [sign, int((1n << BigInt(size - 1)) - 1n)]);
  const key = ordered(e.pure(`xor.b${size}`, bank, [positive, low]));
  const number = e.pure(`setp.num.f${size}`, "pred", [register, register]);
  return e.pure(`selp.b${size}`, bank, [key, least, number]);
}

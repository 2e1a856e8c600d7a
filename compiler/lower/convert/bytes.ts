/**
 * Bytes of a word, several at a time: as halves, two, and in operations on bits with a constant, four.
 *
 * An integer n below 1024 is the end of the half 1024 + n, whose bits are
 * 0x6400 + n, so a permutation of bytes and one subtraction of pairs convert two; `cvt` takes an instruction for each, of which
 * a multiprocessor does a quarter as many. For float8 `cvt` converts pairs. Results are exact.
 */
import type { Element } from "../../ir/types.ts";
import type { Operand } from "../../ptx/func.ts";
import type { ScalarName } from "../../support/scalar.ts";
import { type Part, permuteBytes, type Ref } from "../element.ts";
import { type Emitter, int } from "../emitter.ts";
import { cvtName, isFloat8 } from "./float8.ts";

/**
 * What makes halves of two bytes that are apart, and is subtracted from them: the bits of 1024, and of 1152, which also invert the
 * highest bit of a signed byte, so that it is n + 128. A permutation with the upper bytes would take two constants, for
 * one of which ptxas needs an instruction.
 */
const UNSIGNED = 0x64006400;
const SIGNED = 0x64806480;
/** In both halves of a word. */
const TWICE = 0x00010001;

/** A byte beside others as a half, which is beside its neighbour; undefined for other elements. */
export function byteToHalf(e: Emitter, ref: Ref, from: ScalarName): Part | undefined {
  if (!isBeside(ref)) return undefined;
  const pair = ref.byte & ~1;
  const word = isFloat8(from)
    ? float8Pair(e, ref.word, pair, from)
    : from === "int8" || from === "uint8"
    ? integerPair(e, ref.word, pair, from, 0)
    : undefined;
  return word && { kind: "piece", word, byte: (ref.byte & 1) * 2, bytes: 2 };
}

/** The same less an integer from 0 on, with one subtraction, which is exact as both are. */
export function byteToHalfLess(
  e: Emitter,
  ref: Ref,
  from: ScalarName,
  less: number,
): Part | undefined {
  const isInteger = Number.isInteger(less) && less >= 0 && less <= MOST_LESS;
  if (!isBeside(ref) || !isInteger || (from !== "int8" && from !== "uint8")) return undefined;
  const word = integerPair(e, ref.word, ref.byte & ~1, from, less);
  return { kind: "piece", word, byte: (ref.byte & 1) * 2, bytes: 2 };
}

/** Sums of it and of what is above the bytes are integers below 2048: halves with their own bits. */
const MOST_LESS = 512;

/** The same as a bfloat16, which has eight bits: the seven low ones of a byte above 128, and what 128 and the eighth are. */
export function byteToBfloat16(e: Emitter, ref: Ref, from: ScalarName): Part | undefined {
  if (!isBeside(ref)) return undefined;
  const pair = ref.byte & ~1;
  const word = isFloat8(from)
    ? bfloat16OfFloat8(e, ref.word, pair, from)
    : from === "int8" || from === "uint8"
    ? bfloat16OfInteger(e, ref.word, pair, from)
    : undefined;
  return word && { kind: "piece", word, byte: (ref.byte & 1) * 2, bytes: 2 };
}

/** Operations on bits that four bytes of a word take together. */
type BitOp = "and" | "shr";
const BITS: Readonly<Record<BitOp, (e: Emitter, word: Operand, byte: bigint) => Operand>> = {
  and: (e, word, byte) => e.pure("and.b32", "b32", [word, int(byte * EACH)]),
  shr: (e, word, count) => {
    const moved = e.pure("shr.u32", "b32", [word, int(count)]);
    return e.pure("and.b32", "b32", [moved, int((0xffn >> count) * EACH)]);
  },
};
const EACH = 0x01010101n;

/** A byte beside others after an operation with a constant, beside them as before; undefined for other elements. */
export function bitsOfByte(
  e: Emitter,
  name: BitOp,
  ref: Ref,
  element: Element,
  constant: bigint,
): Part | undefined {
  if (!isBeside(ref)) return undefined;
  const isByte = element === "uint8" || (element === "int8" && name === "and");
  // Larger counts have rules of their own.
  const isCount = name === "and" || (constant >= 0n && constant < 8n);
  if (!isByte || !isCount) return undefined;
  return { ...ref, word: BITS[name](e, ref.word, BigInt.asUintN(8, constant)) };
}

/**
 * A byte beside others that are shifted by the same count, an 8-bit number without sign. Of counts from 8 on no bits are left,
 * as the language has it.
 */
export function shiftedByte(
  e: Emitter,
  ref: Ref,
  element: Element,
  count: Operand,
): Part | undefined {
  if (!isBeside(ref) || element !== "uint8") return undefined;
  const each = e.inRegister(int(0xffn), "b32");
  const kept = e.pure("shr.u32", "b32", [each, count]);
  const mask = e.pure("mul.lo.u32", "b32", [kept, int(EACH)]);
  const moved = e.pure("shr.u32", "b32", [ref.word, count]);
  return { ...ref, word: e.pure("and.b32", "b32", [moved, mask]) };
}

/** Whether a byte has others beside it in its word. */
const isBeside = (ref: Ref): ref is Part =>
  ref.kind === "piece" && ref.bytes === 1 && ref.isAlone !== true;

function integerPair(
  e: Emitter,
  word: Operand,
  byte: number,
  from: "int8" | "uint8",
  less: number,
): Operand {
  const isSigned = from === "int8";
  const apart = permuteBytes(e, word, int(0), [byte, 4, byte + 1, 4]);
  const above = isSigned
    ? e.pure("xor.b32", "b32", [apart, int(SIGNED)])
    : e.pure("or.b32", "b32", [apart, int(UNSIGNED)]);
  const least = e.inRegister(int((isSigned ? SIGNED : UNSIGNED) + less * TWICE), "b32");
  return e.pure("sub.rn.f16x2", "b32", [above, least]);
}

/** Masks of two bytes that are apart, and two times 128, whose lowest seven bits are zero, and 256 in bfloat16. */
const LOW_BITS = 0x007f007f;
const HIGH_BIT = 0x00800080;
const TWICE_128 = 0x43004300;
const TWICE_256 = 0x43804380;

function bfloat16OfInteger(
  e: Emitter,
  word: Operand,
  byte: number,
  from: "int8" | "uint8",
): Operand | undefined {
  if (!e.target.bfloat16Pairs) return undefined;
  const apart = permuteBytes(e, word, int(0), [byte, 4, byte + 1, 4]);
  // 128 plus the low bits, and 128 or, with the eighth bit, 256.
  const [low, high] = [LOW_BITS, HIGH_BIT].map((mask) =>
    e.pure("or.b32", "b32", [e.pure("and.b32", "b32", [apart, int(mask)]), int(TWICE_128)])
  );
  if (low === undefined || high === undefined) return undefined;
  if (from === "int8") return e.pure("sub.rn.bf16x2", "b32", [low, high]);
  const less = e.pure("sub.rn.bf16x2", "b32", [low, e.inRegister(int(TWICE_256), "b32")]);
  return e.pure("add.rn.bf16x2", "b32", [less, high]);
}

/** By way of halves and floats, which have all values of either type. */
function bfloat16OfFloat8(
  e: Emitter,
  word: Operand,
  byte: number,
  from: "float8e4" | "float8e5",
): Operand | undefined {
  const halves = e.target.bfloat16 ? float8Pair(e, word, byte, from) : undefined;
  if (halves === undefined) return undefined;
  const [low, high] = [halves, e.pure("shr.u32", "b32", [halves, int(16)])]
    .map((half) => e.pure("cvt.f32.f16", "b32", [e.pure("cvt.u16.u32", "b16", [half])]));
  return low && high && e.pure("cvt.rn.bf16x2.f32", "b32", [high, low]);
}

function float8Pair(
  e: Emitter,
  word: Operand,
  byte: number,
  from: "float8e4" | "float8e5",
): Operand | undefined {
  if (!e.target.float8) return undefined;
  const low = byte === 0 ? word : e.pure("shr.u32", "b32", [word, int(8 * byte)]);
  const pair = e.pure("cvt.u16.u32", "b16", [low]);
  return e.pure(`cvt.rn.f16x2.${cvtName(from)}`, "b32", [pair]);
}

/**
 * Elements of tiles as the registers of one thread hold them.
 *
 *   bool                     predicate
 *   8- and 16-bit integers   a 32-bit register, sign- or zero-extended
 *   half, bfloat16           a 16-bit register
 *   32-bit, 64-bit, pointers a register of their size
 *
 * What was loaded as part of a wider word stays a *part* of it until arithmetic wants it alone: moving narrow
 * elements about then costs one byte permutation per word, not one instruction per element.
 */
import type { Operand } from "../ptx/func.ts";
import { SCALARS } from "../support/scalar.ts";
import { bytesOf, type Element, isPointer } from "../ir/types.ts";
import type { Bank } from "./body_register.ts";
import { type Emitter, int } from "./emitter.ts";
import { times } from "../support/times.ts";

/** An element inside a 32-bit word: bytes `byte` … `byte + bytes - 1`. */
export interface Part {
  readonly kind: "piece";
  readonly word: Operand;
  readonly byte: number;
  readonly bytes: 1 | 2;
  /** Nothing else is in the word. */
  readonly isAlone?: true;
}

export type Ref = Operand | Part;

export function bankOf(element: Element): Bank {
  if (isPointer(element)) return "b64";
  if (element === "bool") return "pred";
  const { bits, class: kind } = SCALARS[element];
  if (bits === 64) return "b64";
  if (bits === 16 && kind === "float") return "b16";
  return "b32";
}

/** The element alone in a register (or an immediate), ready for arithmetic. */
export function whole(cx: Emitter, ref: Ref, element: Element): Operand {
  if (ref.kind !== "piece") return ref;
  if (element === "bool") {
    return cx.pure("setp.ne.b32", "pred", [extract(cx, ref, false), int(0)]);
  }
  if (bankOf(element) === "b16") {
    return cx.pure("cvt.u16.u32", "b16", [
      ref.byte === 0 ? ref.word : cx.pure("shr.u32", "b32", [ref.word, int(8 * ref.byte)]),
    ]);
  }
  return extract(
    cx,
    ref,
    !isPointer(element) && SCALARS[element].signed && SCALARS[element].class === "int",
  );
}

function extract(cx: Emitter, part: Part, signed: boolean): Operand {
  return cx.pure(signed ? "bfe.s32" : "bfe.u32", "b32", [
    part.word,
    int(8 * part.byte),
    int(8 * part.bytes),
  ]);
}

/** The element as (part of) a 32-bit word whose low bytes hold it. */
function asPart(cx: Emitter, ref: Ref, element: Element): Part {
  if (ref.kind === "piece") return ref;
  const bytes = bytesOf(element) === 1 ? 1 : 2;
  if (element === "bool") {
    return {
      kind: "piece",
      word: cx.pure("selp.b32", "b32", [int(1), int(0), ref]),
      byte: 0,
      bytes: 1,
    };
  }
  if (bankOf(element) === "b16") {
    return { kind: "piece", word: cx.pure("cvt.u32.u16", "b32", [ref]), byte: 0, bytes };
  }
  return { kind: "piece", word: cx.inRegister(ref, "b32"), byte: 0, bytes };
}

/** Bytes of two words picked by a selector of four digits, lowest first (PTX ISA, prmt). */
export function permuteBytes(
  cx: Emitter,
  a: Operand,
  b: Operand,
  digits: readonly number[],
): Operand {
  const selector = digits.reduce((sum, digit, i) => sum | (digit << (4 * i)), 0);
  if (selector === 0x3210) return a;
  if (selector === 0x7654) return b;
  return cx.pure("prmt.b32", "b32", [a, b, int(selector)]);
}

/** Packs the parts of one 32-bit word, low first: 2 of 2 bytes or 4 of 1 byte. */
function packWord(cx: Emitter, parts: readonly Part[]): Operand {
  const a = parts[0]?.word;
  if (a === undefined) return int(0);
  const b = parts.find(({ word }) => word !== a)?.word ?? a;
  if (parts.every(({ word }) => word === a || word === b)) {
    const digits: number[] = [];
    for (const { word, byte, bytes } of parts) {
      const first = word === a ? byte : 4 + byte;
      for (let i = 0; i < bytes; i++) digits.push(first + i);
    }
    return permuteBytes(cx, a, b, digits);
  }
  const bytes = parts.flatMap((part) =>
    times(part.bytes, (i) => ({ word: part.word, byte: part.byte + i }))
  );
  // Four bytes of three or four words: interleave pairs first. Both halves of a pair are taken along, so that the
  // words of a whole 4×4 byte transposition share the interleaved ones.
  const half = (lo: number): { word: Operand; at: number } => {
    const [x, y] = [bytes[lo], bytes[lo + 1]];
    if (x === undefined || y === undefined) return { word: int(0), at: 0 };
    if (x.byte !== y.byte) {
      return {
        word: permuteBytes(cx, x.word, y.word, [x.byte, 4 + y.byte, x.byte, 4 + y.byte]),
        at: 0,
      };
    }
    const even = x.byte & ~1;
    return {
      word: permuteBytes(cx, x.word, y.word, [even, 4 + even, even + 1, 5 + even]),
      at: x.byte === even ? 0 : 2,
    };
  };
  const [lo, hi] = [half(0), half(2)];
  return permuteBytes(cx, lo.word, hi.word, [lo.at, lo.at + 1, 4 + hi.at, 5 + hi.at]);
}

/** Registers of one vector access: how many, and of which bank. */
export interface AccessShape {
  readonly bank: "b16" | "b32" | "b64";
  readonly count: 1 | 2 | 4;
  /** `.b8`, `.b16`, `.b32`, `.b64`: the type of one register of the access. */
  readonly type: "b8" | "b16" | "b32" | "b64";
}

export function accessShape(elementBytes: number, elements: number): AccessShape {
  const bytes = elementBytes * elements;
  if (bytes === 1) return { bank: "b32", count: 1, type: "b8" };
  if (bytes === 2) return { bank: "b16", count: 1, type: "b16" };
  if (elementBytes === 8) return { bank: "b64", count: elements === 2 ? 2 : 1, type: "b64" };
  return { bank: "b32", count: bytes === 16 ? 4 : bytes === 8 ? 2 : 1, type: "b32" };
}

/** Registers to store, from the elements of one access. */
export function packAccess(cx: Emitter, refs: readonly Ref[], element: Element): Operand[] {
  const size = bytesOf(element);
  if (size >= 4) return refs.map((ref) => cx.inRegister(whole(cx, ref, element), bankOf(element)));
  const shape = accessShape(size, refs.length);
  const parts = (): Part[] => refs.map((ref) => asPart(cx, ref, element));
  if (shape.type === "b8") return [wordOf(cx, parts()[0])];
  if (shape.type === "b16") {
    const [only] = refs;
    if (
      refs.length === 1 && only !== undefined && only.kind !== "piece" && bankOf(element) === "b16"
    ) {
      return [cx.inRegister(only, "b16")];
    }
    const word = refs.length === 1
      ? wordOf(cx, parts()[0])
      : packWord(cx, [...parts(), ...parts()]);
    return [cx.pure("cvt.u16.u32", "b16", [word])];
  }
  const perWord = 4 / size;
  return times(refs.length / perWord, (i) => {
    const ofWord = refs.slice(i * perWord, (i + 1) * perWord);
    return roundedPair(cx, ofWord, element) ??
      cx.inRegister(packWord(cx, ofWord.map((ref) => asPart(cx, ref, element))), "b32");
  });
}

/** Two floats that were to be rounded one by one, rounded into one word. */
function roundedPair(cx: Emitter, refs: readonly Ref[], element: Element): Operand | undefined {
  if (element !== "float16" && element !== "bfloat16") return undefined;
  const [low, high] = refs.map((ref) =>
    ref.kind === "piece" ? undefined : cx.unrounded(ref, element)
  );
  if (low === undefined || high === undefined || !cx.target.bfloat16) return undefined;
  return cx.pure(`cvt.rn.${element === "float16" ? "f16x2" : "bf16x2"}.f32`, "b32", [high, low]);
}

/** A word whose lowest bytes are the part's. */
function wordOf(cx: Emitter, part: Part | undefined): Operand {
  if (part === undefined) return int(0);
  const word = cx.inRegister(part.word, "b32");
  return part.byte === 0 ? word : cx.pure("shr.u32", "b32", [word, int(8 * part.byte)]);
}

/** The elements in the registers of one loaded access. */
export function unpackAccess(
  cx: Emitter,
  registers: readonly Operand[],
  element: Element,
  elements: number,
): Ref[] {
  const size = bytesOf(element);
  if (size >= 4) return [...registers];
  const shape = accessShape(size, elements);
  const [first] = registers;
  if (first === undefined) return [];
  if (shape.type === "b16" && elements === 1 && bankOf(element) === "b16") return [first];
  const words = shape.type === "b16" ? [cx.pure("cvt.u32.u16", "b32", [first])] : registers;
  return times(elements, (i): Part => ({
    kind: "piece",
    word: words[Math.floor((i * size) / 4)] ?? first,
    byte: (i * size) % 4,
    bytes: size === 1 ? 1 : 2,
    ...shape.type === "b8" ? { isAlone: true } : {},
  }));
}

/** Registers as one operand of an access: themselves, or a vector. */
export function vectorOf(registers: readonly Operand[]): Operand {
  const [only, ...others] = registers;
  return only !== undefined && others.length === 0 ? only : { kind: "vector", elements: registers };
}

/**
 * Arithmetic of two halves in one instruction. What was loaded, or converted, as words stays in words (element.ts), of which an
 * operation on `f16x2` or `bf16x2` takes both halves (PTX ISA 9.0, 9.7.4): sums and products have one rounding, as those of each
 * alone, and a minimum or maximum none.
 */
import type { Value } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import type { Operand } from "../ptx/func.ts";
import { query, type Target } from "../targets.ts";
import type { LowerContext } from "./context.ts";
import { packAccess, type Ref } from "./element.ts";
import { type Emitter, int, isInteger, operandKey } from "./emitter.ts";
import { lowered, memo } from "./values.ts";

type PairType = "float16" | "bfloat16";
/** Words that are there, one element twice, or what has to be packed. */
interface Pair {
  readonly kind: "word" | "twice" | "apart";
  readonly refs: readonly [Ref, Ref];
}

type Registers = readonly [low: number, high: number];

interface Spelling {
  readonly name: string;
  readonly isThere: (target: Target) => boolean;
}

const always = (): boolean => true;
const AMPERE = ({ bfloat16 }: Target): boolean => bfloat16;
const HOPPER = ({ bfloat16Pairs }: Target): boolean => bfloat16Pairs;
const extreme = (name: string): Readonly<Record<PairType, Spelling>> => ({
  float16: { name: `${name}.f16x2`, isThere: AMPERE },
  bfloat16: { name: `${name}.bf16x2`, isThere: AMPERE },
});
const rounded = (name: string): Readonly<Record<PairType, Spelling>> => ({
  float16: { name: `${name}.rn.f16x2`, isThere: always },
  bfloat16: { name: `${name}.rn.bf16x2`, isThere: HOPPER },
});
const BINARY: Readonly<Partial<Record<TileOp, Readonly<Partial<Record<PairType, Spelling>>>>>> = {
  add: rounded("add"),
  sub: rounded("sub"),
  mul: rounded("mul"),
  min: extreme("min"),
  max: extreme("max"),
};
const SIGNS = 0x80008000;
/** Bits that the numbers of two registers differ in: neighbours along k, and of rows, whose bytes are beside each other. */
const BITS = [1, 2] as const;

/** A sum, product, minimum or maximum of pairs, where operands are in words. */
export function binaryInPairs(
  cx: LowerContext,
  name: TileOp,
  result: Value,
  operands: readonly Value[],
): void {
  const type = pairType(result);
  const spelling = type && BINARY[name]?.[type];
  if (spelling === undefined || !query(cx.emitter.target, spelling.isThere)) return;
  inPairs(cx, result, operands, (words) =>
    cx.emitter.pure(
      spelling.name,
      "b32",
      words.map((word) => cx.emitter.inRegister(word, "b32")),
    ));
}

export function negateInPairs(cx: LowerContext, result: Value, value: Value): void {
  if (pairType(result) === undefined) return;
  inPairs(
    cx,
    result,
    [value],
    ([word]) =>
      word && cx.emitter.pure("xor.b32", "b32", [cx.emitter.inRegister(word, "b32"), int(SIGNS)]),
  );
}

/** Both halves of one or the other word, where one condition decides for both. */
export function selectInPairs(
  cx: LowerContext,
  result: Value,
  condition: Value,
  operands: readonly Value[],
): void {
  if (pairType(result) === undefined) return;
  inPairs(cx, result, operands, ([then, otherwise], registers) => {
    const [first, second] = registers.map((register) => lowered(cx, condition)(register));
    if (first?.kind !== "register" || first !== second) return undefined;
    return then && otherwise && cx.emitter.pure("selp.b32", "b32", [then, otherwise, first]);
  });
}

/** Two elements of a value at once; where there is no word, each for itself, as before. */
function inPairs(
  cx: LowerContext,
  result: Value,
  operands: readonly Value[],
  compute: (words: readonly Operand[], registers: Registers) => Operand | undefined,
): void {
  const type = pairType(result);
  const count = 1 << (result.type.layout?.register.length ?? 0);
  if (type === undefined || count === 1) return;
  const each = lowered(cx, result);
  const wordFrom = (registers: Registers): Operand | undefined => {
    const pairs = operands.map((value) => pairOf(lowered(cx, value), registers));
    if (!pairs.some(({ kind }) => kind === "word")) return undefined;
    return compute(pairs.map((pair) => wordOf(cx, pair, type)), registers);
  };
  const bits = BITS.filter((bit) => bit < count);
  cx.values.set(
    result,
    memo(cx, (register) => {
      // Nothing else is asked for where no operand is in a word.
      const isInWord = operands.some((value) => lowered(cx, value)(register).kind === "piece");
      if (!isInWord) return each(register);
      for (const bit of bits) {
        const word = wordFrom([register & ~bit, register | bit]);
        if (word === undefined) continue;
        return { kind: "piece", word, byte: (register & bit) === 0 ? 0 : 2, bytes: 2 };
      }
      return each(register);
    }),
  );
}

function pairType({ type: { element } }: Value): PairType | undefined {
  return element === "float16" || element === "bfloat16" ? element : undefined;
}

function pairOf(refAt: (register: number) => Ref, registers: Registers): Pair {
  const [low, high] = [refAt(registers[0]), refAt(registers[1])];
  const refs = [low, high] as const;
  if (low.kind === "piece" || high.kind === "piece") {
    const isWord = low.kind === "piece" && high.kind === "piece" && low.word === high.word &&
      low.byte === 0 && high.byte === 2;
    return { kind: isWord ? "word" : "apart", refs };
  }
  return { kind: operandKey(low) === operandKey(high) ? "twice" : "apart", refs };
}

function wordOf({ emitter: e }: LowerContext, { refs }: Pair, type: PairType): Operand {
  const [low, high] = refs;
  if (low.kind === "piece" || high.kind === "piece") return packed(e, refs, type);
  if (isInteger(low) && isInteger(high)) {
    return int(BigInt.asUintN(16, low.value) | (BigInt.asUintN(16, high.value) << 16n));
  }
  // Floats that were to be rounded one by one are rounded into one word.
  if (e.unrounded(low, type) !== undefined && e.unrounded(high, type) !== undefined) {
    return packed(e, refs, type);
  }
  const elements = [e.inRegister(low, "b16"), e.inRegister(high, "b16")];
  return e.pure("mov.b32", "b32", [{ kind: "vector", elements }]);
}

function packed(e: Emitter, refs: readonly Ref[], type: PairType): Operand {
  const [word] = packAccess(e, refs, type);
  return word ?? int(0);
}

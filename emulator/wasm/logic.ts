/** Logic, shifts and bit fields with literal counts, as vectors (PTX ISA 9.0, 9.7.1.19, 9.7.8, prmt). */
import type { Match } from "../../compiler/ptx/match.ts";
import { double, type Expr, i32, op, opWith, select, without, word } from "./expr.ts";
import {
  chose,
  type Evaluate,
  type IntegerType,
  integerType,
  LANES_OF,
  literal,
  shapeOf,
  typesOf,
} from "./shape.ts";
import type { Primitive } from "./primitive.ts";
import type { Operand } from "../../compiler/ptx/func.ts";
import { predicatePrimitive, vectorPrimitive } from "./vector.ts";

const ZERO = word(0);
const ONES = word(-1);

/** All ones in values of 16 bits, which have zeros above, or of 32 or 64 bits. */
const onesOf = (bits: number): Expr => word(bits === 16 ? 0xffff : -1);

const LOGIC: Readonly<Record<string, (bits: number, a: Expr, b: Expr) => Expr>> = {
  and: (_, a, b) => op("v128.and", a, b),
  or: (_, a, b) => op("v128.or", a, b),
  xor: (_, a, b) => op("v128.xor", a, b),
  not: (bits, a) => op("v128.xor", a, onesOf(bits)),
};

const PREDICATE_LOGIC: Readonly<Record<string, (a: Expr, b: Expr) => Expr>> = {
  and: (a, b) => op("i32.and", a, b),
  or: (a, b) => op("i32.or", a, b),
  xor: (a, b) => op("i32.xor", a, b),
  not: (a) => op("i32.xor", a, i32(-1)),
  mov: (a) => a,
};

/** Whether an operand is a predicate, perhaps negated, or a literal. */
function isPredicateSource(operand: Operand): boolean {
  return operand.kind !== "special" && operand.kind !== "symbol";
}

/** and, or, xor, not, mov on predicates. */
export function predicateForm(match: Match): Primitive | undefined {
  const evaluate = PREDICATE_LOGIC[match.opcode];
  const [result, ...sources] = match.operands.map(({ operand }) => operand);
  if (typesOf(match)[0] !== "pred" || evaluate === undefined || result === undefined) {
    return undefined;
  }
  if (!sources.every(isPredicateSource)) return undefined;
  return predicatePrimitive(`${match.opcode}.pred`, result, sources, evaluate);
}

export function logicForm(match: Match): Primitive | undefined {
  const type = integerType(typesOf(match)[0]);
  const evaluate = LOGIC[match.opcode];
  if (type === undefined || evaluate === undefined) return undefined;
  return vectorPrimitive({
    ...shapeOf(match),
    evaluate: (_, a, b) => [evaluate(type.bits, a, b)],
  });
}

export function cnotForm(match: Match): Primitive | undefined {
  const type = integerType(typesOf(match)[0]);
  if (type === undefined) return undefined;
  const wide = type.bits === 64;
  return vectorPrimitive({
    ...shapeOf(match),
    evaluate: (_, a) => [
      op("v128.and", op(wide ? "i64x2.eq" : "i32x4.eq", a, ZERO), wide ? double(1n) : word(1)),
    ],
  });
}

/** A function of two bits by its table: bit 2b + c is its value. */
function binaryTable(table: number, b: Expr, c: Expr): Expr {
  const not = (value: Expr): Expr => op("v128.not", value);
  const byTable: readonly Expr[] = [
    ZERO,
    not(op("v128.or", b, c)),
    without(c, b),
    not(b),
    without(b, c),
    not(c),
    op("v128.xor", b, c),
    not(op("v128.and", b, c)),
    op("v128.and", b, c),
    not(op("v128.xor", b, c)),
    c,
    op("v128.or", not(b), c),
    b,
    op("v128.or", b, not(c)),
    op("v128.or", b, c),
    ONES,
  ];
  return byTable[table] ?? ZERO;
}

/** Bit 4a + 2b + c of the table is the function's value. */
export function lop3Form(match: Match): Primitive | undefined {
  const table = literal(match, "lut");
  if (table === undefined || match.operands.length !== 5) return undefined;
  return vectorPrimitive({
    ...shapeOf(match, ["lut"]),
    evaluate: (_, a, b, c) => {
      const [set, clear] = [(table >> 4) & 15, table & 15];
      if (set === clear) return [binaryTable(set, b, c)];
      return [select(a, binaryTable(set, b, c), binaryTable(clear, b, c))];
    },
  });
}

/** Shifts by a literal; counts of the width or more give zeros or the sign. */
export function shiftForm(match: Match): Primitive | undefined {
  const type = integerType(typesOf(match)[0]);
  const count = literal(match, "b");
  if (type === undefined || count === undefined) return undefined;
  return vectorPrimitive({
    ...shapeOf(match, ["b"]),
    evaluate: (_, a) => [
      match.opcode === "shl" ? shiftedLeft(type, a, count) : shiftedRight(type, a, count),
    ],
  });
}

function shiftedLeft({ bits }: IntegerType, a: Expr, count: number): Expr {
  return count >= bits ? ZERO : op(`${LANES_OF[bits]}.shl`, a, i32(count));
}

function shiftedRight({ bits, signed }: IntegerType, a: Expr, count: number): Expr {
  const lanes = LANES_OF[bits];
  if (signed) return op(`${lanes}.shr_s`, a, i32(Math.min(count, bits - 1)));
  return count >= bits ? ZERO : op(`${lanes}.shr_u`, a, i32(count));
}

/** Funnel shifts by a literal. */
export function funnelForm(match: Match): Primitive | undefined {
  const count = literal(match, "c");
  if (count === undefined) return undefined;
  const by = chose(match, "wrap") ? count & 31 : Math.min(count, 32);
  const left = chose(match, "l") ? by : 32 - by;
  return vectorPrimitive({
    ...shapeOf(match, ["c"]),
    evaluate: (_, a, b) => {
      if (left === 0) return [b];
      if (left === 32) return [a];
      return [
        op("v128.or", op("i32x4.shl", b, i32(left)), op("i32x4.shr_u", a, i32(32 - left))),
      ];
    },
  });
}

const onesUpTo = (count: number): bigint => (1n << BigInt(count)) - 1n;

/** Literal position and length: both count modulo 256. */
function field(match: Match, position: string, length: string): [number, number] | undefined {
  const [at, bits] = [literal(match, position), literal(match, length)];
  return at === undefined || bits === undefined ? undefined : [at & 255, bits & 255];
}

/** A field extracted; bits beyond the value are its sign, or zeros. */
function extracted({ bits, signed }: IntegerType, a: Expr, at: number, length: number): Expr {
  const lanes = LANES_OF[bits];
  if (length === 0) return ZERO;
  if (!signed) {
    if (at >= bits) return ZERO;
    const mask = double(onesUpTo(Math.min(length, 64)));
    const moved = op(`${lanes}.shr_u`, a, i32(at));
    if (length >= bits - at) return moved;
    return op("v128.and", moved, bits === 32 ? word(Number(onesUpTo(length))) : mask);
  }
  const from = Math.min(at, bits - 1);
  const width = Math.min(length, bits - from);
  return op(
    `${lanes}.shr_s`,
    op(`${lanes}.shl`, a, i32(bits - from - width)),
    i32(bits - width),
  );
}

export function extractForm(match: Match): Primitive | undefined {
  const type = integerType(typesOf(match)[0]);
  const bitRange = field(match, "b", "c");
  if (type === undefined || bitRange === undefined) return undefined;
  return vectorPrimitive({
    ...shapeOf(match, ["b", "c"]),
    evaluate: (_, a) => [extracted(type, a, ...bitRange)],
  });
}

export function insertForm(match: Match): Primitive | undefined {
  const type = integerType(typesOf(match)[0]);
  const bitRange = field(match, "c", "e");
  if (type === undefined || bitRange === undefined) return undefined;
  const [at, length] = bitRange;
  const mask = BigInt.asUintN(type.bits, onesUpTo(length) << BigInt(at));
  return vectorPrimitive({
    ...shapeOf(match, ["c", "e"]),
    evaluate: (_, a, b) => [
      mask === 0n ? b : select(
        type.bits === 32 ? word(Number(mask)) : double(mask),
        op(`${LANES_OF[type.bits]}.shl`, a, i32(at)),
        b,
      ),
    ],
  });
}

/** Which of the eight bytes goes where, for the modes of prmt; lowest byte first. */
const PICKS: Readonly<Record<string, (n: number) => readonly number[]>> = {
  f4e: (n) => [n, n + 1, n + 2, n + 3],
  b4e: (n) => [n, n + 7, n + 6, n + 5],
  rc8: (n) => [n, n, n, n],
  ecl: (n) => [n, Math.max(n, 1), Math.max(n, 2), 3],
  ecr: (n) => [0, Math.min(n, 1), Math.min(n, 2), n],
  rc16: (n) => [2 * (n & 1), 2 * (n & 1) + 1, 2 * (n & 1), 2 * (n & 1) + 1],
};

/** Bytes picked by a literal; bit 3 of a pick takes the sign of the byte. */
export function permuteForm(match: Match): Primitive | undefined {
  const control = literal(match, "c");
  if (control === undefined) return undefined;
  const mode = [...match.bound.values()].map((it) => PICKS[it]).find((it) => it !== undefined);
  const picks = mode === undefined
    ? [0, 4, 8, 12].map((shift) => (control >> shift) & 15)
    : mode(control & 3).map((pick) => pick & 7);
  const bytes = Array.from({ length: 16 }, (_, i): number => {
    const pick = (picks[i % 4] ?? 0) & 7;
    return pick < 4 ? i - (i % 4) + pick : 16 + i - (i % 4) + pick - 4;
  });
  const signs = picks.reduce((sum, pick, i) => sum | (pick & 8 ? 0xff << (8 * i) : 0), 0);
  const evaluate: Evaluate = (scratch, a, b) => {
    const picked = scratch.let(opWith("i8x16.shuffle", [bytes], a, b));
    return [signs === 0 ? picked : select(word(signs), op("i8x16.shr_s", picked, i32(7)), picked)];
  };
  return vectorPrimitive({ ...shapeOf(match, ["c"]), evaluate });
}

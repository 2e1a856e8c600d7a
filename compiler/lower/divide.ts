/**
 * Quotients of floats, correctly rounded, several elements at a time.
 *
 * The assembler makes of each `div.rn.f32` a check, the sequence below, and a branch to a subroutine for what the sequence
 * does not get right (SASS of ptxas 13.0), so nothing of two quotients overlaps. Here the sequences of a group of elements
 * run side by side, and one branch does all of them again by `div.rn.f32` where an operand of any is outside of a window.
 * That is for functions with dots, whose warps are few. Without dots, other warps work while one divides, and the
 * registers of a group are missed (swiglu of gated.tc was 3 % slower on an H200). Where elements have one divisor, it
 * gains there too (divide_by_one.ts).
 *
 *   y = about 1 / b     within 1 ulp (PTX ISA 9.0, rcp.approx.ftz.f32)
 *   y = y + y(1 - by)   1 / b rounded to nearest: the error is squared
 *   q = ay              within 1 ulp of a / b, 3/2 where both fractions are near 2
 *   r = a - bq          what is left
 *   q = q + yr          a / b rounded to nearest (P. Markstein, Computation of elementary functions on the IBM RISC
 *                       System/6000 processor, 1990; for 3/2 ulp, a / b is too far from midpoints of floats)
 *
 * Of all fractions of b, and all y within 1 ulp, there is one whose second y may be another float: 2 - 2^-23, if the first
 * y is 1/2. Then the quotient of 1 would be wrong, in the assembler's sequence as well: the hardware gives the float above.
 *
 * All that holds where nothing overflows or is subnormal. With 2^-63 <= |a| < 2^65 and 2^-31 <= |b| < 2^33, y and q are
 * between 2^-97 and 2^97, and 1 - by and r are 0 or at least 2^-47 and 2^-111. Zeros, infinities and NaN are outside.
 */
import type { Operand, Register } from "../ptx/func.ts";
import type { Value } from "../ir/func.ts";
import type { Element } from "../ir/types.ts";
import { registerCount } from "../layout/tiles.ts";
import { freeMask } from "../linear/linear.ts";
import { times } from "../support/times.ts";
import { zip } from "../support/zip.ts";
import { constantOperand } from "./arithmetic.ts";
import type { LowerContext } from "./context.ts";
import { convertScalar } from "./convert/convert.ts";
import { whole } from "./element.ts";
import { type Emitter, int, isInteger, operandKey, type Scope } from "./emitter.ts";
import { emitMoves, type Move } from "./moves.ts";
import { lowered, memo } from "./values.ts";

/** Quotients of a group: enough to fill the time that one of them takes, few enough for the registers. */
const GROUP = 8;
/** Of functions, which hold more. */
export const FUNCTION_GROUP = 4;
/** So many are not worth a test and a branch. */
const FEW = 2;

/** Gives the quotient of two floats. */
export type Divide = (a: Operand, b: Operand) => Operand;

/** How elements are computed that take quotients. */
interface Computation<Inputs extends readonly Operand[]> {
  /** The floats that an element is computed of. */
  readonly inputs: (register: number) => Inputs;
  readonly compute: (inputs: Inputs, divide: Divide) => Operand;
  /** Elements of a group. */
  readonly size: number;
  /** How a group's quotients are made. */
  readonly together: Together;
}

/** What elements compute. */
export type Elements = readonly ((divide: Divide) => Operand)[];

/** Gives what each of these computes. */
export type Together = (e: Emitter, elements: Elements) => readonly Operand[];

/** Operands of a quotient. */
export interface Pair {
  readonly a: Operand;
  readonly b: Operand;
}

/**
 * An interval of exponents: after an addition to the bits of a number, `ones` are all set where its exponent is in it. The
 * first exponent becomes the least field that has these ones; what comes after the last one is carried into the sign.
 */
interface Window {
  readonly added: number;
  readonly ones: number;
}

const BIAS = 127;
const FRACTION_BITS = 23;
const windowFrom = (exponent: number, ones: number): Window => ({
  added: ones - (exponent + BIAS) * 2 ** FRACTION_BITS,
  ones,
});
/** 128 exponents. */
const NUMERATORS = windowFrom(-63, 0x40000000);
/** 64 exponents. */
const DIVISORS = windowFrom(-31, 0x60000000);

/** Elements whose quotients are made in float: one of floats rounded to fewer bits is that of these, rounded. */
type Single = "float32" | "float16" | "bfloat16";

/** Whether quotients of such elements are made in groups. */
export function dividesTogether(cx: LowerContext, element: Element): element is Single {
  return cx.hasDots && isSingle(element);
}

export function isSingle(element: Element): element is Single {
  return element === "float32" || element === "float16" || element === "bfloat16";
}

/** The element of a value as a float. */
export function floatAt(
  cx: LowerContext,
  element: Single,
  value: Value,
  register: number,
): Operand {
  const e = cx.emitter;
  const narrow = whole(e, lowered(cx, value)(register), element);
  const single = convertScalar(e, narrow, element, "float32");
  return single.kind === "float" ? single : e.inRegister(single, "b32");
}

/** Gives a value the quotients of two others of its type. */
export function lowerQuotients(
  cx: LowerContext,
  element: Single,
  { result, left, right }: { readonly result: Value; readonly left: Value; readonly right: Value },
  together: Together = divideTogether,
): void {
  computeTogether(cx, element, result, {
    inputs: (register) =>
      [floatAt(cx, element, left, register), floatAt(cx, element, right, register)] as const,
    compute: ([a, b], divide) => divide(a, b),
    size: GROUP,
    together,
  });
}

/** Gives a value its elements, which take quotients of floats. */
export function computeTogether<Inputs extends readonly Operand[]>(
  cx: LowerContext,
  element: Single,
  result: Value,
  { inputs, compute, size, together }: Computation<Inputs>,
): void {
  const e = cx.emitter;
  const { layout } = result.type;
  const free = layout === undefined ? 0 : freeMask(layout.register);
  const held = times(registerCount(result), (r) => r).filter((r) => (r & free) === 0);
  const places = new Map(held.map((register, place) => [register, place]));
  const known = new Map<string, { readonly single: Operand; readonly scope: Scope }>();
  const find = (of: Inputs): Operand | undefined => {
    const found = known.get(keyOf(of));
    return found?.scope.open === true ? found.single : undefined;
  };
  const singleAt = (register: number): Operand => {
    const place = places.get(register & ~free) ?? 0;
    const start = place - place % size;
    const group = held.slice(start, start + size).map(inputs);
    const own = inputs(register);
    // What a loop does not change is better moved out of it.
    const pending = new Map(
      group.filter((one) => !e.isMovable(one) && find(one) === undefined)
        .map((one) => [keyOf(one), one]),
    );
    if (pending.size > FEW) {
      const singles = together(
        e,
        [...pending.values()].map((one) => (divide) => compute(one, divide)),
      );
      for (const [key, single] of zip([...pending.keys()], singles)) {
        known.set(key, { single, scope: e.scope });
      }
    }
    return find(own) ?? compute(own, exactly(e));
  };
  cx.values.set(
    result,
    memo(cx, (register) => convertScalar(e, singleAt(register), "float32", element)),
  );
}

const keyOf = (inputs: readonly Operand[]): string => inputs.map(operandKey).join();

const exactly = (e: Emitter): Divide => (a, b) =>
  e.pure("div.rn.f32", "b32", [e.inRegister(a, "b32"), b]);

/** The number that an operand is. */
function numberOf(operand: Operand): number | undefined {
  if (operand.kind !== "float") return undefined;
  VIEW.setUint32(0, Number(operand.bits));
  return VIEW.getFloat32(0);
}
const VIEW = new DataView(new ArrayBuffer(4));

const isInside = (operand: Operand, { added, ones }: Window): boolean =>
  operand.kind !== "float" || ((Number(operand.bits) + added) & ones) === ones;

/** Whether a quotient gains: a constant makes it neither a product nor an exception. */
function isWorthwhile({ a, b }: Pair): boolean {
  const divisor = numberOf(b);
  const isPower = divisor !== undefined && Math.fround(1 / divisor) * divisor === 1;
  return !isPower && isInside(a, NUMERATORS) && isInside(b, DIVISORS);
}

/** Any two numbers of each element. */
export const divideTogether = (e: Emitter, elements: Elements): readonly Operand[] =>
  inGroup(e, elements, {
    isWorthwhile,
    approach,
    isOutside: (pairs) => {
      const inside = e.pure("and.b32", "b32", [
        areInside(e, pairs.map(({ a }) => a), NUMERATORS),
        areInside(e, pairs.map(({ b }) => b), DIVISORS),
      ]);
      const isOutside = e.register("pred");
      e.emit("setp.ne.s32", [isOutside, inside, int(-1)]);
      return isOutside;
    },
  });

/** A sequence for quotients, and where it does not get all of them right. */
interface Sequence {
  readonly isWorthwhile: (pair: Pair) => boolean;
  readonly approach: (e: Emitter, pair: Pair) => Operand;
  readonly isOutside: (pairs: readonly Pair[]) => Register;
}

/** What elements compute by a sequence, again by the instruction where a pair is outside of it. */
export function inGroup(
  e: Emitter,
  elements: Elements,
  { isWorthwhile, approach, isOutside }: Sequence,
): readonly Operand[] {
  const pairs: Pair[] = [];
  const divide: Divide = (a, b) => {
    const pair = { a, b };
    if (!isWorthwhile(pair)) return exactly(e)(a, b);
    pairs.push(pair);
    return approach(e, pair);
  };
  const near = elements.map((element) => element(divide));
  if (pairs.length === 0) return near;
  const singles = near.map((from): Move => ({ to: e.register("b32"), from }));
  const outside = isOutside(pairs);
  emitMoves(e, singles);
  const end = e.newLabel();
  e.emit("bra", [{ kind: "symbol", name: end }], {
    register: outside,
    negated: true,
  });
  e.append(e.nested("branch", () => {
    const exact = elements.map((element) => element(exactly(e)));
    emitMoves(e, zip(singles, exact).map(([{ to }, from]) => ({ to, from })));
  }));
  e.label(end);
  return singles.map(({ to }) => to);
}

/** The quotient where the operands are inside of the windows; anything elsewhere. */
function approach(e: Emitter, { a, b }: Pair): Operand {
  const { minus, y } = reciprocal(e, b);
  const q = e.pure("mul.rn.f32", "b32", a.kind === "register" ? [a, y] : [y, a]);
  const r = e.pure("fma.rn.f32", "b32", [q, minus, a]);
  return e.pure("fma.rn.f32", "b32", [r, y, q]);
}

/** -b, and 1 / b rounded to nearest. */
export function reciprocal(
  e: Emitter,
  b: Operand,
): { readonly minus: Operand; readonly y: Operand } {
  const divisor = numberOf(b);
  if (divisor !== undefined) {
    // Double precision is so much wider that rounding twice gives what rounding once would.
    return { minus: constant(-divisor), y: constant(1 / divisor) };
  }
  const minus = e.pure("neg.f32", "b32", [b]);
  // Without ftz the assembler would look for subnormal numbers first.
  const spelling = e.floats.flush ? "rcp.approx.f32" : "rcp.approx.ftz.f32";
  const near = e.pure(spelling, "b32", [b]);
  const error = e.pure("fma.rn.f32", "b32", [minus, near, constant(1)]);
  return { minus, y: e.pure("fma.rn.f32", "b32", [near, error, near]) };
}

const constant = (value: number): Operand => constantOperand(value, "float32");

/** Bits that are all ones where all operands are inside of a window. */
function areInside(e: Emitter, operands: readonly Operand[], { added, ones }: Window): Operand {
  const marks = operands.filter(({ kind }) => kind === "register").map((operand) =>
    e.pure("add.s32", "b32", [operand, int(added)])
  );
  const [first = int(-1), ...others] = new Set(marks);
  const marked = others.reduce((all, one) => e.pure("and.b32", "b32", [all, one]), first);
  return isInteger(marked) ? marked : e.pure("or.b32", "b32", [marked, int(~ones)]);
}

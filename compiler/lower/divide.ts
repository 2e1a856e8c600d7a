/**
 * Quotients of floats, correctly rounded, several elements at a time.
 *
 * The assembler makes of each `div.rn.f32` a check, the sequence below, and a branch to a subroutine for what the sequence
 * does not get right (SASS of ptxas 13.0), so nothing of two quotients overlaps. Here the sequences of a group of elements
 * run side by side, and one branch does all of them again by `div.rn.f32` where an operand of any is outside of a window.
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
import { constantOperand } from "./arithmetic.ts";
import type { LowerContext } from "./context.ts";
import { convertScalar } from "./convert/convert.ts";
import { whole } from "./element.ts";
import { type Emitter, int, isInteger, operandKey, type Scope } from "./emitter.ts";
import { lowered, memo } from "./values.ts";

/** Quotients of a group: enough to fill the time that one of them takes, few enough for the registers. */
const GROUP = 8;
/** So many are not worth a test and a branch. */
const FEW = 2;

/** Operands of a quotient. */
interface Pair {
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

export const dividesInFloat = (element: Element): element is Single =>
  element === "float32" || element === "float16" || element === "bfloat16";

/** Gives a value the quotients of two others of its type. */
export function lowerQuotients(
  cx: LowerContext,
  element: Single,
  { result, left, right }: { readonly result: Value; readonly left: Value; readonly right: Value },
): void {
  const e = cx.emitter;
  const { layout } = result.type;
  const free = layout === undefined ? 0 : freeMask(layout.register);
  const held = times(registerCount(result), (r) => r).filter((r) => (r & free) === 0);
  const places = new Map(held.map((register, place) => [register, place]));
  const operand = (value: Value, register: number): Operand => {
    const narrow = whole(e, lowered(cx, value)(register), element);
    const single = convertScalar(e, narrow, element, "float32");
    return single.kind === "float" ? single : e.inRegister(single, "b32");
  };
  const pairAt = (register: number): Pair => ({
    a: operand(left, register),
    b: operand(right, register),
  });
  const known = new Map<string, { readonly quotient: Operand; readonly scope: Scope }>();
  const find = (pair: Pair): Operand | undefined => {
    const found = known.get(keyOf(pair));
    return found?.scope.open === true ? found.quotient : undefined;
  };
  const quotientAt = (register: number): Operand => {
    const place = places.get(register & ~free) ?? 0;
    const start = place - place % GROUP;
    const group = held.slice(start, start + GROUP).map(pairAt);
    const pair = pairAt(register);
    const pending = new Map(
      group.filter((one) => isWorthwhile(e, one) && find(one) === undefined)
        .map((one) => [keyOf(one), one]),
    );
    if (pending.size > FEW) {
      for (const [key, quotient] of divideTogether(e, pending)) {
        known.set(key, { quotient, scope: e.scope });
      }
    }
    return find(pair) ?? e.pure("div.rn.f32", "b32", [e.inRegister(pair.a, "b32"), pair.b]);
  };
  cx.values.set(
    result,
    memo(cx, (register) => convertScalar(e, quotientAt(register), "float32", element)),
  );
}

const keyOf = ({ a, b }: Pair): string => `${operandKey(a)}/${operandKey(b)}`;

/** The number that an operand is. */
function numberOf(operand: Operand): number | undefined {
  if (operand.kind !== "float") return undefined;
  VIEW.setUint32(0, Number(operand.bits));
  return VIEW.getFloat32(0);
}
const VIEW = new DataView(new ArrayBuffer(4));

const isInside = (operand: Operand, { added, ones }: Window): boolean =>
  operand.kind !== "float" || ((Number(operand.bits) + added) & ones) === ones;

/** Whether a quotient gains: it is not moved out of a loop, and a constant does not make it a product or an exception. */
function isWorthwhile(e: Emitter, { a, b }: Pair): boolean {
  const divisor = numberOf(b);
  const isPower = divisor !== undefined && Math.fround(1 / divisor) * divisor === 1;
  return !isPower && !e.isMovable([a, b]) && isInside(a, NUMERATORS) && isInside(b, DIVISORS);
}

/** Quotients by the keys of their operands. */
function divideTogether(
  e: Emitter,
  pairs: ReadonlyMap<string, Pair>,
): ReadonlyMap<string, Register> {
  const quotients = new Map([...pairs].map(([key, pair]) => [key, approach(e, pair)]));
  const all = [...pairs.values()];
  const inside = e.pure("and.b32", "b32", [
    areInside(e, all.map(({ a }) => a), NUMERATORS),
    areInside(e, all.map(({ b }) => b), DIVISORS),
  ]);
  const isOutside = e.register("pred");
  e.emit("setp.ne.s32", [isOutside, inside, int(-1)]);
  const end = e.newLabel();
  e.emit("bra", [{ kind: "symbol", name: end }], { register: isOutside, negated: true });
  e.append(e.nested("branch", () => {
    for (const [key, { a, b }] of pairs) {
      const quotient = quotients.get(key);
      if (quotient !== undefined) e.emit("div.rn.f32", [quotient, e.inRegister(a, "b32"), b]);
    }
  }));
  e.label(end);
  return quotients;
}

/** The quotient where the operands are inside of the windows; anything elsewhere. */
function approach(e: Emitter, { a, b }: Pair): Register {
  const { minus, y } = reciprocal(e, b);
  const q = e.pure("mul.rn.f32", "b32", a.kind === "register" ? [a, y] : [y, a]);
  const r = e.pure("fma.rn.f32", "b32", [q, minus, a]);
  const quotient = e.register("b32");
  e.emit("fma.rn.f32", [quotient, r, y, q]);
  return quotient;
}

/** -b, and 1 / b rounded to nearest. */
function reciprocal(e: Emitter, b: Operand): { readonly minus: Operand; readonly y: Operand } {
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

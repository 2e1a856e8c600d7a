/**
 * FLOAT_MATH: how each element-wise function is computed, by the width of its argument (language.md 7.4 and 9.3). Where the
 * hardware's approximation keeps the bound it is used; all else is computed in the files beside this one, the same way in
 * float and in double. Narrower floats are computed in float and rounded once.
 */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { type Element, isFloat, isPointer } from "../../ir/types.ts";
import { bug } from "../../support/bug.ts";
import type { FloatFunction } from "../../support/math_functions.ts";
import type { ScalarName } from "../../support/scalar.ts";
import { convertScalar } from "../convert/convert.ts";
import { type Emitter, int } from "../emitter.ts";
import { bankOf, whole } from "../element.ts";
import type { LowerContext, Lowered } from "../context.ts";
import {
  computeTogether,
  dividesTogether,
  divideTogether,
  floatAt,
  FUNCTION_GROUP,
} from "../divide.ts";
import { lowered, memo } from "../values.ts";
import { INTEGER_MATH, isIntegerOperation } from "./integer.ts";
import { erf } from "./erf.ts";
import { exp, exp2, expm1, sigmoid, tanh } from "./exp.ts";
import { fmod } from "./fmod.ts";
import { Fp } from "./fp.ts";
import { acosh, asinh, atanh, cosh, sinh } from "./hyperbolic.ts";
import { log, log10, log1p, log2 } from "./log.ts";
import { pow } from "./pow.ts";
import { extreme, round, rsqrt } from "./rounding.ts";
import { cos, sin, tan } from "./trig.ts";

/** A formula of fewer operands leaves the last ones out. */
type Formula = (fp: Fp, x: Operand, y: Operand, z: Operand) => Operand;
type Unary = (fp: Fp, x: Operand) => Operand;

interface MathRow {
  readonly float: Formula;
  readonly double: Formula;
  /** In float, where the program asks for 2 ulp (`math(precise)`). */
  readonly precise?: Formula;
  /** In float, where zero may be the result in place of a subnormal number. */
  readonly flushes?: Formula;
  /** It takes quotients at its end, which are computed for several elements together. */
  readonly divides?: true;
  /**
   * Largest error in units of the last place, float and double, on the emulator and on an H200. Near 1 the H200's
   * float logarithms have an absolute error of up to 2^-22 instead (PTX ISA 9.0, lg2.approx).
   */
  readonly ulp: readonly [number, number];
}

const exact = (formula: Formula): MathRow => ({ float: formula, double: formula, ulp: [0.5, 0.5] });
const both = (formula: Formula, single: number, double: number): MathRow => ({
  float: formula,
  double: formula,
  ulp: [single, double],
});
/** The hardware's approximation in float. */
const approximate = (name: string): Unary => (fp, x) => instruction(fp, `${name}.approx.f32`, x);
/** The same, with zeros for subnormal numbers. */
const flushed = (name: string): Unary => (fp, x) =>
  instruction(fp, `${name}.approx${fp.e.floats.flush ? "" : ".ftz"}.f32`, x);
const instruction = (fp: Fp, spelling: string, x: Operand): Operand =>
  fp.e.pure(spelling, "b32", [fp.e.inRegister(x, "b32")]);

export const FLOAT_MATH: Readonly<Record<FloatFunction, MathRow>> = {
  exp: {
    float: (fp, x) => approximate("ex2")(fp, fp.mul(x, Math.LOG2E)),
    flushes: (fp, x) => flushed("ex2")(fp, fp.mul(x, Math.LOG2E)),
    double: exp,
    precise: exp,
    ulp: [64, 1.5],
  },
  exp2: {
    float: approximate("ex2"),
    flushes: flushed("ex2"),
    double: exp2,
    precise: exp2,
    ulp: [2, 1],
  },
  expm1: both(expm1, 2, 2),
  log: {
    float: (fp, x) => fp.mul(approximate("lg2")(fp, x), Math.LN2),
    double: log,
    precise: log,
    ulp: [2, 1],
  },
  log2: { float: approximate("lg2"), double: log2, precise: log2, ulp: [1, 2] },
  log10: {
    float: (fp, x) => fp.mul(approximate("lg2")(fp, x), Math.LN2 / Math.LN10),
    double: log10,
    precise: log10,
    ulp: [3, 1.5],
  },
  log1p: both(log1p, 2, 2),
  sqrt: exact((fp, x) => fp.sqrt(x)),
  rsqrt: { float: approximate("rsqrt"), double: rsqrt, ulp: [2, 1.5] },
  div_rn: { ...exact((fp, a, b) => fp.div(a, b)), divides: true },
  // The last sum below 1 is rounded to half a unit, two sums below 1/2 before it to a quarter each; the logarithm and the
  // polynomial add less than another quarter.
  pow: both(pow, 1.5, 1.5),
  fma: exact((fp, a, b, c) => fp.fma(a, b, c)),
  sin: both(sin, 2.5, 2.5),
  cos: both(cos, 2.5, 2.5),
  tan: both(tan, 3.5, 3.5),
  sinh: both(sinh, 3, 3),
  cosh: both(cosh, 3, 3),
  tanh: { ...both(tanh, 3, 3), divides: true },
  asinh: both(asinh, 3, 3),
  acosh: both(acosh, 3, 3),
  atanh: both(atanh, 3, 3),
  sigmoid: { ...both(sigmoid, 2.5, 2.5), divides: true },
  erf: both(erf, 3, 3),
  floor: exact((fp, x) => fp.integral("rmi", x)),
  ceil: exact((fp, x) => fp.integral("rpi", x)),
  rint: exact((fp, x) => fp.integral("rni", x)),
  trunc: exact((fp, x) => fp.integral("rzi", x)),
  round: exact(round),
  fmod: exact(fmod),
  copysign: exact((fp, x, y) => fp.copysign(x, y)),
  abs: exact((fp, x) => fp.abs(x)),
  isnan: exact((fp, x) => fp.isNan(x)),
  isinf: exact((fp, x) => fp.compare("eq", fp.abs(x), Infinity)),
  isfinite: exact((fp, x) => fp.compare("lt", fp.abs(x), Infinity)),
  minimum: exact((fp, a, b) => extreme(fp, "min", a, b)),
  maximum: exact((fp, a, b) => extreme(fp, "max", a, b)),
};

export function isFloatFunction(name: string): name is FloatFunction {
  return Object.hasOwn(FLOAT_MATH, name);
}

export function lowerMath(cx: LowerContext, op: OpOf<"math">): void {
  const { value, others } = operandsOf(op);
  const { element } = value.type;
  const { function: name, flushes } = op.attrs;
  if (isFloatFunction(name) && FLOAT_MATH[name].divides === true && dividesTogether(cx, element)) {
    const formula = singleOf(cx.emitter, FLOAT_MATH[name]);
    return computeTogether(cx, element, resultOf(op), {
      inputs: (register) => [value, ...others].map((one) => floatAt(cx, element, one, register)),
      compute: ([x = int(0), y = x, z = x], divide) =>
        formula(new Fp(cx.emitter, 32, divide), x, y, z),
      size: FUNCTION_GROUP,
      together: divideTogether,
    });
  }
  const compute = formulaOf(name, element, resultOf(op).type.element, flushes);
  const e = cx.emitter;
  const at = ({ type: { element } }: Value, of: Lowered, register: number): Operand =>
    e.inRegister(whole(e, of(register), element), bankOf(element));
  cx.values.set(
    resultOf(op),
    memo(cx, (register) =>
      compute(
        e,
        at(value, lowered(cx, value), register),
        others.map((other) => at(other, lowered(cx, other), register)),
      )),
  );
}

/** The formula for floats. */
const singleOf = (e: Emitter, row: MathRow, flushes = false): Formula =>
  (e.floats.precise ? row.precise : flushes ? row.flushes : undefined) ?? row.float;

/** Computes a function from its first operand and the others. */
type Compute = (e: Emitter, first: Operand, others: readonly Operand[]) => Operand;

function formulaOf(name: string, element: Element, result: Element, flushes = false): Compute {
  if (isFloat(element) && isFloatFunction(name)) {
    return floatMath(FLOAT_MATH[name], element, result, flushes);
  }
  if (!isFloat(element) && isIntegerOperation(name)) {
    const formula = INTEGER_MATH[name];
    return (e, x, [y = x]) => formula(e, element, x, y);
  }
  return bug(`no formula for ${name}`);
}

/** Computes narrow floats in float. */
function floatMath(row: MathRow, element: Element, result: Element, flushes: boolean): Compute {
  const wide: ScalarName = element === "float64" ? "float64" : "float32";
  // Subnormal floats are zero in narrower types of fewer exponents.
  const isZero = flushes || element !== "float32" && element !== "bfloat16";
  return (e, first, others) => {
    const formula = wide === "float64" ? row.double : singleOf(e, row, isZero);
    const fp = new Fp(e, wide === "float64" ? 64 : 32);
    const widened = (operand: Operand): Operand => convertScalar(e, operand, scalar(element), wide);
    const x = widened(first);
    const [y = x, z = x] = others.map(widened);
    const value = formula(fp, x, y, z);
    return result === "bool" ? value : convertScalar(e, value, wide, scalar(element));
  };
}

const scalar = (element: Element): ScalarName => isPointer(element) ? "uint64" : element;

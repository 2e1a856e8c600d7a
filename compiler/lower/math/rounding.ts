/** Rounding to whole numbers, remainders, and tests. */
import type { Operand } from "../../ptx/func.ts";
import type { Fp } from "./fp.ts";

/** Half away from zero. */
export function round(fp: Fp, x: Operand): Operand {
  const whole = fp.integral("rzi", x);
  const isHalf = fp.compare("ge", fp.abs(fp.sub(x, whole)), 0.5);
  const rounded = fp.add(whole, fp.copysign(fp.select(isHalf, 1, 0), x));
  // -0.2 rounds to -0, and infinity less itself is no number.
  return fp.select(isHalf, rounded, whole);
}

/** NaN wins over numbers. */
export function extreme(fp: Fp, name: "min" | "max", a: Operand, b: Operand): Operand {
  const plain = fp.e.pure(`${name}.${fp.type}`, fp.bank, [fp.e.inRegister(a, fp.bank), b]);
  const either = fp.compare("nan", a, b);
  return fp.select(either, NaN, plain);
}

/** x^-½ of doubles; floats have an instruction. */
export function rsqrt(fp: Fp, x: Operand): Operand {
  return fp.div(1, fp.sqrt(x));
}

/** Approximations of single precision, nearer to the exact result than the ISA asks for (PTX ISA 9.0, 9.7.3). */
import { double, type Expr, f64, i32, op, type Scratch, select, word } from "./expr.ts";
import { demoted, joined, promoted } from "./single.ts";

/** a / b; where 1 / b is subnormal, a times a zero. */
export function approximateQuotient(scratch: Scratch, a: Expr, b: Expr): Expr {
  const size = scratch.let(op("f32x4.abs", b));
  const large = op(
    "v128.and",
    op("f32x4.gt", size, word((127 + 126) << 23)),
    op("f32x4.ne", size, word(0x7f800000)),
  );
  const zero = op("v128.and", b, word(1 << 31));
  return select(large, op("f32x4.mul", a, zero), op("f32x4.div", a, b));
}

/** A function of four singles that is computed in double precision. */
function inDouble(
  scratch: Scratch,
  ftz: boolean,
  value: Expr,
  compute: (value: Expr) => Expr,
): Expr {
  const [low, high] = promoted(value);
  const first = scratch.let(demoted(scratch, compute(low), ftz));
  return joined(first, scratch.let(demoted(scratch, compute(high), ftz)));
}

const splat = (value: number): Expr => op("f64x2.splat", f64(value));

export function reciprocalRoot(scratch: Scratch, ftz: boolean, a: Expr): Expr {
  return inDouble(scratch, ftz, a, (value) => op("f64x2.div", splat(1), op("f64x2.sqrt", value)));
}

/** Terms of the series of 2^x: ln(2)^n / n!. Up to 2^0.5, nine of them leave a relative error below 10^-11. */
const TERMS: readonly number[] = Array.from({ length: 10 }, (_, n) => n).map((n) =>
  Array.from({ length: n }, (_, i) => Math.LN2 / (i + 1)).reduce((term, factor) => term * factor, 1)
);

/** Powers of two, which are zero and infinity as singles beyond these exponents. */
const [LEAST, MOST] = [-160, 130];

/** 2^a: by the nearest integer and a series for the rest. */
export function powerOfTwo(scratch: Scratch, ftz: boolean, a: Expr): Expr {
  return inDouble(scratch, ftz, a, (value) => {
    const bounded = scratch.let(
      op("f64x2.max", op("f64x2.min", value, splat(MOST)), splat(LEAST)),
    );
    const integer = scratch.let(op("f64x2.nearest", bounded));
    const rest = scratch.let(op("f64x2.sub", bounded, integer));
    const series = TERMS.toReversed().map(splat).reduce((sum, term) =>
      op("f64x2.add", op("f64x2.mul", sum, rest), term)
    );
    const exponent = op("i32x4.trunc_sat_f64x2_s_zero", integer);
    const power = op(
      "i64x2.shl",
      op("i64x2.add", op("i64x2.extend_low_i32x4_s", exponent), double(1023n)),
      i32(52),
    );
    return op("f64x2.mul", series, power);
  });
}

/** Elementary functions of doubles by their power series, in fixed-point numbers with 240 bits after the point. */

const POINT = 240n;
const ONE = 1n << POINT;

const times = (a: bigint, b: bigint): bigint => (a * b) >> POINT;
const over = (a: bigint, b: bigint): bigint => (a << POINT) / b;

/** A double of ordinary size, exactly. */
export function toFixed(value: number): bigint {
  let [whole, scale] = [value, 0n];
  while (whole !== Math.trunc(whole)) {
    whole *= 2;
    scale++;
  }
  return (BigInt(whole) << POINT) >> scale;
}

/** A fixed-point number as a double; its error is far below those that are measured. */
export function toNumber(value: bigint): number {
  const size = value < 0n ? -value : value;
  const drop = BigInt(Math.max(0, size.toString(2).length - 100));
  return Number(value >> drop) * 2 ** (Number(drop) - Number(POINT));
}

/** The sum of a series from its first term and the factor that leads from one term to the next. */
function series(first: bigint, next: (term: bigint, nth: bigint) => bigint): bigint {
  let [sum, term, nth] = [0n, first, 1n];
  while (term !== 0n && term !== -1n) {
    sum += term;
    term = next(term, nth++);
  }
  return sum;
}

function exponential(x: bigint): bigint {
  return series(ONE, (term, nth) => times(term, x) / nth);
}

/** The inverse hyperbolic tangent. */
function areaTangent(x: bigint): bigint {
  const square = times(x, x);
  let [sum, power, odd] = [0n, x, 1n];
  while (power !== 0n && power !== -1n) {
    sum += power / odd;
    power = times(power, square);
    odd += 2n;
  }
  return sum;
}

/** The arc tangent of 1 / n. */
function arcTangent(n: bigint): bigint {
  let [sum, power, odd] = [0n, ONE / n, 1n];
  while (power !== 0n && power !== -1n) {
    sum += power / odd;
    power /= -(n * n);
    odd += 2n;
  }
  return sum;
}

const LN2 = 2n * areaTangent(ONE / 3n);
/** Machin's formula. */
const PI = 16n * arcTangent(5n) - 4n * arcTangent(239n);

/** 2 to the power of x, for |x| up to 100. */
export function exp2(x: bigint): bigint {
  const whole = x >> POINT;
  const part = exponential(times(x - (whole << POINT), LN2));
  return whole < 0n ? part >> -whole : part << whole;
}

/** The logarithm to base 2. */
export function log2(x: bigint): bigint {
  const whole = BigInt(x.toString(2).length - 1) - POINT;
  const part = whole < 0n ? x << -whole : x >> whole;
  return (whole << POINT) + over(2n * areaTangent(over(part - ONE, part + ONE)), LN2);
}

export function sine(x: bigint): bigint {
  const turns = x / (2n * PI);
  const angle = x - turns * 2n * PI;
  const square = times(angle, angle);
  return series(angle, (term, nth) => -times(term, square) / (2n * nth * (2n * nth + 1n)));
}

export function cosine(x: bigint): bigint {
  return sine(x + PI / 2n);
}

/** The hyperbolic tangent, for |x| up to 20. */
export function hyperbolicTangent(x: bigint): bigint {
  const square = exp2(over(2n * x, LN2));
  return over(square - ONE, square + ONE);
}

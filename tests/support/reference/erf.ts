/** The error function of a double by its power series, in fixed-point numbers wide enough for what cancels. */

const POINT = 400n;
/** 2/√π = 1.128…, by Newton's method on π from Machin's formula. */
const SCALE = twoOverRootPi();

function arctanInverse(n: bigint): bigint {
  let [power, sum, k] = [(1n << POINT) / n, 0n, 1n];
  while (power !== 0n) {
    sum += (k % 4n === 1n ? power : -power) / k;
    power /= n * n;
    k += 2n;
  }
  return sum;
}

function root(value: bigint): bigint {
  let guess = 1n << (POINT + 2n);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

function twoOverRootPi(): bigint {
  const pi = 4n * (4n * arctanInverse(5n) - arctanInverse(239n));
  return (2n << (2n * POINT)) / root(pi << POINT);
}

export function erf(value: number): number {
  if (Number.isNaN(value) || Math.abs(value) > 6) return Math.sign(value);
  // Below the resolution of the fixed point the series ends after its first term.
  if (Math.abs(value) < 2 ** -30) return 2 / Math.sqrt(Math.PI) * value;
  let [whole, scale] = [value, 0n];
  while (whole !== Math.trunc(whole)) {
    whole *= 2;
    scale++;
  }
  const x = (BigInt(whole) << POINT) >> scale;
  const square = (x * x) >> POINT;
  let [term, sum] = [x, 0n];
  for (let n = 0n; term !== 0n && term !== -1n; n++) {
    sum += term / (2n * n + 1n);
    term = -((term * square) >> POINT) / (n + 1n);
  }
  const result = (sum * SCALE) >> POINT;
  return Number(result >> (POINT - 200n)) * 2 ** -200;
}

/** Expected results of integer.cu, by arithmetic with bigints. */
import { edgyLongs, edgyWords } from "./data.ts";
import { buffer, type CorpusCase, int, output } from "./types.ts";

const cut = (bits: number, value: bigint): bigint => BigInt.asUintN(bits, value);
const sign = (bits: number, value: bigint): bigint => BigInt.asIntN(bits, value);
const abs = (value: bigint): bigint => value < 0n ? -value : value;
const least = (a: bigint, b: bigint): bigint => a < b ? a : b;
const most = (a: bigint, b: bigint): bigint => a > b ? a : b;
const held = (value: bigint, low: bigint, high: bigint): bigint => most(low, least(value, high));

const bitsOf = (value: bigint, width: number): number[] =>
  Array.from({ length: width }, (_, i) => Number((value >> BigInt(i)) & 1n));
const fromBits = (bits: readonly number[]): bigint =>
  bits.reduce((value, bit, i) => value | (BigInt(bit) << BigInt(i)), 0n);
const popcount = (value: bigint, width: number): bigint =>
  BigInt(bitsOf(value, width).filter((bit) => bit === 1).length);
const leadingZeros = (value: bigint, width: number): bigint =>
  BigInt(width - 1 - bitsOf(value, width).lastIndexOf(1));
const firstSet = (value: bigint, width: number): bigint =>
  BigInt(bitsOf(value, width).indexOf(1) + 1);
const reversed = (value: bigint, width: number): bigint => fromBits(bitsOf(value, width).reverse());

/** Parts of a word, each as a number. */
const lanes = (value: bigint, bits: number, signed: boolean): bigint[] =>
  Array.from({ length: 32 / bits }, (_, i) => {
    const part = value >> BigInt(i * bits);
    return signed ? sign(bits, part) : cut(bits, part);
  });
const joined = (parts: readonly bigint[], bits: number): bigint =>
  parts.reduce((word, part, i) => word | (cut(bits, part) << BigInt(i * bits)), 0n);
const byLane = (
  a: bigint,
  b: bigint,
  bits: number,
  signed: boolean,
  combine: (p: bigint, q: bigint) => bigint,
): bigint => {
  const other = lanes(b, bits, signed);
  return joined(lanes(a, bits, signed).map((p, i) => combine(p, other[i] ?? 0n)), bits);
};

const dot = (as: readonly bigint[], bs: readonly bigint[], c: bigint): bigint =>
  as.reduce((sum, a, i) => sum + a * (bs[i] ?? 0n), c);

/** Bytes of two words that the digits of a selector name; with its upper bit, the sign of the byte. */
function permuted(a: bigint, b: bigint, digits: readonly bigint[]): bigint {
  const bytes = [...lanes(a, 8, false), ...lanes(b, 8, false)];
  return joined(
    digits.map((digit) => {
      const byte = bytes[Number(digit & 7n)] ?? 0n;
      return (digit & 8n) === 0n ? byte : byte >= 128n ? 255n : 0n;
    }),
    8,
  );
}

/** The digits of a mode of prmt. */
const PERMUTATIONS: Readonly<Record<string, (c: bigint) => bigint[]>> = {
  f4e: (c) => [0n, 1n, 2n, 3n].map((i) => c + i),
  b4e: (c) => [0n, 7n, 6n, 5n].map((i) => (c + i) & 7n),
  rc8: (c) => [c, c, c, c],
  ecl: (c) => [0n, 1n, 2n, 3n].map((i) => most(i, c)),
  ecr: (c) => [0n, 1n, 2n, 3n].map((i) => least(i, c)),
  rc16: (c) => [0n, 1n, 0n, 1n].map((i) => i + 2n * (c & 1n)),
};

function wordResults(a: bigint, b: bigint, c: bigint): bigint[] {
  const [s, t, u] = [sign(32, a), sign(32, b), sign(32, c)];
  const divides = t !== 0n && !(s === -(2n ** 31n) && t === -1n);
  const both = (b << 32n) | a;
  const shift = c & 31n;
  const clamped = least(c & 63n, 32n);
  const s24 = (value: bigint): bigint => sign(24, value);
  const u24 = (value: bigint): bigint => cut(24, value);
  const digits = Array.from({ length: 4 }, (_, i) => (c >> BigInt(4 * i)) & 7n);
  return [
    b === 0n ? 0n : a / b,
    b === 0n ? 0n : a % b,
    divides ? s / t : 0n,
    divides ? s % t : 0n,
    (a * b) >> 32n,
    (s * t) >> 32n,
    leadingZeros(a, 32),
    popcount(a, 32),
    reversed(a, 32),
    firstSet(a, 32),
    (both << shift) >> 32n,
    both >> shift,
    (both << clamped) >> 32n,
    both >> clamped,
    permuted(a, b, digits),
    dot(lanes(a, 8, true), lanes(b, 8, true), u),
    dot(lanes(a, 8, false), lanes(b, 8, false), c),
    dot(lanes(a, 16, true), lanes(b, 8, true).slice(0, 2), u),
    dot(lanes(a, 16, false), lanes(b, 8, false).slice(2), c),
    abs(s - t) + c,
    abs(a - b) + c,
    (s + t) >> 1n,
    (s + t + 1n) >> 1n,
    (a + b) >> 1n,
    s24(s) * s24(t),
    u24(a) * u24(b),
    a << shift,
    a >> shift,
    s >> shift,
    abs(s),
    least(s, t),
    most(a, b),
    a * b + c,
    (a & b) | (~a & c),
    sign(8, a) + sign(16, b),
    cut(8, a * 3n) ^ cut(16, b - c),
    byLane(a, b, 8, false, (p, q) => p + q),
    byLane(a, b, 16, true, (p, q) => held(p - q, -32768n, 32767n)),
    byLane(a, b, 8, false, most),
    byLane(a, b, 16, true, (p, q) => abs(p - q)),
  ];
}

const words: CorpusCase = {
  file: "integer",
  kernel: "integer_words",
  grid: [8, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 1000;
    const [x, y, z] = [edgyWords(71, n), edgyWords(72, n), edgyWords(73, n)];
    const out = Uint32Array.from({ length: n }, () => 0);
    const all = [...out].flatMap((_, i) =>
      wordResults(BigInt(x[i] ?? 0), BigInt(y[i] ?? 0), BigInt(z[i] ?? 0))
    );
    const expected = Uint32Array.from(all, (value) => Number(cut(32, value)));
    return [buffer(x), buffer(y), buffer(z), output(expected), int(n)];
  },
};

function longResults(a: bigint, b: bigint): bigint[] {
  const [s, t] = [sign(64, a), sign(64, b)];
  const divides = t !== 0n && !(s === -(2n ** 63n) && t === -1n);
  const shift = b & 63n;
  return [
    b === 0n ? 0n : a / b,
    b === 0n ? 0n : a % b,
    divides ? s / t : 0n,
    divides ? s % t : 0n,
    (a * b) >> 64n,
    (s * t) >> 64n,
    a * b,
    leadingZeros(a, 64),
    popcount(a, 64),
    reversed(a, 64),
    firstSet(a, 64),
    a << shift,
    a >> shift,
    s >> shift,
    least(s, t),
    most(a, b),
    cut(32, a) * cut(32, b),
    sign(32, a) * sign(32, b),
    a - b,
    abs(s),
    a === b ? 1n : a < b ? 2n : s < t ? 3n : 4n,
    (a >> 7n) ^ (b << 9n) ^ ~(a & b),
    sign(32, a ^ b),
    a > 0xffffffffn ? b >> 32n : cut(16, a),
  ];
}

const longs: CorpusCase = {
  file: "integer",
  kernel: "integer_longs",
  grid: [6, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 700;
    const [x, y] = [edgyLongs(74, n), edgyLongs(75, n)];
    const all = [...x].flatMap((a, i) => longResults(a, y[i] ?? 0n));
    return [buffer(x), buffer(y), output(BigUint64Array.from(all, (v) => cut(64, v))), int(n)];
  },
};

function wideResults(a: bigint, b: bigint, x: bigint, y: bigint): bigint[] {
  const shifted = cut(128, a << (y & 127n)) ^ (b >> (x & 127n));
  return [
    ...[a + b, a - b, a * b, shifted].flatMap((value) => [value, cut(128, value) >> 64n]),
    a < b ? 1n : 0n,
    sign(128, a) < sign(128, b) ? 1n : 0n,
  ];
}

const wide: CorpusCase = {
  file: "integer",
  kernel: "integer_wide",
  grid: [4, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 400;
    const [x, y] = [edgyLongs(76, n), edgyLongs(77, n)];
    const pair = (from: BigUint64Array, i: number): bigint =>
      ((from[i] ?? 0n) << 64n) | (from[i + 1] ?? 0n);
    const all = Array.from(
      { length: n - 1 },
      (_, i) => wideResults(pair(x, i), pair(y, i), x[i] ?? 0n, y[i] ?? 0n),
    ).flat();
    return [buffer(x), buffer(y), output(BigUint64Array.from(all, (v) => cut(64, v))), int(n)];
  },
};

/** Bits from `start` on, `length` of them (PTX ISA, bfe): beyond the word lie copies of the sign, or zeros. */
function extracted(value: bigint, start: bigint, length: bigint, signed: boolean): bigint {
  if (length === 0n) return 0n;
  const whole = signed ? sign(32, value) : value;
  const field = (whole >> start) & ((1n << length) - 1n);
  const top = least(start + length - 1n, 31n);
  const negative = signed && ((value >> top) & 1n) === 1n;
  return negative && length < 32n ? field | (-1n << length) : field;
}

function inserted(field: bigint, into: bigint, start: bigint, length: bigint): bigint {
  const mask = cut(32, ((1n << length) - 1n) << start);
  return (into & ~mask) | (cut(32, field << start) & mask);
}

/** The highest bit that differs from the sign; all ones if none does. */
const highest = (value: bigint): bigint => {
  const at = bitsOf(value, 32).lastIndexOf(1);
  return at < 0 ? 0xffffffffn : BigInt(at);
};

function asmResults(a: bigint, b: bigint, c: bigint): bigint[] {
  const [start, length] = [b & 63n, c & 63n];
  const mode = (name: string): bigint => permuted(a, b, PERMUTATIONS[name]?.(c & 3n) ?? []);
  const shift = highest(a);
  return [
    extracted(a, start, length, false),
    extracted(a, start, length, true),
    inserted(a, b, c & 63n, (c >> 8n) & 63n),
    highest(a),
    highest(sign(32, a) < 0n ? cut(32, ~a) : a),
    shift === 0xffffffffn ? shift : 31n - shift,
    permuted(a, b, Array.from({ length: 4 }, (_, i) => (c >> BigInt(4 * i)) & 15n)),
    ...["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"].map(mode),
    // 0x6a: the table of (a and b) xor c.
    (a & b) ^ c,
    a + b,
    c + ((a + b) >> 32n),
    a - b,
    c - (a < b ? 1n : 0n),
    a << (c & 63n),
    held(sign(32, a) + sign(32, b), -(2n ** 31n), 2n ** 31n - 1n),
  ];
}

const asm: CorpusCase = {
  file: "integer",
  kernel: "integer_asm",
  grid: [8, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 1000;
    const [x, y, z] = [edgyWords(78, n), edgyWords(79, n), edgyWords(80, n)];
    const all = [...x].flatMap((a, i) =>
      asmResults(BigInt(a), BigInt(y[i] ?? 0), BigInt(z[i] ?? 0))
    );
    const expected = Uint32Array.from(all, (value) => Number(cut(32, value)));
    return [buffer(x), buffer(y), buffer(z), output(expected), int(n)];
  },
};

export const INTEGER: readonly CorpusCase[] = [words, longs, wide, asm];

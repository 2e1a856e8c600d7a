/** Expected results of half.cu. */
import { randomWords } from "./data.ts";
import {
  add,
  BFLOAT,
  type Exact,
  type FloatFormat,
  fromBits,
  fromNumber,
  HALF,
  maximum,
  minimum,
  multiply,
  negate,
  toBits,
  toNumber,
} from "./small_floats.ts";
import { buffer, type CorpusCase, int, output } from "./types.ts";

const bit = (truth: boolean, at = 0): number => truth ? 1 << at : 0;

/** Bits of all magnitudes, most of them moderate; NaN only where it is allowed. */
function bitsOf(
  seed: number,
  count: number,
  format: FloatFormat,
  nan: boolean,
): Uint16Array<ArrayBuffer> {
  const next = randomWords(seed);
  const { exponentBits, mantissaBits } = format;
  const middle = 2 ** (exponentBits - 1) - 1;
  const infinity = (2 ** exponentBits - 1) << mantissaBits;
  const special = [
    0,
    0x8000,
    1,
    0x8001,
    infinity - 1,
    infinity,
    infinity | 0x8000,
    middle << mantissaBits,
  ];
  return Uint16Array.from({ length: count }, (_, i) => {
    const word = next();
    if (i % 7 === 0) return special[word % special.length] ?? 0;
    if (i % 7 === 1 && nan) return 0x7fff;
    if (i % 7 === 2) {
      const any = word & 0xffff;
      return (any & infinity) === infinity ? any & ~(1 << mantissaBits) : any;
    }
    const exponent = middle - 6 + word % 12;
    return ((word >>> 16) & (0x8000 | (2 ** mantissaBits - 1))) | (exponent << mantissaBits);
  });
}

/** To an integer of 32 bits, of which the lower 16 are kept. */
function toInteger(value: number, round: (value: number) => number, signed: boolean): number {
  if (Number.isNaN(value)) return 0;
  const [low, high] = signed ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
  return Math.max(low, Math.min(high, round(value)));
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && Math.abs(floor % 2) === 1) ? floor + 1 : floor;
}

type Triple<T> = readonly [T, T, T];

const mapped = <T, U>([a, b, c]: Triple<T>, change: (value: T) => U): Triple<U> => [
  change(a),
  change(b),
  change(c),
];

const ordered = (a: Exact, b: Exact): boolean => a.kind !== "nan" && b.kind !== "nan";

function scalarResults(bits: Triple<number>): number[] {
  const [a, b, c] = mapped(bits, (each) => fromBits(HALF, each));
  const [p, q, r] = [toNumber(a), toNumber(b), toNumber(c)];
  const half = (value: Exact): number => toBits(HALF, value);
  const fused = add(multiply(a, b), c);
  const total = toNumber(fromBits(HALF, half(add(a, b))));
  const scale = fromNumber(1.00048828125);
  return [
    half(add(a, b)),
    half(add(a, negate(b))),
    half(multiply(a, b)),
    half(fused),
    bits[0] ^ 0x8000,
    bits[0] & 0x7fff,
    half(minimum(a, b)),
    half(maximum(a, b)),
    Number.isNaN(total) ? 0 : half(fromNumber(Math.max(0, Math.min(1, total)))),
    fused.kind !== "nan" && fused.negative ? 0 : half(fused),
    bit(p === q) | bit(p < q, 1) | bit(p >= q, 2) | bit(ordered(a, b) && p !== q, 3) |
    bit(c.kind === "nan", 4),
    toInteger(p, roundEven, true),
    toInteger(q, Math.trunc, true),
    toInteger(Math.abs(r), Math.ceil, false),
    half(fromNumber(bits[0] * 3 - 90000)),
    half(multiply(a, scale)),
    toBits(HALF, multiply(b, scale), "zero"),
    toBits(HALF, multiply(c, scale), "up"),
    toBits(HALF, fromNumber(Math.fround(p / 3)), "down"),
    half(fromNumber(Math.floor(p))),
  ];
}

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

const scalar: CorpusCase = {
  file: "half",
  kernel: "half_scalar",
  grid: [5, 1, 1],
  block: [256, 1, 1],
  sm: 90,
  arguments: () => {
    const n = 1200;
    const [x, y, z] = [
      bitsOf(91, n, HALF, false),
      bitsOf(92, n, HALF, true),
      bitsOf(93, n, HALF, true),
    ];
    const out = Array.from(x, (a, i) => scalarResults([a, at(y, i), at(z, i)])).flat();
    return [buffer(x), buffer(y), buffer(z), output(Uint16Array.from(out)), int(n)];
  },
};

const packed: CorpusCase = {
  file: "half",
  kernel: "half_packed",
  grid: [5, 1, 1],
  block: [128, 1, 1],
  sm: 90,
  arguments: () => {
    const n = 600;
    const seeds: Triple<number> = [94, 95, 96];
    const [x, y, z] = mapped(seeds, (seed) => bitsOf(seed, 2 * n, HALF, true));
    const half = (value: Exact): number => toBits(HALF, value);
    const out: number[] = [];
    for (let i = 0; i < 2 * n; i += 2) {
      const pair = (from: ArrayLike<number>): readonly [Exact, Exact] => [
        fromBits(HALF, at(from, i)),
        fromBits(HALF, at(from, i + 1)),
      ];
      const [a, b, c] = mapped<ArrayLike<number>, readonly [Exact, Exact]>([x, y, z], pair);
      const each = (result: (j: 0 | 1) => number): number[] => [result(0), result(1)];
      out.push(
        ...each((j) => half(add(a[j], b[j]))),
        ...each((j) => half(add(a[j], negate(b[j === 0 ? 1 : 0])))),
        ...each((j) => half(multiply(a[j], b[j]))),
        ...each((j) => half(add(multiply(a[j], b[j]), c[j]))),
        ...each((j) => half(minimum(a[j], b[j]))),
        ...each((j) => half(maximum(a[j], b[1]))),
        ...each((j) => toNumber(a[j]) > toNumber(b[j]) ? 0x3c00 : 0),
        at(x, i),
        at(z, i + 1),
      );
    }
    return [buffer(x), buffer(y), buffer(z), output(Uint16Array.from(out)), int(n)];
  },
};

function bfloatResults(bits: Triple<number>): number[] {
  const [a, b, c] = mapped(bits, (each) => fromBits(BFLOAT, each));
  const [p, q] = [toNumber(a), toNumber(b)];
  const scaled = (value: number): Exact => fromNumber(Math.fround(value * 1.00390625));
  return [
    ...[
      add(a, b),
      add(a, negate(b)),
      multiply(a, b),
      add(multiply(a, b), c),
      minimum(a, b),
      maximum(a, b),
    ]
      .map((value) => toBits(BFLOAT, value)),
    toBits(BFLOAT, scaled(p)),
    toBits(BFLOAT, scaled(q), "zero"),
    toBits(BFLOAT, fromNumber(Math.fround(p + q))),
    bit(p === q) | bit(p < q, 1) | bit(c.kind === "nan", 2),
    toInteger(p, Math.trunc, true),
    // The sign of NaN is up to the hardware: none here.
    bits[2] | 0x8000,
  ];
}

const bfloat: CorpusCase = {
  file: "half",
  kernel: "half_bfloat",
  grid: [5, 1, 1],
  block: [256, 1, 1],
  sm: 90,
  arguments: () => {
    const n = 1200;
    const [x, y] = [bitsOf(97, n, BFLOAT, false), bitsOf(98, n, BFLOAT, true)];
    const z = bitsOf(99, n, BFLOAT, false);
    const out = Array.from(x, (a, i) => bfloatResults([a, at(y, i), at(z, i)])).flat();
    return [buffer(x), buffer(y), buffer(z), output(Uint16Array.from(out)), int(n)];
  },
};

/** An 8-bit format: the values of its codes below 0x80, without NaN and infinity. */
interface ByteFormat {
  readonly values: readonly number[];
}

function byteFormat(exponentBits: number, mantissaBits: number, codes: number): ByteFormat {
  const bias = 2 ** (exponentBits - 1) - 1;
  return {
    values: Array.from({ length: codes }, (_, code) => {
      const field = code >> mantissaBits;
      const fraction = (code % 2 ** mantissaBits) / 2 ** mantissaBits;
      return field === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (field - bias);
    }),
  };
}

const E4M3 = byteFormat(4, 3, 0x7f);
const E5M2 = byteFormat(5, 2, 0x7c);

/** The code next to a number, of two as near the even one; what is too large becomes the largest. */
function toByte({ values }: ByteFormat, value: number): number {
  const size = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0;
  let best = 0;
  values.forEach((each, code) => {
    const [now, then] = [Math.abs(each - size), Math.abs((values[best] ?? 0) - size)];
    if (now < then || (now === then && code % 2 === 0)) best = code;
  });
  return size >= (values.at(-1) ?? 0) ? sign | (values.length - 1) : sign | best;
}

const fromByte = ({ values }: ByteFormat, code: number): number =>
  (code >= 0x80 ? -1 : 1) * at(values, code & 0x7f);

const bytes: CorpusCase = {
  file: "half",
  kernel: "half_fp8",
  grid: [4, 1, 1],
  block: [128, 1, 1],
  sm: 90,
  arguments: () => {
    const n = 500;
    const next = randomWords(90);
    const special = [
      0,
      -0,
      448,
      464,
      480,
      -449,
      57344,
      61440,
      -65504,
      2 ** -9,
      2 ** -10,
      -(2 ** -17),
      1e-8,
      1.0625,
      1.1875,
      1.125,
      1.375,
    ];
    const x = Float32Array.from({ length: 2 * n }, (_, i) => {
      if (i % 4 === 0) return at(special, next() % special.length);
      const value = (1 + (next() >>> 20) / 4096) * 2 ** (next() % 30 - 16);
      return next() % 2 === 0 ? value : -value;
    });
    const halves = x.map((value) => toNumber(fromBits(HALF, toBits(HALF, fromNumber(value)))));
    const out: number[] = [];
    const back: number[] = [];
    for (let i = 0; i < 2 * n; i += 2) {
      const pair = (format: ByteFormat, from: ArrayLike<number>): number =>
        toByte(format, at(from, i)) | (toByte(format, at(from, i + 1)) << 8);
      out.push(pair(E4M3, x), pair(E5M2, x), pair(E4M3, halves), pair(E5M2, halves));
      for (const format of [E4M3, E5M2]) {
        for (const j of [0, 1]) {
          const value = fromByte(format, toByte(format, at(x, i + j)));
          back.push(toBits(HALF, fromNumber(value)));
        }
      }
    }
    return [
      buffer(x),
      output(Uint16Array.from(out)),
      output(Uint16Array.from(back)),
      int(n),
    ];
  },
};

export const HALVES: readonly CorpusCase[] = [scalar, packed, bfloat, bytes];

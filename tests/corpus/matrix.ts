/** Expected results of matrix.cu: plain products of matrices. Operands are such that all sums are exact. */
import { edgyWords, integers, spread } from "./data.ts";
import { fromBits, fromNumber, HALF, toBits, toNumber } from "./small_floats.ts";
import { buffer, type CorpusCase, int, output } from "./types.ts";

type Matrix = (row: number, column: number) => number;

/** The elements of a product, row after row; `start` is what is added to. */
function product(
  rows: number,
  columns: number,
  inner: number,
  a: Matrix,
  b: Matrix,
  start: Matrix = () => 0,
): number[] {
  return Array.from({ length: rows * columns }, (_, at) => {
    const [i, j] = [Math.floor(at / columns), at % columns];
    let sum = start(i, j);
    for (let k = 0; k < inner; k++) sum += a(i, k) * b(k, j);
    return sum;
  });
}

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

/** Halves of small fractions: sums of their products fit singles. */
function halves(seed: number, count: number): { bits: Uint16Array<ArrayBuffer>; values: number[] } {
  const values = integers(seed, count, -64, 64).map((value) => value / 16);
  return { bits: Uint16Array.from(values, (value) => toBits(HALF, fromNumber(value))), values };
}

const tiles: CorpusCase = {
  file: "matrix",
  kernel: "matrix_tiles",
  grid: [3, 3, 1],
  block: [16, 16, 1],
  sm: 80,
  arguments: () => {
    const n = 48;
    const [a, b] = [integers(201, n * n, -30, 30), integers(202, n * n, -30, 30)];
    const c = product(n, n, n, (i, k) => at(a, i * n + k), (k, j) => at(b, k * n + j));
    return [
      buffer(Float32Array.from(a)),
      buffer(Float32Array.from(b)),
      output(Float32Array.from(c)),
      int(n),
    ];
  },
};

const wmmaHalf: CorpusCase = {
  file: "matrix",
  kernel: "matrix_wmma_half",
  grid: [1, 1, 1],
  block: [32, 1, 1],
  sm: 80,
  arguments: () => {
    const [a, b] = [halves(203, 256), halves(204, 256)];
    const c = product(
      16,
      16,
      16,
      (i, k) => at(a.values, i * 16 + k),
      (k, j) => at(b.values, j * 16 + k),
      () => 1,
    );
    return [buffer(a.bits), buffer(b.bits), output(Float32Array.from(c, (value) => 2 * value))];
  },
};

const wmmaBytes: CorpusCase = {
  file: "matrix",
  kernel: "matrix_wmma_bytes",
  grid: [1, 1, 1],
  block: [32, 1, 1],
  sm: 80,
  arguments: () => {
    const [a, b] = [205, 206].map((seed) => Int8Array.from(integers(seed, 256, -128, 127)));
    if (a === undefined || b === undefined) throw new RangeError("operands");
    const c = product(
      16,
      16,
      16,
      (i, k) => at(a, i * 16 + k),
      (k, j) => at(b, j * 16 + k),
      () => 5,
    );
    return [buffer(a), buffer(b), output(Int32Array.from(c))];
  },
};

const mmaHalf: CorpusCase = {
  file: "matrix",
  kernel: "matrix_mma_half",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const k = 48;
    const [a, b] = [halves(207, 64 * k), halves(208, 64 * k)];
    const c = product(
      64,
      64,
      k,
      (i, m) => at(a.values, i * k + m),
      (m, j) => at(b.values, m * 64 + j),
    );
    return [buffer(a.bits), buffer(b.bits), output(Float32Array.from(c)), int(k)];
  },
};

/*
 * Where mma.sync has its operands (PTX ISA, "Matrix Fragments for mma"): lane l holds rows l / 4 and l / 4 + 8 of A,
 * column l / 4 of B, and of C what its rows and columns 2 (l % 4) and one more are. Elements of a register are
 * neighbours along the sum.
 */

/** Element (row, k) of A of which a register holds `width` elements, with four registers a lane. */
function elementOfA(
  width: number,
  value: (lane: number, register: number, part: number) => number,
): Matrix {
  return (row, k) => {
    const [group, part] = [Math.floor(k / width), k % width];
    return value((row % 8) * 4 + group % 4, Math.floor(row / 8) + 2 * Math.floor(group / 4), part);
  };
}

function elementOfB(
  width: number,
  value: (lane: number, register: number, part: number) => number,
): Matrix {
  return (k, column) => {
    const [group, part] = [Math.floor(k / width), k % width];
    return value(column * 4 + group % 4, Math.floor(group / 4), part);
  };
}

/** C as the lanes hold it, `count` elements each: rows of two, then eight rows below. */
function byLane(c: readonly number[], count: number, columns = 8): number[] {
  return Array.from({ length: 32 * count }, (_, i) => {
    const [lane, element] = [Math.floor(i / count), i % count];
    const row = Math.floor(lane / 4) + 8 * Math.floor(element / 2);
    return at(c, row * columns + (lane % 4) * 2 + element % 2);
  });
}

const bfloat = (bits: number): number =>
  new Float32Array(Uint32Array.of((bits << 16) >>> 0).buffer)[0] ?? 0;
const single = (bits: number): number =>
  new Float32Array(Uint32Array.of(bits >>> 0).buffer)[0] ?? 0;
const half = (bits: number): number => toNumber(fromBits(HALF, bits));
const nibble = (word: number, i: number, signed: boolean): number =>
  signed ? (word << (28 - 4 * i)) >> 28 : (word >>> (4 * i)) & 15;
const byte = (word: number, i: number, signed: boolean): number =>
  signed ? (word << (24 - 8 * i)) >> 24 : (word >>> (8 * i)) & 255;
const short = (word: number, i: number): number => (word >>> (16 * i)) & 0xffff;

const forms: CorpusCase = {
  file: "matrix",
  kernel: "matrix_mma_forms",
  grid: [1, 1, 1],
  block: [32, 1, 1],
  sm: 80,
  arguments: () => {
    const [a, b] = [edgyWords(209, 128), edgyWords(210, 64)];
    const inA = (mask: number) => (lane: number, register: number): number =>
      at(a, lane * 4 + register) & mask;
    const inB = (mask: number) => (lane: number, register: number): number =>
      at(b, lane * 2 + register) & mask;
    const start = (row: number, column: number): number => 1 + column % 2 + 2 * Math.floor(row / 8);
    const bf = product(
      16,
      8,
      16,
      elementOfA(2, (lane, r, part) => bfloat(short(inA(0x41f041f0)(lane, r), part))),
      elementOfB(2, (lane, r, part) => bfloat(short(inB(0xc1f0c1f0)(lane, r), part))),
      start,
    );
    const tf = product(
      16,
      8,
      8,
      elementOfA(1, (lane, r) => single(inA(0x41f00000)(lane, r))),
      elementOfB(1, (lane, r) => single(inB(0xc1f00000)(lane, r))),
    );
    const starts = [0, -1, 100000, 7];
    const s8 = product(
      16,
      8,
      32,
      elementOfA(4, (lane, r, part) => byte(inA(-1)(lane, r), part, true)),
      elementOfB(4, (lane, r, part) => byte(inB(-1)(lane, r), part, false)),
      (row, column) => at(starts, column % 2 + 2 * Math.floor(row / 8)),
    );
    const f16 = product(
      16,
      8,
      8,
      elementOfA(2, (lane, r, part) => half(short(inA(0x44004400)(lane, r), part))),
      elementOfB(2, (lane, r, part) => half(short(inB(0xc400c400)(lane, r), part))),
      (row, column) => row >= 8 && column % 2 === 1 ? 2 : 1,
    );
    const [da, db] = [spread(211, 32, -4, 4), spread(212, 32, -4, 4)].map((values) =>
      Float64Array.from(values, (value) => Math.round(value * 64) / 64)
    );
    if (da === undefined || db === undefined) throw new RangeError("operands");
    const f64 = product(
      8,
      8,
      4,
      (row, k) => at(da, row * 4 + k),
      (k, column) => at(db, column * 4 + k),
      (_, column) => column % 2 === 0 ? 0.5 : -0.5,
    );
    const u4 = product(
      8,
      8,
      32,
      elementOfA(8, (lane, _r, part) => nibble(at(a, lane * 4), part, false)),
      elementOfB(8, (lane, _r, part) => nibble(at(b, lane * 2), part, true)),
      (_, column) => column % 2 === 0 ? 3 : -3,
    );
    return [
      buffer(a),
      buffer(b),
      output(Float32Array.from(byLane(bf, 4))),
      // The sign of a sum of zeros is up to the hardware.
      output(Float32Array.from(byLane(tf, 4)), { absolute: 0 }),
      output(Int32Array.from(byLane(s8, 4))),
      output(Uint16Array.from(byLane(f16, 4), (value) => toBits(HALF, fromNumber(value)))),
      output(Float64Array.from(byLane(f64, 2))),
      output(Int32Array.from(byLane(u4, 2))),
      buffer(da),
      buffer(db),
    ];
  },
};

const ldmatrix: CorpusCase = {
  file: "matrix",
  kernel: "matrix_ldmatrix",
  grid: [1, 1, 1],
  block: [32, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Uint16Array.from(edgyWords(213, 256));
    // Matrix m has rows 8 m to 8 m + 7; a lane gets two neighbours of a row, or of a column if transposed.
    const pair = (m: number, lane: number, transposed: boolean): number => {
      const element = (j: number): number => {
        const [row, column] = [Math.floor(lane / 4), 2 * (lane % 4) + j];
        return at(x, transposed ? (8 * m + column) * 8 + row : (8 * m + row) * 8 + column);
      };
      return (element(0) | (element(1) << 16)) >>> 0;
    };
    const y = Array.from({ length: 32 }, (_, lane) => [
      ...[0, 1, 2, 3].map((m) => pair(m, lane, false)),
      ...[0, 1, 2, 3].map((m) => pair(m, lane, true)),
      pair(0, lane, false),
      pair(2, lane, true),
    ]);
    return [buffer(x), output(Uint32Array.from(y.flat()))];
  },
};

export const MATRIX: readonly CorpusCase[] = [tiles, wmmaHalf, wmmaBytes, mmaHalf, forms, ldmatrix];

/**
 * MMA: the matrix instructions of tensor cores, one row each, with the layouts of their operands.
 *
 * A fragment says which element each (register, lane) of a warp holds, as pairs of coordinates per bit: rows and
 * columns of a are (m, k), of b (k, n), of c and d (m, n). Registers count elements, so two halves of one 32-bit
 * register differ in register bit 0. Source: PTX ISA 9.0, 9.7.14.5 "Matrix Fragments for mma".
 */
import type { ScalarName } from "../support/scalar.ts";
import type { MmaName } from "../targets.ts";

/** Coordinates of an element inside a fragment: row and column. */
export type Coordinate = readonly [row: number, column: number];

export interface Fragment {
  readonly register: readonly Coordinate[];
  readonly lane: readonly Coordinate[];
}

export interface MmaRow {
  readonly name: MmaName;
  /** Rows, columns and depth that one instruction of a warp covers. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Element types of a and b, any mix of them. */
  readonly elements: readonly ScalarName[];
  /** Only when the program asks for this mode. */
  readonly mode?: "tf32";
  /** Type of the sum, in PTX. */
  readonly sum: "f32" | "f64" | "s32";
  readonly a: Fragment;
  readonly b: Fragment;
  readonly c: Fragment;
}

// Lanes that walk along the columns in steps of 1, 2 or 4 elements, then down the rows; and the transposed.
const across = (step: number): Coordinate[] => [[0, step], [0, 2 * step], [1, 0], [2, 0], [4, 0]];
const down = (step: number): Coordinate[] => [[step, 0], [2 * step, 0], [0, 1], [0, 2], [0, 4]];

const WIDE_SUM: Fragment = { register: [[0, 1], [8, 0]], lane: across(2) };
const NARROW_SUM: Fragment = { register: [[0, 1]], lane: across(2) };

/** Fragments of a and b whose lanes hold runs of `run` elements along k. */
function operands(
  run: number,
  a: readonly Coordinate[],
  b: readonly Coordinate[],
): { readonly a: Fragment; readonly b: Fragment } {
  return { a: { register: a, lane: across(run) }, b: { register: b, lane: down(run) } };
}

const F8 = ["float8e4", "float8e5"] as const;
const S8 = ["int8", "uint8"] as const;

/** Best first: of the rows that fit, the first is taken. */
// deno-fmt-ignore: a row per instruction
export const MMA: readonly MmaRow[] = [
  { name: "f16.m16n8k16", m: 16, n: 8, k: 16, elements: ["float16"], sum: "f32", c: WIDE_SUM, ...operands(2, [[0, 1], [8, 0], [0, 8]], [[1, 0], [8, 0]]) },
  { name: "f16.m16n8k8", m: 16, n: 8, k: 8, elements: ["float16"], sum: "f32", c: WIDE_SUM, ...operands(2, [[0, 1], [8, 0]], [[1, 0]]) },
  { name: "bf16.m16n8k16", m: 16, n: 8, k: 16, elements: ["bfloat16"], sum: "f32", c: WIDE_SUM, ...operands(2, [[0, 1], [8, 0], [0, 8]], [[1, 0], [8, 0]]) },
  { name: "bf16.m16n8k8", m: 16, n: 8, k: 8, elements: ["bfloat16"], sum: "f32", c: WIDE_SUM, ...operands(2, [[0, 1], [8, 0]], [[1, 0]]) },
  { name: "tf32.m16n8k8", m: 16, n: 8, k: 8, elements: ["float32"], mode: "tf32", sum: "f32", c: WIDE_SUM, ...operands(1, [[8, 0], [0, 4]], [[4, 0]]) },
  { name: "tf32.m16n8k4", m: 16, n: 8, k: 4, elements: ["float32"], mode: "tf32", sum: "f32", c: WIDE_SUM, ...operands(1, [[8, 0]], []) },
  // m16n8k16 is left out: fragments of half its depth are loaded while the other half multiplies, which an H200 does 10 %
  // faster in tiles of 128 x 128.
  { name: "f64.m16n8k8", m: 16, n: 8, k: 8, elements: ["float64"], sum: "f64", c: WIDE_SUM, ...operands(1, [[8, 0], [0, 4]], [[4, 0]]) },
  { name: "f64.m16n8k4", m: 16, n: 8, k: 4, elements: ["float64"], sum: "f64", c: WIDE_SUM, ...operands(1, [[8, 0]], []) },
  { name: "f64.m8n8k4", m: 8, n: 8, k: 4, elements: ["float64"], sum: "f64", c: NARROW_SUM, ...operands(1, [], []) },
  { name: "s8.m16n8k32", m: 16, n: 8, k: 32, elements: S8, sum: "s32", c: WIDE_SUM, ...operands(4, [[0, 1], [0, 2], [8, 0], [0, 16]], [[1, 0], [2, 0], [16, 0]]) },
  { name: "s8.m16n8k16", m: 16, n: 8, k: 16, elements: S8, sum: "s32", c: WIDE_SUM, ...operands(4, [[0, 1], [0, 2], [8, 0]], [[1, 0], [2, 0]]) },
  { name: "s8.m8n8k16", m: 8, n: 8, k: 16, elements: S8, sum: "s32", c: NARROW_SUM, ...operands(4, [[0, 1], [0, 2]], [[1, 0], [2, 0]]) },
  { name: "e4m3.m16n8k32", m: 16, n: 8, k: 32, elements: F8, sum: "f32", c: WIDE_SUM, ...operands(4, [[0, 1], [0, 2], [8, 0], [0, 16]], [[1, 0], [2, 0], [16, 0]]) },
  // The four quarter warps compute 8x8x4 each; placed 2 by 2, a skips lane bit 3 and b lane bit 2.
  { name: "f16.m8n8k4", m: 16, n: 16, k: 4, elements: ["float16"], sum: "f32",
    a: { register: [[0, 1], [0, 2]], lane: [[1, 0], [2, 0], [8, 0], [0, 0], [4, 0]] },
    b: { register: [[1, 0], [2, 0]], lane: [[0, 1], [0, 2], [0, 0], [0, 8], [0, 4]] },
    c: { register: [[0, 1], [2, 0], [0, 4]], lane: [[1, 0], [0, 2], [8, 0], [0, 8], [4, 0]] } },
];

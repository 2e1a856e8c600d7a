/** Products of matrices, element by element: quickly where all numbers are exact and few digits long, else by their errors. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { must } from "../../../compiler/support/bug.ts";
import { binaryCell } from "./arithmetic.ts";
import { type Cell, type Cells, type FloatCell, isExact, UNKNOWN_FLOAT, wrap } from "./cell.ts";
import { grainOf, isFloatName, precisionOf } from "./formats.ts";
import { dotOf, exactDot } from "./sums.ts";

/** A product of tiles: rows, what is summed, columns, and how many such planes lie side by side. */
export interface DotShape {
  readonly depth: number;
  readonly columns: number;
  readonly batch: number;
}

/** Bits that a summation keeps: tensor cores sum 8-bit floats with few, others nearly as float does. */
function summationBits(lhs: ScalarName, result: ScalarName): number {
  if (result === "float64") return precisionOf("float64");
  return lhs === "float8e4" || lhs === "float8e5" ? 13 : lhs === "float32" ? 24 : 22;
}

/** Modes that round operands of float: how many bits are left of them. */
const MODE_BITS: Readonly<Record<string, number>> = { tf32: 11, tf32x3: 21, bf16x3: 16 };

/** The element of a product at an index of the result. */
export function dotCells(
  { depth, columns, batch }: DotShape,
  [from, to]: readonly [ScalarName, ScalarName],
  mode: string,
  lhs: Cells,
  rhs: Cells,
): (index: number) => Cell {
  const at = (
    index: number,
  ): { readonly a: (k: number) => number; readonly b: (k: number) => number } => {
    const [plane, nth] = [Math.floor(index / batch), index % batch];
    const [row, column] = [Math.floor(plane / columns), plane % columns];
    return {
      a: (k) => (row * depth + k) * batch + nth,
      b: (k) => (k * columns + column) * batch + nth,
    };
  };
  const line = <T>(cells: readonly T[], of: (k: number) => number): T[] =>
    Array.from({ length: depth }, (_, k) => must(cells[of(k)], "element"));
  if (!isFloatName(to)) {
    const numbers = wholeNumbers(lhs, rhs, depth);
    return (index) => {
      const { a, b } = at(index);
      if (numbers !== undefined) {
        let sum = 0;
        for (let k = 0; k < depth; k++) sum += (numbers[0][a(k)] ?? 0) * (numbers[1][b(k)] ?? 0);
        return wrap(BigInt(sum), to);
      }
      const right = line(rhs, b);
      const products = line(lhs, a).map((cell, k) =>
        binaryCell("mul", to, cell, must(right[k], "element"))
      );
      return products.reduce((sum, cell) => binaryCell("add", to, sum, cell));
    };
  }
  const operand = MODE_BITS[mode];
  const floats = (cells: Cells): FloatCell[] =>
    cells.map((cell) => {
      if (cell.kind !== "float") return UNKNOWN_FLOAT;
      return operand === undefined ? cell : toBitsOf(cell, operand);
    });
  const [left, right] = [floats(lhs), floats(rhs)];
  const bits = summationBits(from, to);
  const grain = leastGrain(left) * leastGrain(right);
  const [x, y] = [left, right].map((cells) => Float64Array.from(cells, ({ value }) => value));
  return (index) => {
    const { a, b } = at(index);
    const products = new Float64Array(grain > 0 ? depth : 0);
    products.forEach((_, k) => products[k] = (x?.[a(k)] ?? 0) * (y?.[b(k)] ?? 0));
    return (grain > 0 ? exactDot(products, grain, to, bits) : undefined) ??
      dotOf(line(left, a), line(right, b), to, bits);
  };
}

/** The numbers of two tiles, if all are known and no sum of their products needs more digits than a double has. */
function wholeNumbers(
  lhs: Cells,
  rhs: Cells,
  depth: number,
): readonly [readonly number[], readonly number[]] | undefined {
  const numbers = (cells: Cells): number[] | undefined => {
    const known = cells.every((cell) => cell.kind === "int" && cell.known);
    return known ? cells.map((cell) => cell.kind === "int" ? Number(cell.value) : 0) : undefined;
  };
  const [a, b] = [numbers(lhs), numbers(rhs)];
  if (a === undefined || b === undefined) return undefined;
  const largest = (all: readonly number[]): number =>
    all.reduce((top, one) => Math.max(top, Math.abs(one)), 0);
  return largest(a) * largest(b) * depth <= Number.MAX_SAFE_INTEGER ? [a, b] : undefined;
}

/** A power of two that all numbers are multiples of; 0 where one is not exact or not finite. */
function leastGrain(cells: readonly FloatCell[]): number {
  let least = 2 ** 500;
  for (const cell of cells) {
    if (!isExact(cell) || !Number.isFinite(cell.value)) return 0;
    least = Math.min(least, grainOf(cell.value));
  }
  return least;
}

/** Rounded to fewer bits, in a way that is not defined. */
function toBitsOf(cell: FloatCell, bits: number): FloatCell {
  const step = 2 ** (Math.floor(Math.log2(Math.abs(cell.value))) - bits + 1);
  const fits = cell.value === 0 || !Number.isFinite(cell.value) || cell.value % step === 0;
  return fits ? cell : { ...cell, error: cell.error + step };
}

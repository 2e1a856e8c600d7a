/** Reductions and scans of lines of elements (language.md, 5.7 and 7.4). */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { ReduceOperator } from "../../../compiler/check/tree/typed.ts";
import { binaryCell, compareFloats, extreme } from "./arithmetic.ts";
import {
  type Cell,
  type FloatCell,
  type IntCell,
  integer,
  isKnown,
  UNKNOWN_FLOAT,
  UNKNOWN_INT,
} from "./cell.ts";
import { type FloatName, isFloatName } from "./formats.ts";
import { productOf, sumOf } from "./sums.ts";

/** One line of elements to one; `type` is what is reduced. */
export function reduceLine(
  operator: ReduceOperator,
  type: ScalarName,
  line: readonly Cell[],
): Cell {
  if (operator === "argmax" || operator === "argmin") return argExtreme(operator, line);
  const floats = line.filter((cell) => cell.kind === "float");
  if (isFloatName(type)) return reduceFloats(operator, type, floats);
  return line.slice(1).reduce(
    (result, cell) => binaryCell(operator, type, result, cell),
    must(line[0], "element"),
  );
}

function reduceFloats(
  operator: ReduceOperator,
  type: FloatName,
  line: readonly FloatCell[],
): FloatCell {
  if (operator === "add") return sumOf(line, type);
  if (operator === "mul") return productOf(line, type);
  const choose = operator === "min" ? Math.min : Math.max;
  return line.reduce((result, cell) => extreme(result, cell, choose));
}

/** The lowest index of the largest or smallest number. */
function argExtreme(operator: "argmax" | "argmin", line: readonly Cell[]): IntCell {
  if (!line.every(isKnown) || line.some(isNan)) return UNKNOWN_INT;
  let best = 0;
  for (let index = 1; index < line.length; index++) {
    const better = precedes(operator, must(line[index], "element"), must(line[best], "element"));
    if (!better.known) return UNKNOWN_INT;
    if (better.value === 1n) best = index;
  }
  return integer(BigInt(best));
}

const isNan = (cell: Cell): boolean => cell.kind === "float" && Number.isNaN(cell.value);

function precedes(operator: "argmax" | "argmin", a: Cell, b: Cell): IntCell {
  const comparison = operator === "argmax" ? "gt" : "lt";
  if (a.kind === "float" && b.kind === "float") {
    // Whether -0 and +0 are a tie is not defined.
    const zeros = a.value === 0 && b.value === 0 && !Object.is(a.value, b.value);
    return zeros ? UNKNOWN_INT : compareFloats(comparison, a, b);
  }
  const result = binaryCell(comparison, "int64", a, b);
  return result.kind === "int" ? result : UNKNOWN_INT;
}

/** The inclusive scan of a line. */
export function scanLine(
  operator: ReduceOperator,
  type: ScalarName,
  line: readonly Cell[],
): Cell[] {
  return line.map((_, index) => reduceLine(operator, type, line.slice(0, index + 1)));
}

/** Ascending or descending, stable, NaN last. */
export function sortLine(line: readonly Cell[], descending: boolean): Cell[] {
  const isOpen = line.some((cell) => !isKnown(cell) || (cell.kind === "float" && cell.error !== 0));
  if (isOpen) {
    return line.map((cell) => cell.kind === "float" ? UNKNOWN_FLOAT : UNKNOWN_INT);
  }
  const sign = descending ? -1 : 1;
  return line.toSorted((a, b) => {
    if (isNan(a) || isNan(b)) return Number(isNan(a)) - Number(isNan(b));
    const [x, y] = [a, b].map((cell) => cell.kind === "pointer" ? 0 : cell.value);
    const [left, right] = [must(x, "number"), must(y, "number")];
    if (left !== right) return left < right ? -sign : sign;
    // -0 is below +0, as for `min` and `max` (language.md, 7.1).
    return sign * (Number(Object.is(right, -0)) - Number(Object.is(left, -0)));
  });
}

/** A tensor as a heat map: the last axis goes to the right, all others down. Long vectors go on in the next row. */
import { colourOfValue, NOTHING } from "./colours.ts";
import type { Cell, Picture } from "./picture.ts";

/** The elements of a tensor. */
export interface Elements {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

/** The least and the greatest finite value; undefined where there is none. */
export function rangeOf(
  values: ArrayLike<number>,
): { readonly least: number; readonly greatest: number } | undefined {
  let [least, greatest] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? NaN;
    if (!Number.isFinite(value)) continue;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return least > greatest ? undefined : { least, greatest };
}

/** The indices of an element, `3, 5`. */
export function indicesOf(index: number, shape: readonly number[]): readonly number[] {
  const indices: number[] = [];
  let left = index;
  for (const extent of shape.toReversed()) {
    indices.unshift(left % extent);
    left = Math.floor(left / extent);
  }
  return indices;
}

/** How elements of a shape are laid out in a picture. */
export interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** What the row is called in tables. */
  rowName(row: number): string;
  columnName(column: number): string;
}

/** Longer vectors are broken into rows. */
const LONG = 64;
const ROW_OF_VECTOR = 32;

/** The grid for a shape. */
export function gridOf(shape: readonly number[]): Grid {
  const last = shape.at(-1) ?? 1;
  const count = shape.reduce((a, b) => a * b, 1);
  if (shape.length === 1 && last > LONG) {
    return {
      columns: ROW_OF_VECTOR,
      rows: Math.ceil(count / ROW_OF_VECTOR),
      rowName: (row) => String(row * ROW_OF_VECTOR),
      columnName: (column) => `+${column}`,
    };
  }
  return {
    columns: last,
    rows: last === 0 ? 0 : count / last,
    rowName: (row) => indicesOf(row * last, shape).slice(0, -1).join(", "),
    columnName: String,
  };
}

/** Where a long vector has ended. */
export const NO_ELEMENT: Cell = { colour: [240, 241, 243], text: "", says: "no element" };

/** A number in few characters. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

/** The picture; colours go from the least to the greatest value. */
export function tensorPicture({ name, shape, values }: Elements): Picture {
  const grid = gridOf(shape);
  const { least, greatest } = rangeOf(values) ?? { least: 0, greatest: 0 };
  const span = greatest - least;
  return {
    title: `${name}: ${shape.join(" × ")}`,
    ...grid,
    cell: (column, row) => {
      const index = row * grid.columns + column;
      if (index >= values.length) return NO_ELEMENT;
      const value = values[index] ?? NaN;
      const share = span === 0 ? 0.5 : (value - least) / span;
      return {
        colour: Number.isFinite(value) ? colourOfValue(share) : NOTHING,
        text: shortNumber(value),
        says: `${name}[${indicesOf(index, shape).join(", ")}] = ${value}`,
      };
    },
  };
}

/** The first elements of a tensor as text: one line, with `…` for the elements left out. */
import type { Element } from "./elements.ts";

/** The most elements that are shown along the last axis, along the one before, and along all others. */
const [COLUMNS, ROWS, OTHERS] = [6, 3, 1];

/** The extents of what is shown. */
export function cornerShape(shape: readonly number[]): number[] {
  return shape.map((extent, axis) => {
    const fromLast = shape.length - 1 - axis;
    return Math.min(extent, fromLast === 0 ? COLUMNS : fromLast === 1 ? ROWS : OTHERS);
  });
}

/** Nested lists: `[[1, 2, 3, …], [4, 5, 6, …], …]`. `read` gives the shown elements in row-major order. */
export function cornerText(
  shape: readonly number[],
  read: (index: number) => Element | boolean,
): string {
  const shown = cornerShape(shape);
  let next = 0;
  const list = (axis: number): string => {
    const count = shown[axis];
    if (count === undefined) return elementText(read(next++));
    const items = Array.from({ length: count }, () => list(axis + 1));
    return `[${[...items, ...(count < (shape[axis] ?? 0) ? ["…"] : [])].join(", ")}]`;
  };
  return list(0);
}

/** Floats with six digits. */
function elementText(value: Element | boolean): string {
  return typeof value === "number" && !Number.isInteger(value)
    ? `${Number(value.toPrecision(6))}`
    : Object.is(value, -0)
    ? "-0"
    : `${value}`;
}

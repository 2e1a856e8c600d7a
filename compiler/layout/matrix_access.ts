/** How `ldmatrix` and `stmatrix` access a layout that consists of matrices. */
import { spaceOf } from "../linear/f2.ts";
import type { LinearLayout } from "../linear/linear.ts";

/**
 * Rows of 16 bytes, eight to a matrix, of which each lane has one 32-bit word: not transposed (lanes 0 … 3 share the
 * first row) or transposed (16-bit elements only; the halves of a word belong to two rows).
 */
export interface MatrixAccess {
  readonly side: MatrixSide;
  readonly transposed: boolean;
  /** Index vectors of the bits of a row's number. */
  readonly rows: readonly number[];
  /** Register bits of the fragments that count the elements of a word. */
  readonly wordBits: number;
}

/** Which side of a conversion has fragments of matrix instructions. */
export type MatrixSide = "load" | "store";

/** A row of a matrix, and its neighbours: what `ldmatrix` and `stmatrix` want of index bits. */
export interface MatrixShape {
  readonly row: readonly number[];
  readonly access: MatrixAccess;
}

/** How `ldmatrix` or `stmatrix`, transposing or not, accesses fragments, a layout that consists of matrices. */
export function matrixAccess(
  fragments: LinearLayout,
  elementBytes: number,
  side: MatrixSide,
  transposed: boolean,
): MatrixAccess {
  const wordBits = Math.log2(4 / elementBytes);
  const word = fragments.register.slice(0, wordBits);
  const [l0 = 0, l1 = 0, l2 = 0, l3 = 0, l4 = 0] = fragments.lane;
  return { side, transposed, rows: transposed ? [...word, l0, l1] : [l2, l3, l4], wordBits };
}

/** Both ways in which a layout may consist of matrices. */
export function matrixShapes(
  fragments: LinearLayout,
  elementBytes: number,
  side: MatrixSide,
): MatrixShape[] {
  const wordBits = Math.log2(4 / elementBytes);
  if (wordBits < 0 || wordBits > fragments.register.length) return [];
  const ways = wordBits === 1 ? [false, true] : [false];
  const shapes = ways.map((transposed): MatrixShape => ({
    row: matrixAccess(fragments, elementBytes, side, !transposed).rows,
    access: matrixAccess(fragments, elementBytes, side, transposed),
  }));
  return shapes.filter(({ row, access }) =>
    spaceOf([...row, ...access.rows]).size === row.length + access.rows.length
  );
}

/** How many elements of a row, from the first, one thread of a layout holds. */
export function heldBits(layout: LinearLayout, row: readonly number[]): number {
  const missing = row.findIndex((basis) => !layout.register.includes(basis));
  return missing < 0 ? row.length : missing;
}

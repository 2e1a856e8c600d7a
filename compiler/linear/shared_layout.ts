/**
 * Where the elements of a tile lie in shared memory: a linear map over F2 from the bits of an element's offset to
 * the bits of its row-major index. The columns of an invertible matrix, so every element has one offset.
 */
import { spellBasis } from "./linear.ts";

export interface SharedLayout {
  /** Shape of the tile; extents are powers of two. */
  readonly shape: readonly number[];
  /** Index vector of each offset bit (elements), low to high. */
  readonly columns: readonly number[];
  /** Number of low offset bits that one access covers. */
  readonly vectorBits: number;
}

/** A string that is equal for equal layouts. */
export function sharedLayoutKey({ shape, columns, vectorBits }: SharedLayout): string {
  return `${shape}|${columns}|${vectorBits}`;
}

/** `offset(b0 b1 a0^b2) vector(2)`: the index bits of each offset bit, and the elements of one access. */
export function spellSharedLayout({ shape, columns, vectorBits }: SharedLayout): string {
  const spelled = columns.map((column) => spellBasis(column, shape));
  return `offset(${spelled.join(" ")}) vector(${1 << vectorBits})`;
}

/**
 * Bytes of a tile whose lines go across k, in shared memory: `ldmatrix` reads pairs of them, transposed as if they were elements of
 * two bytes, so that a thread gets neighbours along k of two rows that are neighbours.
 */
import { matrixAccess } from "../../layout/matrix_access.ts";
import { type LinearLayout, mapBases } from "../../linear/linear.ts";
import { bug } from "../../support/bug.ts";
import type { LowerContext } from "../context.ts";
import type { Ref } from "../element.ts";
import { readSharedTile, type SharedRead, type SharedTile } from "./shared_tile.ts";

/** Reads bytes in pairs across k; the bit of a register's number that distinguishes two is behind those of a word. */
export function readPairs(
  cx: LowerContext,
  layout: LinearLayout,
  tile: SharedTile,
  wordBits: number,
): Pick<SharedRead, "values" | "finish"> {
  const { columns } = tile.plan;
  const pair = layout.register[wordBits];
  if (pair === undefined || columns[0] !== pair) bug("fragments that are not read in pairs");
  // Indices of pairs are those of elements without the bit that distinguishes the two.
  const withoutPair = (basis: number): number =>
    (basis & (pair - 1)) | ((basis >> 1) & ~(pair - 1));
  const register = layout.register.toSpliced(wordBits, 1);
  const pairs = mapBases({ ...layout, register }, layout.shape, withoutPair);
  const matrices = matrixAccess(pairs, 2, "load", true);
  const plan = { columns: columns.slice(1).map(withoutPair), vectorBits: 0, matrices };
  const { values, finish } = readSharedTile(cx, pairs, { ...tile, element: "uint16", plan });
  const element = (index: number): Ref => {
    const low = index & ((1 << wordBits) - 1);
    const ref = values(low | ((index >> (wordBits + 1)) << wordBits));
    if (ref.kind !== "piece") return bug("a pair that is no part of a word");
    return { ...ref, byte: ref.byte + ((index >> wordBits) & 1), bytes: 1 };
  };
  return { values: element, finish };
}

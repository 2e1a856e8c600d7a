/**
 * Segments: the runs of memory that neighbouring lanes of a warp cover in one vector access, 16 bytes a lane.
 *
 * Rows of a matrix whose leading dimension is odd start at any element, so 16-byte accesses do not fit them. A
 * segment of L lanes still can be moved in aligned 16-byte chunks: all but the elements before the first and after
 * the last chunk boundary, which together are exactly one chunk. Lanes 1 … L-1 move whole chunks; the left-over
 * elements of many segments are moved together, one element a lane, in the *boundary layout*. See
 * lower/realign.ts.
 */
import { axisShifts, type LinearLayout, log2 } from "./linear.ts";

/** Bytes of one chunk: the widest global access. */
export const CHUNK_BYTES = 16;

export interface Segments {
  /** Elements of a chunk. */
  readonly vector: number;
  /** Register bits, low to high, that step through a chunk. */
  readonly vectorBits: readonly number[];
  /** Register bits that step from chunk to chunk of different segments. */
  readonly groupBits: readonly number[];
  /** log2 of the lanes of a segment: the low lane bits. */
  readonly lanesLog2: number;
  /** Where the left-over elements live; not surjective: it names elements 0 … vector - 1 of every segment. */
  readonly boundary: LinearLayout;
}

/** The segments of a layout along an axis; undefined if its lanes do not form them. */
export function segmentsOf(layout: LinearLayout, axis: number, elementBytes: number): Segments | undefined {
  const vector = CHUNK_BYTES / elementBytes;
  const vectorLog2 = log2(vector);
  const shift = axisShifts(layout.shape)[axis] ?? 0;
  const extentLog2 = log2(layout.shape[axis] ?? 1);
  const vectorBits = Array.from({ length: vectorLog2 }, (_, i) => layout.register.indexOf(1 << (shift + i)));
  if (extentLog2 <= vectorLog2 || vectorBits.includes(-1)) return undefined;
  let lanesLog2 = 0;
  while (lanesLog2 < 5 && vectorLog2 + lanesLog2 < extentLog2 && layout.lane[lanesLog2] === 1 << (shift + vectorLog2 + lanesLog2)) {
    lanesLog2++;
  }
  const groupBits = layout.register.flatMap((basis, bit) => basis !== 0 && !vectorBits.includes(bit) ? [bit] : []);
  const upperLanes = layout.lane.slice(lanesLog2);
  const slots = 5 - vectorLog2;
  // Copies would move left-overs twice; and the upper lane bits must fit beside the elements of a chunk.
  if (lanesLog2 === 0 || upperLanes.length > slots || upperLanes.includes(0) || layout.warp.includes(0)) return undefined;
  if (layout.register.includes(0)) return undefined;
  const segmentBases = [...upperLanes, ...groupBits.map((bit) => layout.register[bit] ?? 0)];
  const lane = [...vectorBits.map((bit) => layout.register[bit] ?? 0), ...segmentBases.slice(0, slots)];
  while (lane.length < 5) lane.push(0);
  return {
    vector,
    vectorBits,
    groupBits,
    lanesLog2,
    boundary: { shape: layout.shape, register: segmentBases.slice(slots), lane, warp: layout.warp },
  };
}

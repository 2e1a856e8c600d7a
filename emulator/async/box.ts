/**
 * The box of a tensor map: which bytes of global memory an element of a box is, and where it lies in shared memory.
 * Pixels of windows are the rows of one (windows.ts).
 *
 * In shared memory a box is dense, axis 0 fastest; with a swizzle every row begins a span of its own. Swizzles then
 * permute 16-byte chunks by the address itself: of a 128-byte swizzle, bits 4 to 6 of the offset are those of the
 * unswizzled offset xor bits 7 to 9. The pattern hangs on the address and not on the box, so boxes at addresses that
 * are no multiples of the pattern come out rotated.
 */
import { type TensorMap, tensorType } from "../../ffi/tensor_map.ts";
import { pixelsOf } from "./windows.ts";

/** The bits of an offset that a swizzle changes; those that it takes are three above. */
const SWIZZLE_BITS: Readonly<Record<TensorMap["swizzle"], number>> = {
  none: 0,
  "32B": 0x10,
  "64B": 0x30,
  "128B": 0x70,
};

const SWIZZLE_SHIFT = 3;

/** What swizzles move. */
export const CHUNK = 16;

/** Where a byte of a dense box lies. */
function swizzleOffset(swizzle: TensorMap["swizzle"], offset: number): number {
  return offset ^ ((offset >>> SWIZZLE_SHIFT) & SWIZZLE_BITS[swizzle]);
}

/** Where a box is. */
export interface Place {
  /** The coordinates of its first element; of windows, of the first one's beginning. */
  readonly origin: readonly number[];
  /** Of windows: which pixel of each. */
  readonly offsets: readonly number[];
}

/** A box: how many elements it has along each axis, and its size. */
export interface BoxShape {
  readonly counts: readonly number[];
  readonly elementBytes: number;
  /** Bytes of a row: the elements along axis 0. */
  readonly rowBytes: number;
  readonly rows: number;
  /** Bytes of its elements: what barriers count. */
  readonly bytes: number;
  /** Bytes from row to row in shared memory, and bytes that it spans there. */
  readonly pitch: number;
  readonly extent: number;
}

export function boxShape(map: TensorMap): BoxShape {
  const elementBytes = tensorType(map.type).bytes;
  const counts = map.box.map((extent, axis) =>
    axis === 0 || map.windows !== undefined
      ? extent
      : Math.ceil(extent / (map.elementStrides[axis] ?? 1))
  );
  const rowBytes = (counts[0] ?? 0) * elementBytes;
  const rows = counts.slice(1).reduce((product, count) => product * count, 1);
  const pitch = map.swizzle === "none" ? rowBytes : Number.parseInt(map.swizzle);
  const [bytes, extent] = [rows * rowBytes, rows * pitch];
  return { counts, elementBytes, rowBytes, rows, bytes, pitch, extent };
}

/** Calls a function for each 16-byte chunk of a box that begins at an offset: with the offset where it lies. */
export function eachChunk(map: TensorMap, start: number, visit: (offset: number) => void): void {
  const { rows, rowBytes, pitch } = boxShape(map);
  for (let row = 0; row < rows; row++) {
    for (let at = 0; at < rowBytes; at += CHUNK) {
      visit(swizzleOffset(map.swizzle, start + row * pitch + at));
    }
  }
}

/** The address of an element: modulo 2^64, and below zero where that is nearer. */
function addressOf(map: TensorMap, origin: readonly number[]): number {
  let address = map.address;
  origin.forEach((at, axis) => {
    const stride = axis === 0 ? tensorType(map.type).bytes : map.strides[axis - 1] ?? 0;
    address += BigInt(at) * BigInt(stride);
  });
  return Number(BigInt.asIntN(64, address));
}

/**
 * Calls a function for all elements of a box that are in the tensor, in pieces that are contiguous on both sides:
 * the offset in shared memory (of a box that begins at `start`), the global address, and the bytes. Copies to global
 * memory write whole chunks, so that up to 15 bytes after the end of each row of the tensor are written too: so does
 * an H200.
 */
export function eachPiece(
  map: TensorMap,
  { origin, offsets }: Place,
  start: number,
  direction: "load" | "store",
  visit: (offset: number, address: number, bytes: number) => void,
): void {
  const { counts, elementBytes, rowBytes, rows, pitch } = boxShape(map);
  const first = origin[0] ?? 0;
  const from = Math.max(first, 0);
  const to = Math.min(first + (counts[0] ?? 0), map.extents[0] ?? 0);
  const inside = (to - first) * elementBytes;
  const end = direction === "load" ? inside : Math.ceil(inside / CHUNK) * CHUNK;
  const piece = map.swizzle === "none" ? rowBytes : CHUNK;
  const visitRow = (row: number, address: number): void => {
    for (let at = (from - first) * elementBytes; at < end;) {
      const next = Math.min(at - (at % piece) + piece, end);
      visit(swizzleOffset(map.swizzle, start + row * pitch + at), address + at, next - at);
      at = next;
    }
  };
  if (map.windows !== undefined) {
    pixelsOf(map, map.windows, origin, offsets).forEach((pixel, row) => {
      if (pixel !== undefined && from < to) visitRow(row, addressOf(map, [first, ...pixel]));
    });
    return;
  }
  const firstAddress = addressOf(map, origin);
  for (let row = 0; row < rows; row++) {
    let address = firstAddress;
    let isInside = from < to;
    let rest = row;
    for (let axis = 1; axis < counts.length; axis++) {
      const extent = counts[axis] ?? 1;
      const step = (rest % extent) * (map.elementStrides[axis] ?? 1);
      const at = (origin[axis] ?? 0) + step;
      rest = Math.floor(rest / extent);
      isInside &&= at >= 0 && at < (map.extents[axis] ?? 0);
      address += step * (map.strides[axis - 1] ?? 0);
    }
    if (isInside) visitRow(row, address);
  }
}

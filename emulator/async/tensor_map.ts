/**
 * Tensor maps as the emulator encodes them; hardware's encoding is not public. What they describe is in
 * `ffi/tensor_map.ts`.
 *
 *     0  mark (8 bytes)                     24  extents less one (5 × 4 bytes)
 *     8  type, rank, interleave, swizzle,   44  strides in bytes (4 × 8, from axis 1 on; of axis 0: an element)
 *        promotion, fill (6 × 1),           76  box extents less one (5 × 1)
 *        axes with windows (1)              81  element strides (5 × 1)
 *    16  address (8 bytes)                  86  pixels less one (2), where windows begin: first, last (3 × 2 × 2)
 */
import { times } from "../../compiler/support/times.ts";
import {
  FILLS,
  INTERLEAVES,
  PROMOTIONS,
  SWIZZLES,
  TENSOR_MAP_BYTES,
  TENSOR_TYPES,
  type TensorMap,
  tensorMapProblem,
} from "../../ffi/tensor_map.ts";

/** The first bytes of every map: "tri map1". */
const MARK = [0x74, 0x72, 0x69, 0x20, 0x6d, 0x61, 0x70, 0x31];

/** Where the fields are. */
export const TENSOR_MAP_FIELDS = {
  type: 8,
  rank: 9,
  interleave: 10,
  swizzle: 11,
  promotion: 12,
  fill: 13,
  windows: 14,
  address: 16,
  extents: 24,
  strides: 44,
  box: 76,
  elementStrides: 81,
  pixels: 86,
  corners: 88,
} as const;

/** Encodes a description that {@linkcode tensorMapProblem} finds nothing wrong with. */
export function encodeTensorMap(map: TensorMap): Uint8Array<ArrayBuffer> {
  const problem = tensorMapProblem(map);
  if (problem !== undefined) throw new RangeError(`Cannot encode the tensor map: ${problem}.`);
  const bytes = new Uint8Array(TENSOR_MAP_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MARK);
  bytes[TENSOR_MAP_FIELDS.type] = TENSOR_TYPES.findIndex(({ name }) => name === map.type);
  bytes[TENSOR_MAP_FIELDS.rank] = map.extents.length;
  bytes[TENSOR_MAP_FIELDS.interleave] = INTERLEAVES.indexOf(map.interleave);
  bytes[TENSOR_MAP_FIELDS.swizzle] = SWIZZLES.indexOf(map.swizzle);
  bytes[TENSOR_MAP_FIELDS.promotion] = PROMOTIONS.indexOf(map.promotion);
  bytes[TENSOR_MAP_FIELDS.fill] = FILLS.indexOf(map.fill);
  view.setBigUint64(TENSOR_MAP_FIELDS.address, map.address, true);
  map.extents.forEach((extent, axis) =>
    view.setUint32(TENSOR_MAP_FIELDS.extents + 4 * axis, extent - 1, true)
  );
  map.strides.forEach((stride, i) =>
    view.setBigUint64(TENSOR_MAP_FIELDS.strides + 8 * i, BigInt(stride), true)
  );
  const { windows = [], box: [channels = 0, pixels = 0] } = map;
  const box = windows.length === 0 ? map.box : [channels];
  bytes.set(box.map((extent) => extent - 1), TENSOR_MAP_FIELDS.box);
  bytes[TENSOR_MAP_FIELDS.windows] = windows.length;
  view.setUint16(TENSOR_MAP_FIELDS.pixels, pixels - 1, true);
  windows.forEach(({ lower, upper }, i) => {
    view.setInt16(TENSOR_MAP_FIELDS.corners + 4 * i, lower, true);
    view.setInt16(TENSOR_MAP_FIELDS.corners + 4 * i + 2, upper, true);
  });
  bytes.set(map.elementStrides, TENSOR_MAP_FIELDS.elementStrides);
  return bytes;
}

/** Whether bytes began as a tensor map. */
export function isTensorMap(bytes: Uint8Array): boolean {
  return bytes.length >= TENSOR_MAP_BYTES && MARK.every((byte, i) => bytes[i] === byte);
}

/** Reads a tensor map; undefined if the bytes are none that {@linkcode encodeTensorMap} made. */
export function decodeTensorMap(bytes: Uint8Array): TensorMap | undefined {
  if (!isTensorMap(bytes)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, TENSOR_MAP_BYTES);
  const type = TENSOR_TYPES[bytes[TENSOR_MAP_FIELDS.type] ?? 0]?.name;
  const interleave = INTERLEAVES[bytes[TENSOR_MAP_FIELDS.interleave] ?? 0];
  const swizzle = SWIZZLES[bytes[TENSOR_MAP_FIELDS.swizzle] ?? 0];
  const promotion = PROMOTIONS[bytes[TENSOR_MAP_FIELDS.promotion] ?? 0];
  const fill = FILLS[bytes[TENSOR_MAP_FIELDS.fill] ?? 0];
  const rank = bytes[TENSOR_MAP_FIELDS.rank] ?? 0;
  if (
    type === undefined || interleave === undefined || swizzle === undefined ||
    promotion === undefined || fill === undefined
  ) return undefined;
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const box = axes.map((axis) => (bytes[TENSOR_MAP_FIELDS.box + axis] ?? 0) + 1);
  const windows = times(bytes[TENSOR_MAP_FIELDS.windows] ?? 0, (i) => ({
    lower: view.getInt16(TENSOR_MAP_FIELDS.corners + 4 * i, true),
    upper: view.getInt16(TENSOR_MAP_FIELDS.corners + 4 * i + 2, true),
  }));
  if (windows.length > 0) box[1] = view.getUint16(TENSOR_MAP_FIELDS.pixels, true) + 1;
  const map: TensorMap = {
    type,
    address: view.getBigUint64(TENSOR_MAP_FIELDS.address, true),
    extents: axes.map((axis) => view.getUint32(TENSOR_MAP_FIELDS.extents + 4 * axis, true) + 1),
    strides: axes.slice(1).map((axis) =>
      Number(view.getBigUint64(TENSOR_MAP_FIELDS.strides + 8 * (axis - 1), true))
    ),
    box,
    elementStrides: axes.map((axis) => bytes[TENSOR_MAP_FIELDS.elementStrides + axis] ?? 0),
    interleave,
    swizzle,
    promotion,
    fill,
    ...windows.length === 0 ? {} : { windows },
  };
  return tensorMapProblem(map) === undefined ? map : undefined;
}

/** The value of elements outside of a tensor that is filled with NaN: 0x7ff7 of any type, seen on an H200. */
export const NAN_FILL: Uint8Array = Uint8Array.from(
  { length: 16 },
  (_, i) => i % 2 === 0 ? 0xf7 : 0x7f,
);

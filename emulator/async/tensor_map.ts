/**
 * Tensor maps: the 128-byte objects that describe to tensor copies where a tensor is, how large, and which box of it
 * they copy. Hardware's encoding is not public; this is the emulator's own. The fields and their rules are those of
 * cuTensorMapEncodeTiled (CUDA driver API 13.0, "Tensor Map Object Management").
 *
 *     0  mark (8 bytes)                     24  extents less one (5 × 4 bytes)
 *     8  type, rank, interleave, swizzle,   44  strides in bytes (4 × 8, from axis 1 on; of axis 0: an element)
 *        promotion, fill (6 × 1)            76  box extents less one (5 × 1)
 *    16  address (8 bytes)                  81  element strides (5 × 1)
 */

/** Bytes of a tensor map, and the alignment of one. */
export const TENSOR_MAP_BYTES = 128;
export const TENSOR_MAP_ALIGN = 64;

/** Types of elements, in the order of CUtensorMapDataType. */
export const TENSOR_TYPES = [
  { name: "uint8", bytes: 1, float: false },
  { name: "uint16", bytes: 2, float: false },
  { name: "uint32", bytes: 4, float: false },
  { name: "int32", bytes: 4, float: false },
  { name: "uint64", bytes: 8, float: false },
  { name: "int64", bytes: 8, float: false },
  { name: "float16", bytes: 2, float: true },
  { name: "float32", bytes: 4, float: true },
  { name: "float64", bytes: 8, float: true },
  { name: "bfloat16", bytes: 2, float: true },
  { name: "float32_ftz", bytes: 4, float: true },
  { name: "tfloat32", bytes: 4, float: true },
  { name: "tfloat32_ftz", bytes: 4, float: true },
] as const;

export type TensorTypeName = typeof TENSOR_TYPES[number]["name"];

/** In the order of CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill. */
export const INTERLEAVES = ["none", "16B", "32B"] as const;
export const SWIZZLES = ["none", "32B", "64B", "128B"] as const;
export const PROMOTIONS = ["none", "64B", "128B", "256B"] as const;
export const FILLS = ["zero", "nan"] as const;

/** The arguments of cuTensorMapEncodeTiled. */
export interface TensorMap {
  readonly type: TensorTypeName;
  /** Device address of the tensor. */
  readonly address: bigint;
  /** Elements along each axis, innermost first; as many as the rank. */
  readonly extents: readonly number[];
  /** Bytes from one element to the next along axes 1 and up. */
  readonly strides: readonly number[];
  /** Elements that a copy traverses along each axis. */
  readonly box: readonly number[];
  /** It takes every n-th of them; along axis 0 all. */
  readonly elementStrides: readonly number[];
  readonly interleave: typeof INTERLEAVES[number];
  readonly swizzle: typeof SWIZZLES[number];
  readonly promotion: typeof PROMOTIONS[number];
  /** What elements outside of the tensor read as. */
  readonly fill: typeof FILLS[number];
}

/** Facts of an element type. */
export function tensorType(name: TensorTypeName): typeof TENSOR_TYPES[number] {
  return TENSOR_TYPES.find((type) => type.name === name) ?? TENSOR_TYPES[0];
}

const AXES = 5;
const MOST_EXTENT = 2 ** 32;
const MOST_STRIDE = 2 ** 40;
const MOST_BOX = 256;
const MOST_STEP = 8;

interface Rule {
  readonly broken: boolean;
  readonly says: string;
}

/** Whole numbers of a range, one per axis. */
function listProblem(
  what: string,
  values: readonly number[],
  count: number,
  most: number,
): string | undefined {
  if (values.length !== count) return `${what} must be ${count} numbers, not ${values.length}`;
  const bad = values.findIndex((value) => !Number.isInteger(value) || value < 1 || value > most);
  return bad < 0 ? undefined : `${what}[${bad}] is ${values[bad]}, not within 1 and ${most}`;
}

/** What is wrong with a description, in words; undefined if nothing. */
export function tensorMapProblem(map: TensorMap): string | undefined {
  const rank = map.extents.length;
  const { bytes, float } = tensorType(map.type);
  const align = map.interleave === "32B" ? 32 : 16;
  const swizzleBytes = map.swizzle === "none" ? Infinity : Number.parseInt(map.swizzle);
  const row = (map.box[0] ?? 0) * bytes;
  const badStride = map.strides.findIndex((stride) =>
    !Number.isInteger(stride) || stride < 0 || stride >= MOST_STRIDE || stride % align !== 0
  );
  const rules: readonly Rule[] = [
    {
      broken: map.interleave !== "none" && rank < 3,
      says: `interleaved tensors have at least 3 axes, not ${rank}`,
    },
    {
      broken: map.address < 0n || map.address % BigInt(align) !== 0n,
      says: `the address 0x${map.address.toString(16)} is not a multiple of ${align}`,
    },
    {
      broken: badStride >= 0,
      says: `strides[${badStride}] is ${
        map.strides[badStride]
      }, not a multiple of ${align} below 2^40`,
    },
    {
      broken: map.interleave === "none" && row % 16 !== 0,
      says: `a row of the box has ${row} bytes, not a multiple of 16`,
    },
    {
      broken: map.interleave === "none" && row > swizzleBytes,
      says: `a row of the box has ${row} bytes, more than the ${swizzleBytes} of the swizzle`,
    },
    {
      broken: map.interleave === "32B" && map.swizzle !== "32B",
      says: `an interleave of 32B needs a swizzle of 32B, not ${map.swizzle}`,
    },
    {
      broken: map.fill === "nan" && !float,
      says: `${map.type} has no NaN to fill with`,
    },
  ];
  if (rank < 1 || rank > AXES) return `the rank is ${rank}, not within 1 and ${AXES}`;
  return listProblem("extents", map.extents, rank, MOST_EXTENT) ??
    (map.strides.length === rank - 1
      ? undefined
      : `strides must be ${rank - 1} numbers, not ${map.strides.length}`) ??
    listProblem("box", map.box, rank, MOST_BOX) ??
    listProblem("elementStrides", map.elementStrides, rank, MOST_STEP) ??
    rules.find(({ broken }) => broken)?.says;
}

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
  address: 16,
  extents: 24,
  strides: 44,
  box: 76,
  elementStrides: 81,
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
  bytes.set(map.box.map((extent) => extent - 1), TENSOR_MAP_FIELDS.box);
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
  const map: TensorMap = {
    type,
    address: view.getBigUint64(TENSOR_MAP_FIELDS.address, true),
    extents: axes.map((axis) => view.getUint32(TENSOR_MAP_FIELDS.extents + 4 * axis, true) + 1),
    strides: axes.slice(1).map((axis) =>
      Number(view.getBigUint64(TENSOR_MAP_FIELDS.strides + 8 * (axis - 1), true))
    ),
    box: axes.map((axis) => (bytes[TENSOR_MAP_FIELDS.box + axis] ?? 0) + 1),
    elementStrides: axes.map((axis) => bytes[TENSOR_MAP_FIELDS.elementStrides + axis] ?? 0),
    interleave,
    swizzle,
    promotion,
    fill,
  };
  return tensorMapProblem(map) === undefined ? map : undefined;
}

/** The value of elements outside of a tensor that is filled with NaN: 0x7ff7 of any type, seen on an H200. */
export const NAN_FILL: Uint8Array = Uint8Array.from(
  { length: 16 },
  (_, i) => i % 2 === 0 ? 0xf7 : 0x7f,
);

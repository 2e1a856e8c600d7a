/**
 * Tensor maps: the 128-byte objects (TMA descriptors) that describe to tensor copies where a tensor is, how large, and
 * which box of it they copy. The fields and their rules are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
 * (CUDA driver API 13.0, "Tensor Map Object Management"). The 128 bytes are each driver's own.
 */
import { type Rule, type TensorWindow, windowRules } from "./tensor_windows.ts";

/** Bytes of a tensor map, and the alignment of one. */
export const TENSOR_MAP_BYTES = 128;
export const TENSOR_MAP_ALIGN = 64;

/** The type of a tensor map's elements. */
export type TensorTypeName =
  | "uint8"
  | "uint16"
  | "uint32"
  | "int32"
  | "uint64"
  | "int64"
  | "float16"
  | "float32"
  | "float64"
  | "bfloat16"
  | "float32_ftz"
  | "tfloat32"
  | "tfloat32_ftz";

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
] as const satisfies readonly {
  readonly name: TensorTypeName;
  readonly bytes: number;
  readonly float: boolean;
}[];

/** In the order of CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill. */
export const INTERLEAVES: readonly TensorMap["interleave"][] = ["none", "16B", "32B"];
export const SWIZZLES: readonly TensorMap["swizzle"][] = ["none", "32B", "64B", "128B"];
export const PROMOTIONS: readonly TensorMap["promotion"][] = ["none", "64B", "128B", "256B"];
export const FILLS: readonly TensorMap["fill"][] = ["zero", "nan"];

/** What a tensor map (TMA descriptor) says: the arguments of cuTensorMapEncodeTiled, or of cuTensorMapEncodeIm2col. */
export interface TensorMap {
  /** Of its elements. */
  readonly type: TensorTypeName;
  /** Device address of the tensor. */
  readonly address: bigint;
  /** Elements along each axis, innermost first; as many as the rank. */
  readonly extents: readonly number[];
  /** Bytes from one element to the next along axes 1 and up. */
  readonly strides: readonly number[];
  /** Elements that a copy traverses along each axis. With windows: channels, and pixels. */
  readonly box: readonly number[];
  /** It takes every n-th of them; along axis 0 all. With windows: how far apart they begin. */
  readonly elementStrides: readonly number[];
  /**
   * For copies of windows (im2col), along each axis but the innermost, which has channels, and the outermost, which has
   * pictures. One copy takes a pixel of each of `box[1]` windows, which follow each other along these axes and through
   * the pictures.
   */
  readonly windows?: readonly TensorWindow[];
  /** How channels lie in memory; "none" for tensors row by row. */
  readonly interleave: "none" | "16B" | "32B";
  /** How rows of the box lie in shared memory. */
  readonly swizzle: "none" | "32B" | "64B" | "128B";
  /** How much of a row a copy brings to the L2 cache. */
  readonly promotion: "none" | "64B" | "128B" | "256B";
  /** What elements outside of the tensor read as. */
  readonly fill: "zero" | "nan";
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
  const { windows } = map;
  const most = windows === undefined ? undefined : windowRules(map, windows);
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
    ...most?.rules ?? [],
  ];
  if (rank < 1 || rank > AXES) return `the rank is ${rank}, not within 1 and ${AXES}`;
  return listProblem("extents", map.extents, rank, MOST_EXTENT) ??
    (map.strides.length === rank - 1
      ? undefined
      : `strides must be ${rank - 1} numbers, not ${map.strides.length}`) ??
    listProblem("box", map.box, rank, most?.box ?? MOST_BOX) ??
    listProblem("elementStrides", map.elementStrides, rank, MOST_STEP) ??
    rules.find(({ broken }) => broken)?.says;
}

/** The structures of DLPack 1 as bytes (dlpack.h): `DLManagedTensorVersioned` and the `DLTensor` in it, little-endian. */
import { type DType, DTYPES, type HostBytes } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import { MAX_RANK } from "../tensors/shape.ts";

/** The version that is written. Other minor versions have the same layout. */
export const VERSION = { major: 1, minor: 1 } as const;

/** Size of a DLManagedTensorVersioned. */
export const MANAGED_BYTES = 80;

/** Where its fields are; those of the DLTensor begin at 32. */
const AT = {
  major: 0,
  minor: 4,
  context: 8,
  deleter: 16,
  flags: 24,
  data: 32,
  deviceType: 40,
  deviceId: 44,
  rank: 48,
  typeCode: 52,
  typeBits: 53,
  typeLanes: 54,
  shape: 56,
  strides: 64,
  byteOffset: 72,
} as const;

/** kDLCPU and kDLCUDA. */
export const DEVICE = { cpu: 1, cuda: 2 } as const;

/** DLPACK_FLAG_BITMASK_READ_ONLY. */
const READ_ONLY = 1n;

/** DLDataTypeCode of each element type. */
const TYPE_CODE: Readonly<Record<DType, number>> = {
  bool: 6,
  int8: 0,
  uint8: 1,
  int16: 0,
  uint16: 1,
  int32: 0,
  uint32: 1,
  int64: 0,
  uint64: 1,
  float16: 2,
  bfloat16: 4,
  float32: 2,
  float64: 2,
  float8e4: 10,
  float8e5: 12,
};

/** A tensor as DLPack describes it. */
export interface DLPackTensorFacts {
  /** Of the first element. */
  readonly address: bigint;
  /** kDLCPU, kDLCUDA and so on. */
  readonly deviceType: number;
  /** Which one of its kind. */
  readonly deviceId: number;
  /** The element type. */
  readonly dtype: DType;
  /** The extent of each axis. */
  readonly shape: readonly number[];
  /** From one element to the next along each axis, in elements. */
  readonly strides: readonly number[];
}

/** What a structure says, apart from shape and strides. */
export interface ManagedHeader extends Omit<DLPackTensorFacts, "shape" | "strides"> {
  readonly isReadOnly: boolean;
  readonly rank: number;
  /** Where `rank` integers of 8 bytes are. */
  readonly shapeAddress: bigint;
  /** 0n: row by row without gaps. */
  readonly stridesAddress: bigint;
}

/** A structure and behind it its shape and strides; `addressOf` says where memory lies. No deleter: its maker keeps it. */
export function encodeManaged(
  facts: DLPackTensorFacts,
  addressOf: (memory: HostBytes) => bigint,
): HostBytes {
  const { address, deviceType, deviceId, dtype, shape, strides } = facts;
  const rank = shape.length;
  const bytes = new Uint8Array(MANAGED_BYTES + 16 * rank);
  const view = new DataView(bytes.buffer);
  const start = addressOf(bytes);
  view.setUint32(AT.major, VERSION.major, true);
  view.setUint32(AT.minor, VERSION.minor, true);
  view.setBigUint64(AT.data, address, true);
  view.setInt32(AT.deviceType, deviceType, true);
  view.setInt32(AT.deviceId, deviceId, true);
  view.setInt32(AT.rank, rank, true);
  view.setUint8(AT.typeCode, TYPE_CODE[dtype]);
  view.setUint8(AT.typeBits, 8 * DTYPES[dtype].bytes);
  view.setUint16(AT.typeLanes, 1, true);
  view.setBigUint64(AT.shape, start + BigInt(MANAGED_BYTES), true);
  view.setBigUint64(AT.strides, start + BigInt(MANAGED_BYTES + 8 * rank), true);
  [...shape, ...strides].forEach((value, i) =>
    view.setBigInt64(MANAGED_BYTES + 8 * i, BigInt(value), true)
  );
  return bytes;
}

/** The version and the deleter, which every version has where version 1 has them. */
export function decodePrefix(
  bytes: HostBytes,
): { readonly major: number; readonly minor: number; readonly deleter: bigint } {
  const view = viewOf(bytes);
  return {
    major: view.getUint32(AT.major, true),
    minor: view.getUint32(AT.minor, true),
    deleter: view.getBigUint64(AT.deleter, true),
  };
}

/** Reads a structure of version 1. Throws `ArgumentError` for element types and ranks that tri does not have. */
export function decodeManaged(bytes: HostBytes): ManagedHeader {
  const view = viewOf(bytes);
  const rank = view.getInt32(AT.rank, true);
  if (rank < 0 || rank > MAX_RANK) throw unknown(`at most ${MAX_RANK} axes`, `${rank}`);
  const shapeAddress = view.getBigUint64(AT.shape, true);
  if (shapeAddress === 0n && rank > 0) throw unknown("a shape", "the null pointer");
  return {
    address: view.getBigUint64(AT.data, true) + view.getBigUint64(AT.byteOffset, true),
    deviceType: view.getInt32(AT.deviceType, true),
    deviceId: view.getInt32(AT.deviceId, true),
    dtype: decodeType(view),
    isReadOnly: (view.getBigUint64(AT.flags, true) & READ_ONLY) !== 0n,
    rank,
    shapeAddress,
    stridesAddress: view.getBigUint64(AT.strides, true),
  };
}

function decodeType(view: DataView): DType {
  const code = view.getUint8(AT.typeCode);
  const bits = view.getUint8(AT.typeBits);
  const lanes = view.getUint16(AT.typeLanes, true);
  for (const [name, each] of Object.entries(TYPE_CODE)) {
    const dtype = name as DType;
    if (each === code && 8 * DTYPES[dtype].bytes === bits && lanes === 1) return dtype;
  }
  throw unknown("an element type that tri has", `code ${code}, ${bits} bits, ${lanes} lanes`);
}

/** The 64-bit integers of a shape or of strides. Throws `ArgumentError` for what no tensor has. */
export function decodeIntegers(bytes: HostBytes): number[] {
  const view = viewOf(bytes);
  return Array.from({ length: bytes.length / 8 }, (_, i) => {
    const value = view.getBigInt64(8 * i, true);
    if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    throw unknown("extents and strides from 0 to 2^53 - 1", `${value}`);
  });
}

function unknown(expected: string, actual: string): ArgumentError {
  return new ArgumentError({ argument: "tensor of importDLPack", expected, actual }, {
    hint: "convert or copy the tensor in the library that has it",
  });
}

function viewOf({ buffer, byteOffset, byteLength }: HostBytes): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

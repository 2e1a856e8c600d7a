/** Scalar arguments: which values each type takes, and how they lie in the argument block. One row each. */
import { type DType, toBfloat16 } from "../../dtype.ts";
import { halfBits } from "./half_bits.ts";

/** What a caller may pass for a scalar parameter. */
export type ScalarValue = number | bigint | boolean;

interface ScalarRow {
  readonly bytes: number;
  /** For messages. */
  readonly takes: string;
  readonly accepts: (value: unknown) => value is ScalarValue;
  readonly write: (to: DataView, offset: number, value: ScalarValue) => void;
}

export const SCALARS: Readonly<Record<DType, ScalarRow>> = {
  bool: {
    bytes: 1,
    takes: "true or false",
    accepts: (value) => typeof value === "boolean",
    write: (to, offset, value) => to.setUint8(offset, value ? 1 : 0),
  },
  int8: integer(1, -(2 ** 7), 2 ** 7 - 1, (to, offset, value) => to.setInt8(offset, value)),
  uint8: integer(1, 0, 2 ** 8 - 1, (to, offset, value) => to.setUint8(offset, value)),
  int16: integer(
    2,
    -(2 ** 15),
    2 ** 15 - 1,
    (to, offset, value) => to.setInt16(offset, value, true),
  ),
  uint16: integer(2, 0, 2 ** 16 - 1, (to, offset, value) => to.setUint16(offset, value, true)),
  int32: integer(
    4,
    -(2 ** 31),
    2 ** 31 - 1,
    (to, offset, value) => to.setInt32(offset, value, true),
  ),
  uint32: integer(4, 0, 2 ** 32 - 1, (to, offset, value) => to.setUint32(offset, value, true)),
  int64: wideInteger(-(2n ** 63n), 2n ** 63n - 1n),
  uint64: wideInteger(0n, 2n ** 64n - 1n),
  float8e4: integer(1, 0, 2 ** 8 - 1, (to, offset, value) => to.setUint8(offset, value)),
  float8e5: integer(1, 0, 2 ** 8 - 1, (to, offset, value) => to.setUint8(offset, value)),
  float16: float(2, (to, offset, value) => to.setUint16(offset, halfBits(value), true)),
  bfloat16: float(2, (to, offset, value) => to.setUint16(offset, toBfloat16(value), true)),
  float32: float(4, (to, offset, value) => to.setFloat32(offset, value, true)),
  float64: float(8, (to, offset, value) => to.setFloat64(offset, value, true)),
};

/** Addresses are 64 bits wide. */
export const POINTER_BYTES = 8;

type WriteNumber = (to: DataView, offset: number, value: number) => void;

function integer(bytes: number, least: number, greatest: number, write: WriteNumber): ScalarRow {
  return {
    bytes,
    takes: `an integer from ${least} to ${greatest}`,
    accepts: (value): value is number =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= greatest,
    write: (to, offset, value) => write(to, offset, Number(value)),
  };
}

function wideInteger(least: bigint, greatest: bigint): ScalarRow {
  const isUnsigned = least === 0n;
  return {
    bytes: 8,
    takes: `an integer from ${least} to ${greatest}: a bigint, or a number within ±(2^53 - 1)`,
    accepts: (value): value is number | bigint =>
      typeof value === "bigint"
        ? value >= least && value <= greatest
        : Number.isSafeInteger(value) && typeof value === "number" && (!isUnsigned || value >= 0),
    write: (to, offset, value) => {
      if (typeof value === "bigint") {
        to.setBigInt64(offset, value, true);
        return;
      }
      const number = Number(value);
      // Two halves, so that no bigint is made for a number.
      to.setUint32(offset, number >>> 0, true);
      to.setInt32(offset + 4, Math.floor(number / 2 ** 32), true);
    },
  };
}

function float(bytes: number, write: WriteNumber): ScalarRow {
  return {
    bytes,
    takes: "a number",
    accepts: (value): value is number => typeof value === "number",
    write: (to, offset, value) => write(to, offset, Number(value)),
  };
}

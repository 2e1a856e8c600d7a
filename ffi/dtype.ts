/** Element types: their size, and the typed array that holds them on the host. One row each. */
import { ArgumentError, TriError } from "./errors.ts";
import { expectInteger } from "./arguments/numbers.ts";
import { describeValue } from "./arguments/values.ts";

/** `Float16Array`, also for programs whose TypeScript has no types of it. */
export type HalfArray = typeof globalThis extends
  { readonly Float16Array: { readonly prototype: infer Half extends HalfValues } } ? Half
  : HalfValues;

/** What of `Float16Array` is used. */
export interface HalfValues extends ArrayBufferView {
  /** How many numbers it holds. */
  readonly length: number;
  /** The numbers. */
  [index: number]: number;
  /** What distinguishes it from the other typed arrays. */
  readonly [Symbol.toStringTag]: "Float16Array";
}

/**
 * Host arrays keep the exact bits. Types that JavaScript has no array for are kept as unsigned integers
 * of the same size: bool as 0 and 1, bfloat16 and the 8-bit floats as their bit patterns.
 */
export type HostArrays = {
  bool: Uint8Array;
  int8: Int8Array;
  uint8: Uint8Array;
  int16: Int16Array;
  uint16: Uint16Array;
  int32: Int32Array;
  uint32: Uint32Array;
  int64: BigInt64Array;
  uint64: BigUint64Array;
  float16: HalfArray;
  bfloat16: Uint16Array;
  float32: Float32Array;
  float64: Float64Array;
  float8e4: Uint8Array;
  float8e5: Uint8Array;
};

/** The name of an element type. */
export type DType = keyof HostArrays;

/** The typed array that holds elements of `D` on the host. */
export type HostArray<D extends DType = DType> = HostArrays[D];

/** Node has `Float16Array` from version 24 on. Without it tensors of float16 stay on the device. */
function halves(): Float16ArrayConstructor {
  if (typeof Float16Array !== "undefined") return Float16Array;
  throw new TriError("This runtime has no Float16Array, which host data of float16 needs", {
    hint: "readInto(new Uint16Array(tensor.elements)) gives the bits; Node 24 has Float16Array",
  });
}

/** Every element type. */
export const DTYPES: {
  readonly [D in DType]: {
    readonly bytes: number;
    readonly array: {
      new (length: number): HostArray<D>;
      new (buffer: ArrayBuffer, byteOffset: number, length: number): HostArray<D>;
    };
  };
} = {
  bool: { bytes: 1, array: Uint8Array },
  int8: { bytes: 1, array: Int8Array },
  uint8: { bytes: 1, array: Uint8Array },
  int16: { bytes: 2, array: Int16Array },
  uint16: { bytes: 2, array: Uint16Array },
  int32: { bytes: 4, array: Int32Array },
  uint32: { bytes: 4, array: Uint32Array },
  int64: { bytes: 8, array: BigInt64Array },
  uint64: { bytes: 8, array: BigUint64Array },
  float16: {
    bytes: 2,
    get array(): Float16ArrayConstructor {
      return halves();
    },
  },
  bfloat16: { bytes: 2, array: Uint16Array },
  float32: { bytes: 4, array: Float32Array },
  float64: { bytes: 8, array: Float64Array },
  float8e4: { bytes: 1, array: Uint8Array },
  float8e5: { bytes: 1, array: Uint8Array },
};

/** The element type that each typed array means when no other is named. */
export type NaturalDTypes = {
  Int8Array: "int8";
  Uint8Array: "uint8";
  Uint8ClampedArray: "uint8";
  Int16Array: "int16";
  Uint16Array: "uint16";
  Int32Array: "int32";
  Uint32Array: "uint32";
  BigInt64Array: "int64";
  BigUint64Array: "uint64";
  Float16Array: "float16";
  Float32Array: "float32";
  Float64Array: "float64";
};

const NATURAL: NaturalDTypes = {
  Int8Array: "int8",
  Uint8Array: "uint8",
  Uint8ClampedArray: "uint8",
  Int16Array: "int16",
  Uint16Array: "uint16",
  Int32Array: "int32",
  Uint32Array: "uint32",
  BigInt64Array: "int64",
  BigUint64Array: "uint64",
  Float16Array: "float16",
  Float32Array: "float32",
  Float64Array: "float64",
};

/** The element type that a typed array means by itself; `Uint16Array` is "uint16", never "bfloat16". */
export type DTypeOf<A extends HostArray | Uint8ClampedArray> =
  NaturalDTypes[A[typeof Symbol.toStringTag]];

/** Numbers that can be iterated: lists, sets, generators; not typed arrays, which have their own element type. */
export type HostNumbers = Iterable<number | bigint | boolean> & {
  readonly BYTES_PER_ELEMENT?: never;
};

/**
 * Data for elements of a named type: its typed array; bits, as `Uint16Array` for float16 and bfloat16; the bytes of
 * elements; or numbers, which are rounded to the type.
 */
export type HostData<D extends DType = DType> =
  | HostArray<D>
  | (D extends "float16" | "bfloat16" ? Uint16Array : never)
  | Uint8Array
  | Uint8ClampedArray
  | ArrayBuffer
  | SharedArrayBuffer
  | DataView
  | HostNumbers;

/** The element type that the typed arrays of this name mean; undefined where there is none. */
export function naturalDType(name: unknown): DType | undefined {
  return isNatural(name) ? NATURAL[name] : undefined;
}

function isNatural(name: unknown): name is keyof NaturalDTypes {
  return typeof name === "string" && Object.hasOwn(NATURAL, name);
}

/** Throws `ArgumentError` for what is not the name of an element type. */
export function expectDType(argument: string, value: unknown): asserts value is DType {
  if (typeof value === "string" && Object.hasOwn(DTYPES, value)) return;
  throw new ArgumentError({
    argument,
    expected: `one of ${Object.keys(DTYPES).join(", ")}`,
    actual: describeValue(value),
  });
}

/** A new host array of zeros. Throws `TriError` where the host has no memory for it. */
export function hostArray<D extends DType>(dtype: D, length: number): HostArray<D>;
export function hostArray(dtype: DType, length: number): HostArray {
  const { array } = DTYPES[dtype];
  try {
    return new array(length);
  } catch (cause) {
    throw new TriError(`The host has no memory for ${length} elements of ${dtype}`, {
      hint: "read parts of the tensor, as `narrow()` makes them",
      cause,
    });
  }
}

/** Bytes of host memory that the driver can read or fill; never shared between threads. */
export type HostBytes = Uint8Array<ArrayBuffer>;

/**
 * The bfloat16 nearest to a number, as its bits from 0 to 65535; ties go to the even one, as on the device. Throws
 * `ArgumentError` for what is no number.
 */
export function toBfloat16(value: number): number {
  if (typeof value !== "number") {
    throw new ArgumentError({
      argument: "value of toBfloat16",
      expected: "a number",
      actual: describeValue(value),
    });
  }
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  const high = bits >>> 16;
  const low = bits & 0xffff;
  // Rounding to float32 first may have landed exactly on a tie that the number itself is not on.
  const float = view.getFloat32(0);
  const beyond = low === 0x8000 ? Math.sign(Math.abs(value) - Math.abs(float)) : 0;
  const up = low > 0x8000 || (low === 0x8000 && (beyond > 0 || (beyond === 0 && (high & 1) === 1)));
  return up ? high + 1 : high;
}

/** The number that bfloat16 bits represent. Throws `ArgumentError` for what is no integer from 0 to 65535. */
export function fromBfloat16(bits: number): number {
  expectInteger("bits of fromBfloat16", bits, 0, 0xffff);
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

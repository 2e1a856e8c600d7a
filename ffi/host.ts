/**
 * The host arrays that callers pass in. What an array says of itself can be overridden in a subclass, so its memory is
 * asked for by the accessors of the language; and memory can be gone: detached, or a view of a buffer that has shrunk.
 */
import { type DType, DTYPES, type HostArray, type HostBytes, naturalDType } from "./dtype.ts";
import { ArgumentError } from "./errors.ts";
import { nameValue } from "./brands.ts";
import { expectInteger } from "./numbers.ts";

type Accessor = (of: unknown) => unknown;

const TYPED_ARRAY: object = Object.getPrototypeOf(Uint8Array.prototype);

function accessor(of: object, name: PropertyKey): Accessor {
  const get = Object.getOwnPropertyDescriptor(of, name)?.get;
  return (value) => get?.call(value);
}

/** Undefined for what is no typed array. */
const typeName = accessor(TYPED_ARRAY, Symbol.toStringTag);
const lengthAccessor = accessor(TYPED_ARRAY, "length");

const OF_TYPED_ARRAY = accessorsOf(TYPED_ARRAY);
/** They throw where the memory is gone. */
const OF_DATA_VIEW = accessorsOf(DataView.prototype);

interface Accessors {
  readonly buffer: Accessor;
  readonly byteOffset: Accessor;
  readonly byteLength: Accessor;
}

function accessorsOf(of: object): Accessors {
  return {
    buffer: accessor(of, "buffer"),
    byteOffset: accessor(of, "byteOffset"),
    byteLength: accessor(of, "byteLength"),
  };
}

/** The element type that a typed array means; undefined when the value is not a typed array that tri takes. */
export function dtypeOf(data: unknown): DType | undefined {
  return naturalDType(typeName(data));
}

/** The element type that data is for: the one named, or else the typed array's own. */
export function checkData(data: unknown, dtype: DType | undefined): DType {
  const natural = dtypeOf(data);
  const wanted = dtype === undefined ? "a typed array" : `${DTYPES[dtype].array.name} for ${dtype}`;
  if (natural === undefined) {
    throw new ArgumentError({ argument: "data", expected: wanted, actual: nameValue(data) });
  }
  if (dtype === undefined) return natural;
  const { array } = DTYPES[natural];
  if (array === DTYPES[dtype].array) return dtype;
  throw new ArgumentError({ argument: "data", expected: wanted, actual: array.name });
}

/** How many elements a typed array has; 0 where its memory is gone. */
export function lengthOf(data: HostArray): number {
  return Number(lengthAccessor(data));
}

/**
 * Bytes of a typed array that belong to `offset` and following of memory of `size` bytes. Throws `ArgumentError` where
 * they reach out of it.
 */
export function bytesInside(
  data: ArrayBufferView,
  { argument, offset, size }: {
    readonly argument: string;
    readonly offset: unknown;
    readonly size: number;
  },
): { readonly bytes: HostBytes; readonly offset: number } {
  const start = expectInteger(`offset beside ${argument}`, offset);
  const bytes = bytesOf(data, argument);
  if (start + bytes.length <= size) return { bytes, offset: start };
  throw new ArgumentError({
    argument,
    expected: `at most ${size} bytes`,
    actual: `${bytes.length} bytes at offset ${start}`,
  });
}

/**
 * The bytes of a typed array or a DataView. Not copied, unless they lie in memory that FFI cannot take: shared with
 * other threads, or of a buffer that can shrink. Throws `ArgumentError` where the memory is gone.
 */
export function bytesOf(data: ArrayBufferView, argument = "data"): HostBytes {
  if (!ArrayBuffer.isView(data)) {
    throw new ArgumentError({ argument, expected: "a typed array", actual: nameValue(data) });
  }
  const from = typeName(data) === undefined ? OF_DATA_VIEW : OF_TYPED_ARRAY;
  try {
    const buffer = from.buffer(data);
    const [offset, length] = [Number(from.byteOffset(data)), Number(from.byteLength(data))];
    // An array whose memory is gone has no bytes, and refuses to be read.
    if (length === 0 && from === OF_TYPED_ARRAY) Uint8Array.prototype.at.call(data, 0);
    if (buffer instanceof ArrayBuffer) {
      const bytes = new Uint8Array(buffer, offset, length);
      return buffer.resizable ? bytes.slice() : bytes;
    }
    return new Uint8Array(new Uint8Array(buffer as SharedArrayBuffer, offset, length));
  } catch (cause) {
    throw new ArgumentError({
      argument,
      expected: "an array with its memory",
      actual: "one whose ArrayBuffer was transferred (detached) or has shrunk below it",
    }, { cause });
  }
}

/**
 * The host arrays that callers pass in. What an array says of itself can be overridden in a subclass, so its memory is
 * asked for by the accessors of the language; and memory can be gone: detached, or a view of a buffer that has shrunk.
 */
import { type DType, DTYPES, type HostBytes, naturalDType } from "../dtype.ts";
import { encodeElements } from "./elements.ts";
import { ArgumentError } from "../errors.ts";
import { nameValue } from "../arguments/brands.ts";
import { expectInteger } from "../arguments/numbers.ts";

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

/** The unsigned integers that keep the bits of elements for which JavaScript has no array, or not everywhere. */
const BITS: Readonly<Partial<Record<DType, DType>>> = {
  bool: "uint8",
  float16: "uint16",
  bfloat16: "uint16",
  float8e4: "uint8",
  float8e5: "uint8",
};

/** The element type that data is for: the one named, or else the typed array's own. */
export function checkData(data: unknown, dtype: DType | undefined): DType {
  const natural = dtypeOf(data);
  if (natural === undefined) throw unfit(data, dtype);
  if (dtype === undefined || dtype === natural || BITS[dtype] === natural) return dtype ?? natural;
  throw unfit(data, dtype);
}

function unfit(data: unknown, dtype: DType | undefined): ArgumentError {
  const arrays = (type: DType): string =>
    type === "float16" ? "Float16Array, Uint16Array" : DTYPES[type].array.name;
  const expected = dtype === undefined
    ? "a typed array or numbers"
    : `${arrays(dtype)}, its bytes or numbers for ${dtype}`;
  const actual = dtypeOf(data) === undefined ? nameValue(data) : String(typeName(data));
  return new ArgumentError({ argument: "data", expected, actual });
}

/** Elements in host memory, row by row. */
export interface HostElements {
  readonly dtype: DType;
  readonly bytes: HostBytes;
  /** How many elements there are. */
  readonly length: number;
}

/**
 * The elements that data contains, for the element type that is named or else that it has by itself: a typed array, the
 * bytes of elements of the type (an ArrayBuffer, a DataView, a Uint8Array), or numbers that can be iterated. Typed
 * arrays and bytes are not copied. Throws `ArgumentError` for other data, and for parts of elements.
 */
export function takeData(data: unknown, dtype: DType | undefined): HostElements {
  const natural = dtypeOf(data);
  if (natural !== undefined && ArrayBuffer.isView(data)) {
    const isOwn = dtype === undefined || dtype === natural || BITS[dtype] === natural;
    if (isOwn) return { dtype: dtype ?? natural, bytes: bytesOf(data), length: lengthOf(data) };
    if (natural === "uint8") return wholeElements(bytesOf(data), dtype);
    throw unfit(data, dtype);
  }
  const view = viewOf(data);
  if (view !== undefined) {
    if (dtype === undefined) {
      const expected = "the option dtype beside an ArrayBuffer or a DataView";
      throw new ArgumentError({ argument: "data", expected, actual: "none" });
    }
    return wholeElements(bytesOf(view), dtype);
  }
  if (!isIterable(data)) throw unfit(data, dtype);
  return encodeElements(data, dtype);
}

function wholeElements(bytes: HostBytes, dtype: DType): HostElements {
  const size = DTYPES[dtype].bytes;
  if (bytes.length % size === 0) return { dtype, bytes, length: bytes.length / size };
  throw new ArgumentError({
    argument: "data",
    expected: `bytes of whole elements of ${dtype} (${size} bytes each)`,
    actual: `${bytes.length} bytes`,
  });
}

/** The bytes of a DataView or of a whole buffer; undefined for what is neither, or has lost its memory. */
function viewOf(data: unknown): ArrayBufferView | undefined {
  if (ArrayBuffer.isView(data)) return data;
  try {
    // The constructor takes buffers alone, shared ones too, and asks no property of them.
    return Reflect.construct(DataView, [data]);
  } catch {
    return undefined;
  }
}

/** Lists, generators and the like; texts, tensors and what only has the form of a typed array are none. Never throws. */
function isIterable(data: unknown): data is Iterable<unknown> {
  try {
    return typeof data === "object" && data !== null &&
      !Object.prototype.isPrototypeOf.call(TYPED_ARRAY, data) && Symbol.iterator in data &&
      typeof data[Symbol.iterator] === "function";
  } catch {
    return false;
  }
}

/** How many elements a typed array has; 0 where its memory is gone. */
export function lengthOf(data: ArrayBufferView): number {
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

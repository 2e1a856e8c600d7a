/**
 * Files of NumPy with one array, `.npy`: read in parts when elements are asked for, and written.
 *
 * ```ts
 * import { Device } from "@tri/tri/ffi";
 * import { encodeNpy, openNpy } from "@tri/tri/formats/npy";
 *
 * using device = Device.open({ device: "emulator" });
 * const bytes = encodeNpy({ data: [1, 2, 3, 4, 5, 6], shape: [2, 3] });
 * using file = openNpy(bytes);
 * using x = file.toDevice(device);
 * console.log(`${x}`, await x.read());
 * ```
 *
 * @module
 */
import { DTYPES, type HostBytes } from "../ffi/dtype.ts";
import { denseStrides } from "../ffi/tensors/shape.ts";
import { TensorFileError } from "./errors.ts";
import {
  NPY_PREFIX_BYTES,
  npyHeaderEnd,
  parseNpyHeader,
  printNpyHeader,
  truncated,
} from "./npy_header.ts";
import { piecesFrom, takeWritable, type TensorSource, type Writable } from "./pieces.ts";
import { type Sink, writeFile, writeMemory } from "./sink.ts";
import { type ByteSource, type FileSource, openSource, readPart } from "./source.ts";
import { type StoredFacts, StoredTensor } from "./stored.ts";

export { TensorFileError } from "./errors.ts";
export type { HostTensor, TensorSource } from "./pieces.ts";
export type { FileSource } from "./source.ts";
export { StoredTensor } from "./stored.ts";

/** An open `.npy` file: its array. */
export class NpyFile extends StoredTensor implements Disposable {
  readonly #source: ByteSource;

  /** Use `openNpy`. */
  constructor(source: ByteSource, facts: StoredFacts) {
    super(facts);
    this.#source = source;
  }

  /** Closes the file; its elements cannot be read any more. */
  close(): void {
    this.#source.close();
  }

  /** What `using` calls at the end of a block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Opens a file, or takes the bytes of one, and reads its header. Arrays of Fortran order have their strides; elements
 * stored with the highest byte first are converted; types of extension packages (`V1`, `V2`) are unsigned integers, of
 * which `as("bfloat16")` and the like make what they mean. Bytes after the array are ignored, as NumPy does. Throws
 * `TensorFileError` for a file that is truncated or has what tri has no element type for.
 */
export function openNpy(source: FileSource): NpyFile {
  const bytes = openSource(source);
  try {
    return new NpyFile(bytes, readNpyFacts(bytes));
  } catch (error) {
    bytes.close();
    throw error;
  }
}

function readNpyFacts(source: ByteSource): StoredFacts {
  const { name: file, byteLength } = source;
  const prefix = readPart(source, 0, Math.min(NPY_PREFIX_BYTES, byteLength));
  const { start, end } = npyHeaderEnd(prefix, file, 0);
  if (end > byteLength) throw truncated(file, byteLength);
  const facts = npyFacts(readPart(source, 0, end), start, { file, name: "", base: 0 });
  if (end + facts.byteLength > byteLength) {
    throw tooShort(file, byteLength, facts.byteLength, byteLength - end);
  }
  return facts.stored((offset, length) => piecesFrom(source, offset, length));
}

/** The error of an array that the file has not all of. */
export function tooShort(
  file: string,
  offset: number,
  wanted: number,
  found: number,
): TensorFileError {
  const problem = `the array needs ${wanted} bytes, and the file has ${found}`;
  return new TensorFileError({ file, offset }, problem, {
    hint: "it is truncated: fetch or write it again",
  });
}

/** What a header says of an array whose elements a container reads. */
export interface NpyFacts {
  /** Size of the elements. */
  readonly byteLength: number;
  /** The array; `read` gives consecutive bytes of the .npy file. */
  readonly stored: (
    read: (offset: number, length: number) => Iterable<HostBytes>,
  ) => StoredFacts;
}

/** Reads a header; `base` is where the .npy file begins in the file, for messages. */
export function npyFacts(
  header: HostBytes,
  start: number,
  { file, name, base }: { readonly file: string; readonly name: string; readonly base: number },
): NpyFacts {
  const facts = parseNpyHeader(header, start, file, base);
  const { dtype, shape, isBigEndian, isFortranOrder, dataOffset } = facts;
  const elementBytes = DTYPES[dtype].bytes;
  const byteLength = shape.reduce((product, extent) => product * extent, elementBytes);
  const strides = isFortranOrder ? denseStrides(shape.toReversed()).reverse() : denseStrides(shape);
  return {
    byteLength,
    stored: (read) => ({
      file,
      name,
      dtype,
      shape,
      strides,
      pieces: () => {
        const pieces = read(dataOffset, byteLength);
        return isBigEndian ? reversed(pieces, elementBytes) : pieces;
      },
    }),
  };
}

/** Turns the bytes of each element around. Pieces have whole elements. */
function* reversed(pieces: Iterable<HostBytes>, elementBytes: number): Iterable<HostBytes> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += elementBytes) {
      piece.subarray(at, at + elementBytes).reverse();
    }
    yield piece;
  }
}

/** The bytes of a `.npy` file with the tensor. Throws `ArgumentError` for what is no tensor. */
export function encodeNpy(tensor: TensorSource): HostBytes {
  const writable = takeWritable(tensor, "tensor");
  return writeMemory((sink) => writeNpyInto(sink, 0, writable));
}

/**
 * Writes a tensor as a `.npy` file, row by row; tensors of a device are copied in parts of 16 MiB. `bfloat16` and the
 * 8-bit floats are written as ml_dtypes does, without their names: `numpy.load(file).view(ml_dtypes.bfloat16)`. The file
 * has the path when it is whole. Throws `ArgumentError` for what is no tensor, `TensorFileError`.
 */
export function writeNpy(path: string | URL, tensor: TensorSource): void {
  const writable = takeWritable(tensor, "tensor");
  writeFile(path, (sink) => writeNpyInto(sink, 0, writable));
}

/** Writes a `.npy` file into another; returns where it ends. */
export function writeNpyInto(sink: Sink, start: number, tensor: Writable): number {
  let at = start;
  for (const piece of npyPieces(tensor)) {
    sink.write(at, piece);
    at += piece.length;
  }
  return at;
}

/** The bytes of a `.npy` file, piece by piece. */
export function* npyPieces({ dtype, shape, pieces }: Writable): Iterable<HostBytes> {
  yield printNpyHeader(dtype, shape);
  yield* pieces();
}

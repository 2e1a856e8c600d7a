/** Tensors of a file: what they are is known when the file is open, their bytes are read when they are asked for. */
import type { Device } from "../ffi/device.ts";
import { type DType, DTYPES, type HostArray, hostArray, type HostBytes } from "../ffi/dtype.ts";
import { bytesOf } from "../ffi/tensors/host.ts";
import { countElements, describe, gather, isDense } from "../ffi/tensors/shape.ts";
import type { Stream } from "../ffi/stream.ts";
import type { Tensor } from "../ffi/tensors/tensor.ts";
import { TensorFileError } from "./errors.ts";

/** Bytes of a tensor that are in host memory at once. */
export const PIECE_BYTES: number = 2 ** 24;

/** What a reader of a format has of a tensor. */
export interface StoredFacts<D extends DType = DType> {
  /** The file, for messages. */
  readonly file: string;
  /** The tensor's name in the file; empty where a file has only one. */
  readonly name: string;
  /** The element type. */
  readonly dtype: D;
  /** The extent of each axis. */
  readonly shape: readonly number[];
  /** From one element to the next along each axis, in elements. They fill their memory without gaps, in some order of axes. */
  readonly strides: readonly number[];
  /** The elements as they are stored, little-endian, in consecutive pieces; each is valid until the next is asked for. */
  readonly pieces: () => Iterable<HostBytes>;
}

/** A tensor of a file that is open. Nothing of its elements is read before they are asked for. */
export class StoredTensor<out D extends DType = DType> {
  /** Its name in the file; empty where a file has only one. */
  readonly name: string;
  /** The element type. */
  readonly dtype: D;
  /** The extent of each axis. */
  readonly shape: readonly number[];
  /** From one element to the next along each axis, in elements: column by column for arrays of Fortran order. */
  readonly strides: readonly number[];
  /** How many elements there are. */
  readonly elements: number;
  /** Size of the elements. */
  readonly byteLength: number;
  readonly #facts: StoredFacts;

  /** For the readers of formats. */
  constructor(facts: StoredFacts<D>) {
    this.#facts = facts;
    this.name = facts.name;
    this.dtype = facts.dtype;
    this.shape = facts.shape;
    this.strides = facts.strides;
    this.elements = countElements(facts.shape);
    this.byteLength = this.elements * DTYPES[facts.dtype].bytes;
  }

  /** Such as "float32[2, 3]". */
  toString(): string {
    return describe(this.dtype, this.shape);
  }

  /**
   * The same tensor for a program with a known element type. Unsigned integers are also taken as the bits of a type of
   * their size, such as `uint16` for `bfloat16`, which `.npy` has no name for. Throws `TensorFileError` for another type.
   */
  as<T extends DType>(dtype: T): StoredTensor<T> {
    const isBits = this.dtype.startsWith("uint") &&
      DTYPES[this.dtype].bytes === DTYPES[dtype]?.bytes;
    if (this.dtype !== dtype as DType && !isBits) {
      throw new TensorFileError({ file: this.#facts.file }, `${this.#label()} is not ${dtype}`, {
        hint: `take it as ${this.dtype}, and convert it with \`tensor.cast\``,
      });
    }
    return new StoredTensor({ ...this.#facts, dtype });
  }

  /** Reads the elements as bytes, row by row, little-endian. Throws `TensorFileError`. */
  bytes(): HostBytes {
    const dense = bytesOf(hostArray("uint8", this.byteLength));
    this.#read(dense);
    return dense;
  }

  /** Reads the elements, row by row, as the typed array of their type. Throws `TensorFileError`. */
  array(): HostArray<D> {
    const array = hostArray(this.dtype, this.elements);
    this.#read(bytesOf(array));
    return array;
  }

  #read(dense: HostBytes): void {
    const { shape, strides } = this;
    const isInOrder = isDense(shape, strides);
    const stored = isInOrder ? dense : bytesOf(hostArray("uint8", this.byteLength));
    let done = 0;
    for (const piece of this.#facts.pieces()) {
      stored.set(piece, done);
      done += piece.length;
    }
    if (isInOrder) return;
    gather(dense, stored, { shape, strides, elementBytes: DTYPES[this.dtype].bytes });
  }

  /**
   * A tensor of a device with the elements, laid out as they are in the file. They are copied in parts of 16 MiB, so that
   * large ones need no host memory. Blocks until they are there. Throws `TensorFileError`, `OutOfMemoryError`.
   */
  toDevice(device: Device, options: { readonly stream?: Stream } = {}): Tensor<D> {
    const { dtype, shape, strides } = this;
    const tensor: Tensor<D> = device.empty(dtype, shape, { ...options, strides });
    try {
      let done = 0;
      for (const piece of this.#facts.pieces()) {
        tensor.buffer.upload(piece, done);
        done += piece.length;
      }
    } catch (error) {
      tensor.dispose();
      throw error;
    }
    return tensor;
  }

  /**
   * The elements row by row, in consecutive pieces; each is valid until the next is asked for. For writers of files.
   *
   * @ignore
   */
  pieces(): Iterable<HostBytes> {
    return isDense(this.shape, this.strides) ? this.#facts.pieces() : [this.bytes()];
  }

  #label(): string {
    return this.name === "" ? `${this}` : `${this.name} (${this})`;
  }
}

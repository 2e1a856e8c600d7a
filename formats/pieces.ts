/** The elements of a tensor in consecutive pieces, whatever the tensor is. */
import { type DType, DTYPES, type HostBytes, type HostData } from "../ffi/dtype.ts";
import { ArgumentError } from "../ffi/errors.ts";
import { takeData } from "../ffi/tensors/host.ts";
import { nameValue } from "../ffi/arguments/brands.ts";
import { checkOptions, optionNames, own } from "../ffi/arguments/options.ts";
import { countElements, listed, takeShape } from "../ffi/tensors/shape.ts";
import { isTensor, type Tensor } from "../ffi/tensors/tensor.ts";
import { type ByteSource, newBytes } from "./source.ts";
import { PIECE_BYTES, StoredTensor } from "./stored.ts";

/** Elements in host memory that a file is written of. */
export interface HostTensor {
  /** Row by row: what `device.tensor` takes. */
  readonly data: HostData;
  /** One dimension where it is not given. */
  readonly shape?: readonly number[];
  /** What the data means; the typed array decides where it is not given. */
  readonly dtype?: DType;
}

/** A tensor that can be written to a file: one of a device, one of a file that is open, or elements in host memory. */
export type TensorSource = Tensor | StoredTensor | HostTensor;

/** A tensor as writers need it: its elements row by row, little-endian. */
export interface Writable {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly byteLength: number;
  /** Consecutive pieces; each is valid until the next is asked for. */
  readonly pieces: () => Iterable<HostBytes>;
}

const HOST_TENSOR = optionNames<HostTensor>({ data: true, shape: true, dtype: true });

/** Takes what a caller wants to write; `argument` is what messages call it. Throws `ArgumentError`. */
export function takeWritable(source: TensorSource, argument: string): Writable {
  if (isTensor(source)) {
    const { dtype, shape, elements }: Tensor = source;
    // Throws for one that was disposed.
    source.address;
    const byteLength = elements * DTYPES[dtype].bytes;
    return { dtype, shape, byteLength, pieces: () => piecesOf(source) };
  }
  if (source instanceof StoredTensor) {
    const { dtype, shape, byteLength }: StoredTensor = source;
    return { dtype, shape, byteLength, pieces: () => source.pieces() };
  }
  if (typeof source !== "object" || source === null || ArrayBuffer.isView(source)) {
    throw new ArgumentError({
      argument,
      expected: "a tensor, a tensor of a file, or { data, shape, dtype }",
      actual: nameValue(source),
    });
  }
  return takeHost(source, argument);
}

function takeHost(source: HostTensor, argument: string): Writable {
  checkOptions(argument, source, HOST_TENSOR);
  const given = own(source, "shape");
  const { dtype, bytes, length } = takeData(own(source, "data"), own(source, "dtype"));
  const shape = given === undefined ? [length] : takeShape(given);
  if (countElements(shape) !== length) {
    throw new ArgumentError({
      argument: `data of ${argument}`,
      expected: `${countElements(shape)} elements for shape ${listed(shape)}`,
      actual: `${length}`,
    });
  }
  return { dtype, shape, byteLength: bytes.length, pieces: () => [bytes] };
}

/** Copies a tensor to the host piece by piece. */
function* piecesOf(tensor: Tensor): Iterable<HostBytes> {
  const dense = tensor.contiguous();
  try {
    const start = dense.offset * DTYPES[dense.dtype].bytes;
    const room = newBytes(`${tensor}`, Math.min(dense.spanBytes, PIECE_BYTES));
    for (let done = 0; done < dense.spanBytes; done += room.length) {
      const piece = room.subarray(0, Math.min(room.length, dense.spanBytes - done));
      dense.buffer.download(piece, start + done).synchronize();
      yield piece;
    }
  } finally {
    dense.dispose();
  }
}

/** Reads a stretch of a source piece by piece, in the same memory. */
export function* piecesFrom(
  source: ByteSource,
  offset: number,
  byteLength: number,
): Iterable<HostBytes> {
  const room = newBytes(source.name, Math.min(byteLength, PIECE_BYTES));
  for (let done = 0; done < byteLength; done += room.length) {
    const piece = room.subarray(0, Math.min(room.length, byteLength - done));
    source.readInto(piece, offset + done);
    yield piece;
  }
}

/** Takes tensors by name. Throws `ArgumentError` for what is no plain object of tensors. */
export function takeTensors(
  tensors: Readonly<Record<string, TensorSource>>,
): ReadonlyMap<string, Writable> {
  if (typeof tensors !== "object" || tensors === null || isTensor(tensors)) {
    throw new ArgumentError({
      argument: "tensors",
      expected: "an object with a tensor by each name",
      actual: nameValue(tensors),
    });
  }
  return new Map(
    Object.entries(tensors).map(([name, tensor]) => [
      name,
      takeWritable(tensor, JSON.stringify(name)),
    ]),
  );
}

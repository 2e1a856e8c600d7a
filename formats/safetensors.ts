/**
 * Files of safetensors: a JSON header, then the elements of all tensors, little-endian and row by row. Their format is
 * that of https://github.com/huggingface/safetensors.
 *
 * ```ts
 * import { encodeSafetensors, openSafetensors } from "@tri/tri/formats/safetensors";
 *
 * const weight = { data: [1, 2, 3, 4], shape: [2, 2], dtype: "bfloat16" } as const;
 * using file = openSafetensors(encodeSafetensors({ weight }, { metadata: { format: "tri" } }));
 * console.log(file.metadata, `${file.get("weight")}`, file.get("weight").array());
 * ```
 *
 * @module
 */
import { type DType, DTYPES, type HostBytes } from "../ffi/dtype.ts";
import { ArgumentError } from "../ffi/errors.ts";
import { checkOptions, optionNames, own } from "../ffi/arguments/options.ts";
import { denseStrides } from "../ffi/tensors/shape.ts";
import { describeValue } from "../ffi/arguments/values.ts";
import { openArchive, TensorArchive } from "./archive.ts";
import { TensorFileError } from "./errors.ts";
import { piecesFrom, takeTensors, type TensorSource, type Writable } from "./pieces.ts";
import {
  LENGTH_BYTES,
  METADATA,
  readHeader,
  SAFETENSORS_NAMES,
  type SafetensorsEntry,
} from "./safetensors_header.ts";
import { type Sink, writeFile, writeMemory } from "./sink.ts";
import { type ByteSource, type FileSource, openSource } from "./source.ts";
import { StoredTensor } from "./stored.ts";

export { TensorArchive } from "./archive.ts";
export { TensorFileError } from "./errors.ts";
export type { HostTensor, TensorSource } from "./pieces.ts";
export type { FileSource } from "./source.ts";
export { StoredTensor } from "./stored.ts";

/** An open file of safetensors. */
export class SafetensorsFile extends TensorArchive {
  /** Texts that the writer of the file added. */
  readonly metadata: Readonly<Record<string, string>>;

  /** Use `openSafetensors`. */
  constructor(
    source: ByteSource,
    read: ReadonlyMap<string, () => StoredTensor>,
    metadata: Readonly<Record<string, string>>,
  ) {
    super(source, read);
    this.metadata = metadata;
  }
}

/**
 * Opens a file, or takes the bytes of one, and reads its header. Throws `TensorFileError` for a file that is truncated,
 * whose header is damaged, or whose tensors overlap or have gaps between them. Tensors of element types that tri does
 * not have are refused when they are asked for.
 */
export function openSafetensors(source: FileSource): SafetensorsFile {
  return openArchive(openSource(source), (bytes) => {
    const { entries, metadata } = readHeader(bytes);
    const read = entries.map((entry): [string, () => StoredTensor] => [
      entry.name,
      () => readTensor(bytes, entry),
    ]);
    return new SafetensorsFile(bytes, new Map(read), metadata);
  });
}

function readTensor(source: ByteSource, entry: SafetensorsEntry): StoredTensor {
  const { name, shape, start, end, dtype, dtypeName } = entry;
  if (dtype === undefined) {
    const problem = `tri has no element type for ${JSON.stringify(name)} of ${
      describeValue(dtypeName)
    }`;
    throw new TensorFileError({ file: source.name, offset: start }, problem, {
      hint: `convert it to one of ${Object.values(SAFETENSORS_NAMES).join(", ")}`,
    });
  }
  return new StoredTensor({
    file: source.name,
    name,
    dtype,
    shape,
    strides: denseStrides(shape),
    pieces: () => piecesFrom(source, start, end - start),
  });
}

/** How a file of safetensors is written. */
export interface SafetensorsOptions {
  /** Texts that are stored with the tensors. */
  readonly metadata?: Readonly<Record<string, string>>;
}

const SAFETENSORS_OPTIONS = optionNames<SafetensorsOptions>({ metadata: true });

/** The bytes of a file with the tensors by name. Throws `ArgumentError` for what is no tensor. */
export function encodeSafetensors(
  tensors: Readonly<Record<string, TensorSource>>,
  options: SafetensorsOptions = {},
): HostBytes {
  const plan = planFile(tensors, options);
  return writeMemory((sink) => writePlan(sink, plan));
}

/**
 * Writes tensors by name as a file of safetensors; tensors of a device are copied in parts of 16 MiB. The file has the
 * path when it is whole. Throws `ArgumentError` for what is no tensor, `TensorFileError`.
 */
export function writeSafetensors(
  path: string | URL,
  tensors: Readonly<Record<string, TensorSource>>,
  options: SafetensorsOptions = {},
): void {
  const plan = planFile(tensors, options);
  writeFile(path, (sink) => writePlan(sink, plan));
}

interface Plan {
  readonly header: HostBytes;
  readonly tensors: readonly Writable[];
}

/** Larger elements come first, so that all are aligned; then by name, as the library of the format does. */
function planFile(
  given: Readonly<Record<string, TensorSource>>,
  options: SafetensorsOptions,
): Plan {
  checkOptions("options of safetensors", options, SAFETENSORS_OPTIONS);
  const metadata = takeMetadata(own(options, "metadata"));
  const sorted = [...takeTensors(given)].sort(([nameA, a], [nameB, b]) =>
    DTYPES[b.dtype].bytes - DTYPES[a.dtype].bytes || (nameA < nameB ? -1 : 1)
  );
  const header: [string, unknown][] = metadata === undefined ? [] : [[METADATA, metadata]];
  let at = 0;
  for (const [name, { dtype, shape, byteLength }] of sorted) {
    if (name === METADATA) {
      const expected = `names other than ${METADATA}, which the format has for texts`;
      throw new ArgumentError({ argument: "tensors", expected, actual: name });
    }
    const offsets = [at, at += byteLength];
    header.push([name, { dtype: spell(dtype), shape, data_offsets: offsets }]);
  }
  return { header: printHeader(header), tensors: sorted.map(([, tensor]) => tensor) };
}

function spell(dtype: DType): string {
  return SAFETENSORS_NAMES[dtype];
}

function takeMetadata(metadata: unknown): Readonly<Record<string, string>> | undefined {
  if (metadata === undefined) return undefined;
  const entries = typeof metadata === "object" && metadata !== null
    ? Object.entries(metadata)
    : undefined;
  if (entries?.every(([, text]) => typeof text === "string") === true) {
    return Object.fromEntries(entries);
  }
  throw new ArgumentError({
    argument: "metadata",
    expected: "an object of texts",
    actual: describeValue(metadata),
  });
}

/** Length and JSON, filled up with spaces so that the elements are aligned to 8 bytes. */
function printHeader(entries: readonly (readonly [string, unknown])[]): HostBytes {
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const length = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(LENGTH_BYTES + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(text, LENGTH_BYTES);
  return bytes;
}

function writePlan(sink: Sink, { header, tensors }: Plan): void {
  sink.write(0, header);
  let at = header.length;
  for (const { pieces } of tensors) {
    for (const piece of pieces()) {
      sink.write(at, piece);
      at += piece.length;
    }
  }
}

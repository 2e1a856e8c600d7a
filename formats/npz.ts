/**
 * Files of NumPy with several arrays, `.npz`: zip files of `.npy` files. Stored arrays are read in parts; deflated ones
 * (`numpy.savez_compressed`) are decompressed as a whole when their elements are asked for.
 *
 * ```ts
 * import { encodeNpz, openNpz } from "@tri/tri/formats/npz";
 *
 * const bytes = encodeNpz({ weight: { data: [1, 2, 3, 4], shape: [2, 2] }, bias: { data: [5, 6] } });
 * using file = openNpz(bytes);
 * for (const [name, tensor] of file) console.log(name, `${tensor}`, tensor.array());
 * ```
 *
 * @module
 */
import type { HostBytes } from "../ffi/dtype.ts";
import { ArgumentError } from "../ffi/errors.ts";
import { checkOptions, optionNames, own } from "../ffi/arguments/options.ts";
import { theProcess, type Zlib } from "../ffi/runtime/builtin.ts";
import { describeValue } from "../ffi/arguments/values.ts";
import { openArchive, TensorArchive } from "./archive.ts";
import { TensorFileError } from "./errors.ts";
import { npyFacts, npyPieces } from "./npy.ts";
import { NPY_PREFIX_BYTES, npyHeaderEnd, truncated } from "./npy_header.ts";
import { piecesFrom, takeTensors, type TensorSource, type Writable } from "./pieces.ts";
import { type Sink, writeFile, writeMemory } from "./sink.ts";
import { type ByteSource, type FileSource, newBytes, openSource, readPart } from "./source.ts";
import { StoredTensor } from "./stored.ts";
import { findContent, printDirectory, printHeader, readDirectory, type ZipMember } from "./zip.ts";

export { TensorArchive } from "./archive.ts";
export { TensorFileError } from "./errors.ts";
export type { HostTensor, TensorSource } from "./pieces.ts";
export type { FileSource } from "./source.ts";
export { StoredTensor } from "./stored.ts";

const STORED = 0;
const DEFLATED = 8;
/** Deflate makes no more of a byte. */
const MOST_EXPANSION = 1032;
/** Compressed bytes in which a header is looked for first. */
const FIRST_BYTES = 4096;
const SUFFIX = ".npy";

/**
 * Opens a file, or takes the bytes of one, and reads its directory. Members that are no `.npy` files are left out.
 * Throws `TensorFileError` for what is no zip file, and for one that is damaged or whose members overlap.
 */
export function openNpz(source: FileSource): TensorArchive {
  return openArchive(openSource(source), (bytes) => {
    const read = new Map<string, () => StoredTensor>();
    for (const member of readDirectory(bytes)) {
      if (!member.name.endsWith(SUFFIX)) continue;
      const name = member.name.slice(0, -SUFFIX.length);
      if (read.has(name)) {
        const problem = `the file has ${JSON.stringify(name)} twice`;
        throw new TensorFileError({ file: bytes.name, offset: member.offset }, problem);
      }
      read.set(name, () => readMember(bytes, member, name));
    }
    return new TensorArchive(bytes, read);
  });
}

/** Reads the header of an array. */
function readMember(source: ByteSource, member: ZipMember, name: string): StoredTensor {
  const { name: file } = source;
  const { offset: base, bytes, compressedBytes } = member;
  checkMember(file, member);
  const content = findContent(source, member);
  const first = (length: number): HostBytes =>
    member.method === STORED
      ? readPart(source, content, Math.min(length, bytes))
      : inflateFirst(source, content, member, length);
  const { start, end } = npyHeaderEnd(first(NPY_PREFIX_BYTES), file, base);
  const header = first(end);
  if (header.length < end) throw truncated(file, content + compressedBytes);
  const facts = npyFacts(header, start, { file, name, base });
  if (end + facts.byteLength !== bytes) {
    const problem = `${JSON.stringify(name)} needs ${facts.byteLength} bytes, and has ${
      bytes - end
    }`;
    throw damaged(file, base, problem);
  }
  return new StoredTensor(facts.stored((offset, length) => {
    const pieces = member.method === STORED
      ? piecesFrom(source, content + offset, length)
      : [inflateAll(source, content, member).subarray(offset)];
    return checked(pieces, { header, member, file });
  }));
}

function checkMember(file: string, member: ZipMember): void {
  const { offset, method, bytes, compressedBytes, isEncrypted } = member;
  const name = JSON.stringify(member.name);
  const fail = (problem: string): TensorFileError =>
    new TensorFileError({ file, offset }, `${name} ${problem}`, {
      hint: "write it by `numpy.savez` or `numpy.savez_compressed`",
    });
  if (isEncrypted) throw fail("is encrypted");
  if (method !== STORED && method !== DEFLATED) throw fail(`is compressed by method ${method}`);
  const isPossible = method === STORED
    ? bytes === compressedBytes
    : bytes <= (compressedBytes + 1) * MOST_EXPANSION;
  if (!isPossible) {
    throw damaged(file, offset, `${name} cannot have ${bytes} bytes in ${compressedBytes}`);
  }
}

/** Passes pieces on, and checks the checksum of header and elements when they have all been there. */
function* checked(
  pieces: Iterable<HostBytes>,
  { header, member, file }: {
    readonly header: HostBytes;
    readonly member: ZipMember;
    readonly file: string;
  },
): Iterable<HostBytes> {
  const { crc32 } = zlib();
  let sum = crc32(header);
  for (const piece of pieces) {
    sum = crc32(piece, sum);
    yield piece;
  }
  if (sum !== member.crc) {
    const problem = `the checksum of ${JSON.stringify(member.name)} is wrong`;
    throw damaged(file, member.offset, problem);
  }
}

/** The first bytes of a deflated member, or all where it has fewer. */
function inflateFirst(
  source: ByteSource,
  content: number,
  member: ZipMember,
  length: number,
): HostBytes {
  const { constants: { Z_SYNC_FLUSH } } = zlib();
  for (let given = FIRST_BYTES;; given *= 4) {
    const compressed = readPart(source, content, Math.min(given, member.compressedBytes));
    const isAll = compressed.length === member.compressedBytes;
    const found = inflate(source.name, member, compressed, {
      maxOutputLength: (compressed.length + 1) * MOST_EXPANSION,
      finishFlush: Z_SYNC_FLUSH,
    });
    if (found.length >= length || isAll) return found.slice(0, length);
  }
}

function inflateAll(source: ByteSource, content: number, member: ZipMember): HostBytes {
  const { name: file } = source;
  const compressed = readPart(source, content, member.compressedBytes);
  const whole = inflate(file, member, compressed, { maxOutputLength: member.bytes });
  if (whole.length === member.bytes) return whole;
  const problem = `${JSON.stringify(member.name)} has ${whole.length} bytes, not ${member.bytes}`;
  throw damaged(file, member.offset, problem);
}

function inflate(
  file: string,
  member: ZipMember,
  compressed: HostBytes,
  options: { readonly maxOutputLength: number; readonly finishFlush?: number },
): HostBytes {
  try {
    const bytes = zlib().inflateRawSync(compressed, options);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const problem = `${JSON.stringify(member.name)} cannot be decompressed: ${reason}`;
    throw new TensorFileError({ file, offset: member.offset }, problem, {
      hint: "the zip file is damaged: fetch or write it again",
      cause,
    });
  }
}

function damaged(file: string, offset: number, problem: string): TensorFileError {
  return new TensorFileError({ file, offset }, problem, {
    hint: "the file is damaged: fetch or write it again",
  });
}

/** How a `.npz` file is written. */
export interface NpzOptions {
  /** Whether arrays are deflated, each as a whole in host memory; false unless given. */
  readonly compress?: boolean;
}

const NPZ_OPTIONS = optionNames<NpzOptions>({ compress: true });

/** The bytes of a `.npz` file with the tensors by name. Throws `ArgumentError` for what is no tensor. */
export function encodeNpz(
  tensors: Readonly<Record<string, TensorSource>>,
  options: NpzOptions = {},
): HostBytes {
  const { writables, compress } = takeArguments(tensors, options);
  return writeMemory((sink) => writeMembers(sink, writables, compress));
}

/**
 * Writes tensors by name as a `.npz` file, as `numpy.savez` does or, with `compress`, `numpy.savez_compressed`. Tensors
 * of a device are copied in parts of 16 MiB. The file has the path when it is whole. Throws `ArgumentError` for what is
 * no tensor, `TensorFileError`.
 */
export function writeNpz(
  path: string | URL,
  tensors: Readonly<Record<string, TensorSource>>,
  options: NpzOptions = {},
): void {
  const { writables, compress } = takeArguments(tensors, options);
  writeFile(path, (sink) => writeMembers(sink, writables, compress));
}

/** Two bytes have the length of a name. */
const MOST_NAME_BYTES = 65_535;

function takeArguments(
  tensors: Readonly<Record<string, TensorSource>>,
  options: NpzOptions,
): { readonly writables: ReadonlyMap<string, Writable>; readonly compress: boolean } {
  checkOptions("options of npz", options, NPZ_OPTIONS);
  const { compress = false } = { compress: own(options, "compress") };
  if (typeof compress !== "boolean") {
    const actual = describeValue(compress);
    throw new ArgumentError({ argument: "compress", expected: "true or false", actual });
  }
  const writables = takeTensors(tensors);
  for (const name of writables.keys()) {
    const { length } = new TextEncoder().encode(name + SUFFIX);
    if (length <= MOST_NAME_BYTES) continue;
    throw new ArgumentError({
      argument: "name of a tensor",
      expected: `at most ${MOST_NAME_BYTES - SUFFIX.length} bytes`,
      actual: describeValue(name),
    });
  }
  return { writables, compress };
}

function writeMembers(
  sink: Sink,
  writables: ReadonlyMap<string, Writable>,
  compress: boolean,
): void {
  const members: ZipMember[] = [];
  let at = 0;
  for (const [name, writable] of writables) {
    const member = writeMember(sink, at, { name: name + SUFFIX, writable, compress });
    members.push(member);
    at += printHeader(member).length + member.compressedBytes;
  }
  sink.write(at, printDirectory(members, at));
}

/** The header has sizes and checksum, so that it is written last. */
function writeMember(
  sink: Sink,
  offset: number,
  { name, writable, compress }: {
    readonly name: string;
    readonly writable: Writable;
    readonly compress: boolean;
  },
): ZipMember {
  const { crc32, deflateRawSync } = zlib();
  const method = compress ? DEFLATED : STORED;
  const empty = { name, method, crc: 0, compressedBytes: 0, bytes: 0, offset, isEncrypted: false };
  const content = offset + printHeader(empty).length;
  let [crc, bytes] = [0, 0];
  const parts: HostBytes[] = [];
  for (const piece of npyPieces(writable)) {
    crc = crc32(piece, crc);
    if (compress) parts.push(piece.slice());
    else sink.write(content + bytes, piece);
    bytes += piece.length;
  }
  let compressedBytes = bytes;
  if (compress) {
    const whole = newBytes(name, bytes);
    parts.reduce((at, part) => {
      whole.set(part, at);
      return at + part.length;
    }, 0);
    const deflated = deflateRawSync(whole);
    sink.write(content, new Uint8Array(deflated));
    compressedBytes = deflated.length;
  }
  const member = { ...empty, crc, bytes, compressedBytes };
  sink.write(offset, printHeader(member));
  return member;
}

/** The runtime's functions for compressed data. */
function zlib(): Zlib {
  return theProcess().getBuiltinModule("node:zlib");
}

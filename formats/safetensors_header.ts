/** The header of safetensors: eight bytes with its length, then JSON with type, shape and offsets of each tensor. */
import { type DType, DTYPES } from "../ffi/dtype.ts";
import { MAX_RANK } from "../ffi/tensors/shape.ts";
import { describeValue } from "../ffi/arguments/values.ts";
import { TensorFileError } from "./errors.ts";
import { type ByteSource, readPart } from "./source.ts";

/** A tensor of the header. Positions are those of the file. */
export interface SafetensorsEntry {
  readonly name: string;
  /** Undefined where tri has no such type. */
  readonly dtype: DType | undefined;
  /** As the file spells it. */
  readonly dtypeName: string;
  readonly shape: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** What a header says. */
export interface SafetensorsHeader {
  readonly entries: readonly SafetensorsEntry[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes in front of the header, which have its length. */
export const LENGTH_BYTES = 8;
/** The key of the header that is no tensor. */
export const METADATA = "__metadata__";
/** As the library of the format has it. */
const MOST_HEADER_BYTES = 100_000_000;

/** What the format calls the types. */
export const SAFETENSORS_NAMES: Readonly<Record<DType, string>> = {
  bool: "BOOL",
  int8: "I8",
  uint8: "U8",
  int16: "I16",
  uint16: "U16",
  int32: "I32",
  uint32: "U32",
  int64: "I64",
  uint64: "U64",
  float16: "F16",
  bfloat16: "BF16",
  float32: "F32",
  float64: "F64",
  float8e4: "F8_E4M3",
  float8e5: "F8_E5M2",
};

const DTYPE_OF: ReadonlyMap<string, DType> = new Map(
  Object.entries(SAFETENSORS_NAMES).map(([dtype, name]) => [name, dtype as DType]),
);

/** Reads and checks the header. Throws `TensorFileError`. */
export function readHeader(source: ByteSource): SafetensorsHeader {
  const { name: file, byteLength } = source;
  const fail = (offset: number, problem: string, hint = DAMAGED): TensorFileError =>
    new TensorFileError({ file, offset }, problem, { hint });
  if (byteLength < LENGTH_BYTES) throw fail(byteLength, "the file ends before its header");
  const { buffer } = readPart(source, 0, LENGTH_BYTES);
  const length = new DataView(buffer).getBigUint64(0, true);
  if (length > BigInt(MOST_HEADER_BYTES)) {
    throw fail(0, `the header says that it is ${length} bytes long`, NOT_SAFETENSORS);
  }
  const start = LENGTH_BYTES + Number(length);
  if (start > byteLength) throw fail(byteLength, `the file ends in its header of ${length} bytes`);
  const json = parseJson(source, Number(length), fail);
  const entries: SafetensorsEntry[] = [];
  let metadata: Readonly<Record<string, string>> = {};
  for (const [name, value] of Object.entries(json)) {
    if (name === METADATA) metadata = readMetadata(value, fail);
    else entries.push(readEntry(name, value, start, fail));
  }
  entries.sort((a, b) => a.start - b.start || a.end - b.end);
  checkCovered(entries, start, byteLength, fail);
  return { entries, metadata };
}

const DAMAGED = "the file is damaged or truncated: fetch or write it again";
const NOT_SAFETENSORS = "this is no file of safetensors, or it is damaged";

type Fail = (offset: number, problem: string, hint?: string) => TensorFileError;

function parseJson(
  source: ByteSource,
  length: number,
  fail: Fail,
): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    const bytes = readPart(source, LENGTH_BYTES, length);
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    if (cause instanceof TensorFileError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw fail(LENGTH_BYTES, `the header is no JSON: ${reason}`, NOT_SAFETENSORS);
  }
  if (isRecord(json)) return json;
  throw fail(LENGTH_BYTES, "the header is no JSON object", NOT_SAFETENSORS);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readMetadata(value: unknown, fail: Fail): Readonly<Record<string, string>> {
  if (isRecord(value)) {
    const texts = Object.entries(value).flatMap(([key, text]): [string, string][] =>
      typeof text === "string" ? [[key, text]] : []
    );
    if (texts.length === Object.keys(value).length) return Object.fromEntries(texts);
  }
  throw fail(LENGTH_BYTES, `${METADATA} is no object of texts`);
}

function readEntry(name: string, value: unknown, base: number, fail: Fail): SafetensorsEntry {
  const wrong = (problem: string): TensorFileError =>
    fail(LENGTH_BYTES, `tensor ${describeValue(name)}: ${problem}`);
  if (!isRecord(value)) throw wrong("it has no description");
  const { dtype: dtypeName, shape, data_offsets: offsets } = value;
  if (typeof dtypeName !== "string") throw wrong("dtype is no text");
  if (!isSizes(shape) || shape.length > MAX_RANK) throw wrong("shape is no list of extents");
  if (!isSizes(offsets) || offsets.length !== 2) throw wrong("data_offsets are no two positions");
  const [first = 0, last = 0] = offsets;
  if (first > last) throw wrong(`it ends at ${last}, before its start at ${first}`);
  const dtype = DTYPE_OF.get(dtypeName);
  const elements = shape.reduce((product, extent) => product * extent, 1);
  const bytes = dtype === undefined ? last - first : elements * DTYPES[dtype].bytes;
  if (bytes !== last - first) {
    throw wrong(`${dtypeName} [${shape.join(", ")}] needs ${bytes} bytes, and has ${last - first}`);
  }
  if (!Number.isSafeInteger(elements * 8)) throw wrong("it has too many elements");
  return { name, dtype, dtypeName, shape, start: base + first, end: base + last };
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) &&
    value.every((each) => typeof each === "number" && Number.isSafeInteger(each) && each >= 0);
}

/** The tensors must lie one after another and fill the rest of the file: so says the format. */
function checkCovered(
  entries: readonly SafetensorsEntry[],
  start: number,
  byteLength: number,
  fail: Fail,
): void {
  let [end, before] = [start, ""];
  for (const { name, start: first, end: last } of entries) {
    if (first < end) {
      throw fail(first, `tensor ${describeValue(name)} overlaps ${describeValue(before)}`);
    }
    if (first > end) {
      throw fail(end, `${first - end} bytes before tensor ${describeValue(name)} are of no tensor`);
    }
    if (last > byteLength) {
      throw fail(byteLength, `the file ends before tensor ${describeValue(name)} does, at ${last}`);
    }
    [end, before] = [last, name];
  }
  if (end < byteLength) {
    throw fail(end, `${byteLength - end} bytes after the last tensor are of no tensor`);
  }
}

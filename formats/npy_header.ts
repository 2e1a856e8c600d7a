/**
 * The header of `.npy` (numpy.lib.format): magic, version, the header's length, and a literal of Python such as
 * `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
 */
import { type DType, DTYPES, type HostBytes } from "../ffi/dtype.ts";
import { MAX_RANK } from "../ffi/tensors/shape.ts";
import { TensorFileError } from "./errors.ts";

/** What a header says. */
export interface NpyHeader {
  readonly dtype: DType;
  /** The elements are stored with the highest byte first. */
  readonly isBigEndian: boolean;
  readonly shape: readonly number[];
  readonly isFortranOrder: boolean;
  /** Where the elements begin. */
  readonly dataOffset: number;
}

/** Magic, version and the longest form of the header's length. */
export const NPY_PREFIX_BYTES = 12;

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
/** Longer headers are of arrays with fields; numpy itself refuses to parse more than 10,000 characters. */
const MOST_HEADER_BYTES = 65_536;
/** NumPy aligns the elements so. */
const ALIGN = 64;

/** Element types of NumPy by kind and bytes. `V`: types of extension packages such as ml_dtypes, which are stored without a name. */
const DTYPE_OF: Readonly<Record<string, DType>> = {
  b1: "bool",
  i1: "int8",
  u1: "uint8",
  i2: "int16",
  u2: "uint16",
  i4: "int32",
  u4: "uint32",
  i8: "int64",
  u8: "uint64",
  f2: "float16",
  f4: "float32",
  f8: "float64",
  V1: "uint8",
  V2: "uint16",
};

/** What is written for each type; extension types as ml_dtypes writes them. */
const DESCR_OF: Readonly<Record<DType, string>> = {
  bool: "|b1",
  int8: "|i1",
  uint8: "|u1",
  int16: "<i2",
  uint16: "<u2",
  int32: "<i4",
  uint32: "<u4",
  int64: "<i8",
  uint64: "<u8",
  float16: "<f2",
  bfloat16: "<V2",
  float32: "<f4",
  float64: "<f8",
  float8e4: "<V1",
  float8e5: "<V1",
};

/** What else NumPy stores, by kind. */
const KINDS: Readonly<Record<string, string>> = {
  c: "complex numbers: store real and imaginary parts as arrays of their own",
  O: "Python objects (pickle): convert the array to numbers, such as with `astype(numpy.float32)`",
  S: "byte strings: store them as numbers",
  U: "strings: store them as numbers",
  M: "dates: store them as int64, such as with `view(numpy.int64)`",
  m: "time differences: store them as int64, such as with `view(numpy.int64)`",
  f: "extended precision: convert the array with `astype(numpy.float64)`",
};

/** Where the header ends and the elements begin; `prefix` is the first 12 bytes of the file. */
export function npyHeaderEnd(
  prefix: HostBytes,
  file: string,
  base: number,
): { readonly start: number; readonly end: number } {
  if (prefix.length < 10 || MAGIC.some((byte, i) => prefix[i] !== byte)) {
    throw new TensorFileError({ file, offset: base }, "this is no .npy file: it begins otherwise", {
      hint: "`numpy.save` writes such files; .npz is a zip file of them",
    });
  }
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.length);
  const [major, minor] = [view.getUint8(6), view.getUint8(7)];
  if (major < 1 || major > 3 || minor !== 0) {
    throw new TensorFileError(
      { file, offset: base + 6 },
      `version ${major}.${minor} of .npy is not known, only 1.0, 2.0 and 3.0`,
    );
  }
  const start = major === 1 ? 10 : 12;
  if (prefix.length < start) throw truncated(file, base + prefix.length);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MOST_HEADER_BYTES) {
    throw new TensorFileError(
      { file, offset: base + 8 },
      `the header says that it is ${length} bytes long, more than ${MOST_HEADER_BYTES}`,
      { hint: "the file is damaged, or of an array with many fields, which tri does not read" },
    );
  }
  return { start, end: start + length };
}

/** The error of a file that ends in its header. */
export function truncated(file: string, offset: number): TensorFileError {
  return new TensorFileError({ file, offset }, "the file ends in its header", {
    hint: "it is truncated: fetch or write it again",
  });
}

/** Reads the header; `bytes` are the file up to its elements. */
export function parseNpyHeader(
  bytes: HostBytes,
  start: number,
  file: string,
  base: number,
): NpyHeader {
  const text = new TextDecoder("latin1").decode(bytes.subarray(start));
  const fail = (at: number, problem: string, hint?: string): TensorFileError =>
    new TensorFileError({ file, offset: base + start + at }, problem, { hint });
  const fields = new Literal(text, fail).fields();
  const { descr, fortran_order: order, shape } = Object.fromEntries(fields);
  if (descr === undefined || order === undefined || shape === undefined || fields.size !== 3) {
    throw fail(
      0,
      `the header has the keys ${
        JSON.stringify([...fields.keys()].slice(0, 8))
      }, not descr, fortran_order and shape`,
    );
  }
  if (typeof order.value !== "boolean") throw fail(order.at, "fortran_order is not True or False");
  if (!Array.isArray(shape.value)) throw fail(shape.at, "shape is no tuple of integers");
  const extents = shape.value.map((extent) => {
    if (typeof extent === "number" && Number.isSafeInteger(extent)) return extent;
    throw fail(shape.at, "shape is no tuple of integers");
  });
  const elementType = readDescr(descr, fail);
  const count = extents.reduce((product, extent) => product * extent, 8);
  if (extents.length > MAX_RANK || !Number.isSafeInteger(count)) {
    throw fail(shape.at, `tri has no tensors of shape (${extents.join(", ")})`);
  }
  const dataOffset = bytes.length;
  return { ...elementType, shape: extents, isFortranOrder: order.value, dataOffset };
}

type Fail = (at: number, problem: string, hint?: string) => TensorFileError;

function readDescr(
  { value, at }: Field,
  fail: Fail,
): { readonly dtype: DType; readonly isBigEndian: boolean } {
  if (typeof value !== "string") {
    const hint = "save each field as an array of its own, such as `array['x']`";
    throw fail(at, "the elements have fields (a structured array)", hint);
  }
  const [, order = "", type = "", kind = ""] = /^([<>|=]?)(([a-zA-Z])\d*)/.exec(value) ?? [];
  const dtype = Object.hasOwn(DTYPE_OF, type) ? DTYPE_OF[type] : undefined;
  if (dtype === undefined || value !== order + type) {
    const meaning = value.startsWith(order + type) ? KINDS[kind] : undefined;
    throw fail(
      at,
      `tri has no element type for ${JSON.stringify(value.slice(0, 40))}`,
      meaning ?? "convert the array with `astype` to a type that tri has, such as numpy.float32",
    );
  }
  return { dtype, isBigEndian: order === ">" && DTYPES[dtype].bytes > 1 };
}

type Value = string | boolean | number | null | readonly Value[];

interface Field {
  readonly value: Value;
  /** In the text. */
  readonly at: number;
}

const NAMES: Readonly<Record<string, Value>> = { True: true, False: false, None: null };
/** Lists in lists of a structured type; nothing that NumPy writes is deeper. */
const MOST_DEPTH = 32;

/** The literals of Python that headers have: a dictionary of strings, booleans, integers, tuples and lists. */
class Literal {
  readonly #text: string;
  readonly #fail: Fail;
  #at = 0;

  constructor(text: string, fail: Fail) {
    this.#text = text;
    this.#fail = fail;
  }

  fields(): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    this.#expect("{");
    while (!this.#takes("}")) {
      this.#space();
      const start = this.#at;
      const key = this.#value(0);
      if (typeof key !== "string") throw this.#fail(start, "a key of the header is no string");
      if (fields.has(key)) throw this.#fail(start, `the header has ${JSON.stringify(key)} twice`);
      this.#expect(":");
      this.#space();
      const at = this.#at;
      fields.set(key, { value: this.#value(0), at });
      if (!this.#takes(",")) {
        this.#expect("}");
        break;
      }
    }
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the header");
    return fields;
  }

  #value(depth: number): Value {
    this.#space();
    const word = this.#match(/(?:True|False|None)\b/y);
    if (word !== undefined) return NAMES[word] ?? null;
    // Python 2 wrote large integers with an L.
    const digits = this.#match(/\d+L?/y);
    if (digits !== undefined) return Number.parseInt(digits, 10);
    const string = this.#match(/'[^'\\]*'|"[^"\\]*"/y);
    if (string !== undefined) return string.slice(1, -1);
    if (depth < MOST_DEPTH && this.#takes("(")) return this.#list(")", depth);
    if (depth < MOST_DEPTH && this.#takes("[")) return this.#list("]", depth);
    throw this.#unexpected("a string, a number, True, False or a tuple");
  }

  #list(end: string, depth: number): readonly Value[] {
    const values: Value[] = [];
    while (!this.#takes(end)) {
      values.push(this.#value(depth + 1));
      if (this.#takes(",")) continue;
      this.#expect(end);
      // `(3)` is a number of Python, `(3,)` a tuple; no header has a number in parentheses.
      break;
    }
    return values;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #space(): void {
    this.#match(/[ \t\r\n]*/y);
  }

  #takes(character: string): boolean {
    this.#space();
    const isThere = this.#text[this.#at] === character;
    if (isThere) this.#at++;
    return isThere;
  }

  #expect(character: string): void {
    if (!this.#takes(character)) throw this.#unexpected(`"${character}"`);
  }

  #unexpected(expected: string): TensorFileError {
    const found = this.#text.slice(this.#at, this.#at + 12);
    const actual = found === "" ? "its end" : JSON.stringify(found);
    return this.#fail(this.#at, `the header should have ${expected} here, and has ${actual}`);
  }
}

/** The bytes of a file up to its elements. */
export function printNpyHeader(dtype: DType, shape: readonly number[]): HostBytes {
  const extents = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${DESCR_OF[dtype]}', 'fortran_order': False, 'shape': (${extents}), }`;
  const start = 10;
  const end = Math.ceil((start + text.length + 1) / ALIGN) * ALIGN;
  const bytes = new Uint8Array(end).fill(0x20);
  bytes.set(MAGIC);
  bytes.set([1, 0], MAGIC.length);
  new DataView(bytes.buffer).setUint16(8, end - start, true);
  bytes.set(new TextEncoder().encode(text), start);
  bytes[end - 1] = 0x0a;
  return bytes;
}

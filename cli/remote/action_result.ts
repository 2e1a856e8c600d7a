/**
 * What `/ac/…` holds: an `ActionResult` of the Remote Execution API (build/bazel/remote/execution/v2), in the binary format of
 * protocol buffers, because servers such as bazel-remote refuse other values. Of its fields tri uses the output files (2), each
 * with path (1) and digest (2: hash 1, size 2), and the raw standard output (5); a reader passes over all others.
 */

/** A file by its content. */
export interface OutputFile {
  readonly path: string;
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string;
  readonly bytes: number;
}

/** The part of an `ActionResult` that tri uses. */
export interface ActionResult {
  readonly files: readonly OutputFile[];
  readonly stdout: string;
}

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;
/** No size of a file needs more: 2^49 bytes. */
const MOST_VARINT_BYTES = 7;

/** The bytes of one. */
export function writeActionResult({ files, stdout }: ActionResult): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([
    ...files.flatMap(({ path, hash, bytes }) =>
      message(2, [...text(1, path), ...message(2, [...text(1, hash), 2 << 3, ...varint(bytes)])])
    ),
    ...(stdout === "" ? [] : text(5, stdout)),
  ]);
}

function text(field: number, value: string): number[] {
  return message(field, [...new TextEncoder().encode(value)]);
}

function message(field: number, content: readonly number[]): number[] {
  return [field << 3 | DELIMITED, ...varint(content.length), ...content];
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return [...bytes, value];
}

/** Undefined: the bytes are no such message. */
export function readActionResult(bytes: Uint8Array): ActionResult | undefined {
  const fields = fieldsOf(bytes);
  if (fields === undefined) return undefined;
  const files: OutputFile[] = [];
  let stdout = "";
  for (const { number, content } of fields) {
    if (number === 5 && content !== undefined) stdout = new TextDecoder().decode(content);
    if (number !== 2 || content === undefined) continue;
    const file = readFile(content);
    if (file === undefined) return undefined;
    files.push(file);
  }
  return { files, stdout };
}

function readFile(bytes: Uint8Array): OutputFile | undefined {
  const parts = fieldsOf(bytes);
  const path = parts?.find(({ number }) => number === 1)?.content;
  const digest = parts?.find(({ number }) => number === 2)?.content;
  const digits = digest === undefined ? undefined : fieldsOf(digest);
  const hash = digits?.find(({ number }) => number === 1)?.content;
  if (path === undefined || hash === undefined) return undefined;
  const decoder = new TextDecoder();
  // Protocol buffers leave out a zero.
  const size = digits?.find(({ number }) => number === 2)?.value ?? 0;
  return { path: decoder.decode(path), hash: decoder.decode(hash), bytes: size };
}

interface Field {
  readonly number: number;
  readonly value?: number;
  readonly content?: Uint8Array;
}

function fieldsOf(bytes: Uint8Array): readonly Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const readVarint = (): number | undefined => {
    let value = 0;
    for (let count = 0; count < MOST_VARINT_BYTES; count++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value += byte % 128 * 128 ** count;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = readVarint();
    if (tag === undefined) return undefined;
    const number = Math.floor(tag / 8);
    const kind = tag % 8;
    if (kind === VARINT) {
      const value = readVarint();
      if (value === undefined) return undefined;
      fields.push({ number, value });
      continue;
    }
    const length = kind === DELIMITED
      ? readVarint()
      : kind === FIXED64
      ? 8
      : kind === FIXED32
      ? 4
      : undefined;
    if (length === undefined || length > bytes.length - at) return undefined;
    fields.push({ number, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

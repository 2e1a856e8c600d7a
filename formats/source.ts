/**
 * Bytes that are read in parts: of a file by positioned reads, so that a large one is never in memory as a whole, or of
 * memory. Files are read through `node:fs`, which Deno, Node and Bun have; memory works in browsers too.
 */
import type { HostBytes } from "../ffi/dtype.ts";
import { TriError } from "../ffi/errors.ts";
import { bytesOf } from "../ffi/tensors/host.ts";
import { type FileFunctions, theProcess } from "../ffi/runtime/builtin.ts";
import { describeValue } from "../ffi/arguments/values.ts";
import { TensorFileError } from "./errors.ts";

/** What a file of tensors is read from: a path, a file URL, or the bytes of a file. */
export type FileSource = string | URL | ArrayBuffer | Uint8Array;

/** Bytes that are read in parts. */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  /** How long the file is. */
  readonly byteLength: number;
  /** Fills `target` with the bytes from `offset` on. Throws `TensorFileError` where the file ends before. */
  readInto(target: HostBytes, offset: number): void;
  /** Nothing can be read any more. */
  close(): void;
}

/** `node:fs` reads and writes at most 2^31 - 1 bytes at once. */
export const MOST_BYTES: number = 2 ** 30;

/** Opens a file, or takes bytes as those of a file. Throws `TensorFileError` for one that cannot be read. */
export function openSource(source: FileSource): ByteSource {
  if (typeof source === "string" || source instanceof URL) return openFile(source);
  if (source instanceof ArrayBuffer) return memorySource(new Uint8Array(source));
  if (ArrayBuffer.isView(source)) return memorySource(bytesOf(source, "source"));
  throw new TensorFileError(
    { file: describeValue(source) },
    "not a path, a file URL, an ArrayBuffer or a Uint8Array",
    { hint: "pass the path of the file, or its bytes" },
  );
}

/** A part of a source as bytes of its own. */
export function readPart(source: ByteSource, offset: number, length: number): HostBytes {
  const bytes = newBytes(source.name, length);
  source.readInto(bytes, offset);
  return bytes;
}

/** Memory of the host. Throws `TriError` where there is none left. */
export function newBytes(file: string, length: number): HostBytes {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw new TriError(`The host has no memory for ${length} bytes of ${file}`, {
      hint: "`toDevice` copies a tensor in parts",
      cause,
    });
  }
}

function memorySource(bytes: HostBytes): ByteSource {
  const name = `bytes of a file (${bytes.length})`;
  return {
    name,
    byteLength: bytes.length,
    readInto: (target, offset) => {
      if (offset + target.length > bytes.length) throw ended(name, bytes.length, target, offset);
      target.set(bytes.subarray(offset, offset + target.length));
    },
    close: () => {},
  };
}

function openFile(path: string | URL): ByteSource {
  const name = fileName(path);
  const { openSync, closeSync, fstatSync, readSync } = files();
  const file = attempt(name, "cannot be opened", () => openSync(path, "r"));
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  let byteLength: number;
  try {
    const facts = attempt(name, "cannot be read", () => fstatSync(file));
    if (!facts.isFile()) throw new TensorFileError({ file: name }, "it is no regular file");
    byteLength = facts.size;
  } catch (error) {
    close();
    throw error;
  }
  const readInto = (target: HostBytes, offset: number): void => {
    if (!isOpen) {
      throw new TensorFileError({ file: name, offset }, "the file was closed", {
        hint: "read before the end of the block of `using`, or before `close()`",
      });
    }
    for (let done = 0; done < target.length;) {
      const length = Math.min(target.length - done, MOST_BYTES);
      const count = attempt(
        name,
        "cannot be read",
        () => readSync(file, target, done, length, offset + done),
      );
      if (count === 0) throw ended(name, offset + done, target, offset);
      done += count;
    }
  };
  return { name, byteLength, readInto, close };
}

function ended(file: string, end: number, target: HostBytes, offset: number): TensorFileError {
  const problem = `the file ends, ${target.length} bytes at byte ${offset} were expected`;
  return new TensorFileError({ file, offset: end }, problem, {
    hint: "it is truncated, or was changed while it was read: fetch or write it again",
  });
}

/** What a path or URL is in messages. */
export function fileName(path: string | URL): string {
  return typeof path === "string" ? path : path.protocol === "file:" ? path.pathname : path.href;
}

/** The functions of files of the runtime. */
export function files(): FileFunctions {
  return theProcess().getBuiltinModule("node:fs");
}

/** What the errors of file systems mean, by their codes. */
const HINTS: Readonly<Record<string, string>> = {
  ENOENT:
    "there is no such file or folder: look at the path, which is relative to where the program was started",
  EISDIR: "the path is a folder",
  EACCES: "make it accessible for the program's user",
  EPERM: "make it accessible for the program's user",
  ENOSPC: "the disk is full",
  ERR_ACCESS_DENIED: "run node with --allow-fs-read and --allow-fs-write",
};

/** Calls a function of files; its errors become `TensorFileError`. */
export function attempt<T>(file: string, problem: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const isRefused = cause instanceof Error && cause.name === "NotCapable";
    const hint = isRefused ? "run with --allow-read and --allow-write of its folder" : HINTS[code];
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TensorFileError({ file }, `${problem}: ${reason}`, { hint, cause });
  }
}

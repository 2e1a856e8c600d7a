/** Where files of tensors are written to: memory, or a file that takes its name when it is whole. */
import type { HostBytes } from "../ffi/dtype.ts";
import { ArgumentError } from "../ffi/errors.ts";
import { describeValue } from "../ffi/arguments/values.ts";
import { attempt, fileName, files, MOST_BYTES, newBytes } from "./source.ts";

/** Takes bytes at positions. */
export interface Sink {
  /** For messages. */
  readonly name: string;
  write(position: number, bytes: HostBytes): void;
}

/** The bytes of what `write` writes. */
export function writeMemory(write: (sink: Sink) => void): HostBytes {
  const parts: { readonly position: number; readonly bytes: HostBytes }[] = [];
  write({
    name: "the file",
    write: (position, bytes) => parts.push({ position, bytes: bytes.slice() }),
  });
  const length = parts.reduce(
    (end, { position, bytes }) => Math.max(end, position + bytes.length),
    0,
  );
  const whole = newBytes("the file", length);
  for (const { position, bytes } of parts) whole.set(bytes, position);
  return whole;
}

/**
 * Writes a file beside the path and gives it the path's name when it is whole and on the disk, so that readers see the
 * old file or the new one. Throws `TensorFileError`, after which the old file is still there.
 */
export function writeFile(path: string | URL, write: (sink: Sink) => void): void {
  if (typeof path !== "string" && !(path instanceof URL)) {
    const actual = describeValue(path);
    throw new ArgumentError({ argument: "path", expected: "a path or a file URL", actual });
  }
  const name = fileName(path);
  const beside = besideOf(path);
  const { openSync, closeSync, fsyncSync, renameSync, unlinkSync, writeSync } = files();
  const doing = <T>(call: () => T): T => attempt(name, "cannot be written", call);
  const file = doing(() => openSync(beside, "wx"));
  let isOpen = true;
  try {
    write({
      name,
      write: (position, bytes) => {
        for (let done = 0; done < bytes.length;) {
          const length = Math.min(bytes.length - done, MOST_BYTES);
          done += doing(() => writeSync(file, bytes, done, length, position + done));
        }
      },
    });
    doing(() => fsyncSync(file));
    isOpen = false;
    doing(() => closeSync(file));
    doing(() => renameSync(beside, path));
  } catch (error) {
    try {
      if (isOpen) closeSync(file);
      unlinkSync(beside);
    } catch {
      // The first error says what went wrong.
    }
    throw error;
  }
}

/** A name in the same folder that no file has. */
function besideOf(path: string | URL): string | URL {
  const name = `.tri-writing-${crypto.randomUUID()}`;
  if (typeof path !== "string") return new URL(name, path);
  const end = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return path.slice(0, end + 1) + name;
}

/** Reading images that lie beside a wrapper. */
import { runtime } from "#runtime";
import { ImageError, PermissionError } from "../errors.ts";

/** The bytes of a file; `url` is relative to nothing. */
export function readFile(url: URL): Uint8Array<ArrayBuffer> {
  const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  if (url.protocol !== "file:") {
    throw new ImageError(name, `it lies at ${url}, and images are read from files only`, {
      hint: "build the wrapper with `tri build --embed`, which puts the images into the module",
    });
  }
  const file = runtime.readFile(url);
  if (file.kind === "read") return file.bytes;
  const { cause } = file;
  if (file.kind === "absent") {
    throw new ImageError(name, `there is no file ${url.pathname}`, { cause });
  }
  throw new PermissionError(`Cannot read ${url.pathname}: permission denied`, {
    hint: file.hint,
    cause,
  });
}

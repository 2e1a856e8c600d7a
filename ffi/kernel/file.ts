/** Reading images that lie beside a wrapper. */
import { runtime } from "#runtime";
import { ImageError, PermissionError } from "../errors.ts";

/** The bytes of a file; `url` is relative to nothing. */
export function readFile(url: URL): Uint8Array<ArrayBuffer> {
  const path = shownPath(url);
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (url.protocol !== "file:") {
    throw new ImageError(name, `it lies at ${url}, and images are read from files only`, {
      hint: "build the wrapper with `tri build --embed`, which puts the images into the module",
    });
  }
  const file = runtime.readFile(url);
  if (file.kind === "read") return file.bytes;
  const { cause } = file;
  if (file.kind === "absent") {
    const folder = path.slice(0, path.lastIndexOf("/"));
    throw new ImageError(name, `there is no file ${path}`, {
      // What bundlers such as esbuild write to another folder still looks for images beside itself.
      hint:
        `images lie beside the module of their wrapper, and bundlers leave them behind: build with \`tri build --embed\`, which puts them into the wrappers, or copy them to ${folder}`,
      cause,
    });
  }
  throw new PermissionError(`Cannot read ${path}: permission denied`, { hint: file.hint, cause });
}

/** As people write it, where that is known. */
function shownPath({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

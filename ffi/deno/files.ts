/** Reading files beside a module, on Deno. */
import { ImageError, PermissionError } from "../errors.ts";

/** The bytes of a file; `url` is relative to nothing. */
export function readFile(url: URL): Uint8Array<ArrayBuffer> {
  const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  if (url.protocol !== "file:") {
    throw new ImageError(name, `it lies at ${url}, and images are read from files only`, {
      hint: "build the wrapper with `tri build --embed`, which puts the images into the module",
    });
  }
  try {
    return Deno.readFileSync(url);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) {
      throw new ImageError(name, `there is no file ${url.pathname}`, { cause });
    }
    if (cause instanceof Deno.errors.NotCapable || cause instanceof Deno.errors.PermissionDenied) {
      throw new PermissionError(`Cannot read ${url.pathname}: permission denied`, {
        hint: `run with --allow-read=${url.pathname.slice(0, url.pathname.lastIndexOf("/"))}`,
        cause,
      });
    }
    throw cause;
  }
}

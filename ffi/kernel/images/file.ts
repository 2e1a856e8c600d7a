/** Reading images that lie beside a wrapper. */
import { runtime } from "#runtime";
import { ImageError, PermissionError } from "../../errors.ts";

/** What to do about bundlers that know no images: their output looks for these beside itself. */
export const BUNDLED =
  "leave the wrapper's package out of the bundle (esbuild: --external:PACKAGE), or put images into it: by the plugin @tri/tri/esbuild, or with wrappers built by `tri build --embed`";

/** The bytes of a base64 text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** What bundlers make of small files, and the plugin for esbuild of images. */
const DATA_URL = /^data:[^,]*;base64,/;

/** The bytes of a file; `url` is relative to nothing. */
export function readFile(url: URL): Uint8Array<ArrayBuffer> {
  if (DATA_URL.test(url.href)) return fromBase64(url.pathname.slice(url.pathname.indexOf(",") + 1));
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
    const hint =
      `images are files beside their wrapper, and bundlers do not copy them: copy them to ${folder}, or ${BUNDLED}`;
    throw new ImageError(name, `there is no file ${path}`, { hint, cause });
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

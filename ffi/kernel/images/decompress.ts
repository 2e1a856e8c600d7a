/** Images of packages are compressed by Brotli (`tri build --compact`), which every runtime with `node:zlib` undoes. */
import { ImageError } from "../../errors.ts";
import { hostProcess } from "../../runtime/builtin.ts";

/** The `size` bytes that were compressed; `name` is the image's, for messages. */
export function decompress(bytes: Uint8Array, size: number, name: string): Uint8Array {
  const process = hostProcess();
  if (process === undefined) {
    throw new ImageError(name, "it is compressed, and there is no node:zlib here", {
      hint: "build without --compact",
    });
  }
  const image = attempt(() => process.getBuiltinModule("node:zlib").brotliDecompressSync(bytes));
  // Deno gives what it could decompress, where Node throws.
  if (image.kind === "failed" || image.bytes.length !== size) {
    throw new ImageError(name, "it does not decompress", {
      hint: "it was changed since `tri build` wrote it: build or install it again",
      cause: image.kind === "failed" ? image.cause : undefined,
    });
  }
  return image.bytes;
}

type Attempt =
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  | { readonly kind: "failed"; readonly cause: unknown };

function attempt(make: () => Uint8Array): Attempt {
  try {
    return { kind: "done", bytes: make() };
  } catch (cause) {
    return { kind: "failed", cause };
  }
}

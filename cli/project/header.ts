/** Reads what `#include` may name, which may be anything: a device, a pipe without a writer, a name that no file can have. */
import type { IncludeRefusal } from "../../compiler/options.ts";

/** Headers are text that people write. */
const MAX_HEADER_BYTES = 4 << 20;

/** The text of a header; why it is not read; undefined: there is no such file. */
export function readHeader(path: string): string | IncludeRefusal | undefined {
  try {
    // Opening a pipe waits for its writer, so it is not opened.
    const { isFile, isDirectory } = Deno.statSync(path);
    if (isDirectory) return undefined;
    if (!isFile) return { refused: "it is a device, a pipe or a socket" };
    const text = readUpTo(path, MAX_HEADER_BYTES);
    return text ?? { refused: `it is larger than ${MAX_HEADER_BYTES >> 20} MiB` };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    // Missing permissions of this process are no matter of the header.
    if (!(error instanceof Error) || error instanceof Deno.errors.NotCapable) throw error;
    return { refused: error.message.replace(/, \w+ '.*$/s, "") };
  }
}

/** Some files say that they are empty and never end, so sizes are no bound. */
function readUpTo(path: string, most: number): string | undefined {
  using file = Deno.openSync(path);
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(1 << 16);
  let text = "";
  let bytes = 0;
  for (;;) {
    const read = file.readSync(chunk);
    if (read === null) return text + decoder.decode();
    bytes += read;
    if (bytes > most) return undefined;
    text += decoder.decode(chunk.subarray(0, read), { stream: true });
  }
}

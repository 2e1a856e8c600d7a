/** Reads what `#include` may name, which may be anything: a device, a pipe without a writer, a name that no file can have. */
import { statSync } from "node:fs";
import { format } from "@std/fmt/bytes";
import type { IncludeRefusal } from "../../compiler/options.ts";
import { readPieces } from "../files/read_pieces.ts";
import { isMissing, isNotCapable, reasonOf } from "../host/errors.ts";

/** Headers are text that people write. */
const MAX_HEADER_BYTES = 4 << 20;

/** The text of a header; why it is not read; undefined: there is no such file. */
export function readHeader(path: string): string | IncludeRefusal | undefined {
  try {
    // Opening a pipe waits for its writer, so it is not opened.
    const found = statSync(path);
    if (found.isDirectory()) return undefined;
    if (!found.isFile()) return { refused: "it is a device, a pipe or a socket" };
    const text = readUpTo(path, MAX_HEADER_BYTES);
    return text ?? { refused: `it is larger than ${format(MAX_HEADER_BYTES, { binary: true })}` };
  } catch (error) {
    if (isMissing(error)) return undefined;
    // Missing permissions of this process are no matter of the header.
    if (!(error instanceof Error) || isNotCapable(error)) throw error;
    return { refused: reasonOf(error) ?? error.message };
  }
}

/** Some files say that they are empty and never end, so sizes are no bound. */
function readUpTo(path: string, most: number): string | undefined {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (const piece of readPieces(path)) {
    bytes += piece.length;
    if (bytes > most) return undefined;
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

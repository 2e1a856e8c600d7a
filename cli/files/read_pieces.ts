/** Files a piece at a time. */
import { closeSync, openSync, readSync } from "node:fs";

const PIECE_BYTES = 1 << 16;

/** The pieces of a file, in memory that the next one overwrites. */
export function* readPieces(path: string): Generator<Uint8Array, void> {
  const file = openSync(path, "r");
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
      yield piece.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

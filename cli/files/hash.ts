/** Content hashes, for deciding what is up to date. */
import { createHash } from "node:crypto";
import { readPieces } from "./read_pieces.ts";

/** SHA-256 as 64 hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The same of a file, a piece at a time: whole files would be garbage as large as the output folder. */
export function sha256OfFile(path: string): string {
  const hash = createHash("sha256");
  for (const piece of readPieces(path)) hash.update(piece);
  return hash.digest("hex");
}

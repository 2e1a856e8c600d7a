/** Content hashes, for deciding what is up to date. */
import { createHash } from "node:crypto";

/** SHA-256 as 64 hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The same of a file, a piece at a time: whole files would be garbage as large as the output folder. */
export function sha256OfFile(path: string): string {
  using file = Deno.openSync(path);
  const hash = createHash("sha256");
  const piece = new Uint8Array(65536);
  for (let count = file.readSync(piece); count !== null; count = file.readSync(piece)) {
    hash.update(piece.subarray(0, count));
  }
  return hash.digest("hex");
}

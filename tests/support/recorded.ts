/** PTX that nvcc made, compressed: its source lies beside it and is what one reads. `regenerate.sh` there writes both. */
import { gunzipSync } from "node:zlib";

/** The text that is stored as `${file}.gz`. */
export function readRecorded(file: URL): string {
  return new TextDecoder().decode(gunzipSync(Deno.readFileSync(`${file.pathname}.gz`)));
}

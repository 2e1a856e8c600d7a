/** PTX that nvcc made, compressed: its source is beside it or in a folder `cuda`. */
import { gunzipSync } from "node:zlib";

/** The text that is stored as `${file}.gz`. */
export function readRecorded(file: URL): string {
  return new TextDecoder().decode(gunzipSync(Deno.readFileSync(`${file.pathname}.gz`)));
}

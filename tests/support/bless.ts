/**
 * Which recorded files a test may write instead of comparing: all with `TRI_BLESS=1`, else those at the paths in
 * `TRI_BLESS`, separated by colons. `deno task bless PATH` sets it and runs the tests of these files.
 */
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.join(import.meta.dirname ?? ".", "../..");

/** Whether to write this file. */
export function mayBless(file: string | URL): boolean {
  const wanted = Deno.env.get("TRI_BLESS");
  if (wanted === undefined || wanted === "") return false;
  if (wanted === "1") return true;
  const name = path.relative(ROOT, file instanceof URL ? fileURLToPath(file) : file);
  return wanted.split(":").some((one) => name === one || name.startsWith(`${one}/`));
}

/** Writes the file if the test may; otherwise the test compares. */
export function blessed(file: string | URL, text: string): boolean {
  if (!mayBless(file)) return false;
  const at = file instanceof URL ? fileURLToPath(file) : file;
  Deno.mkdirSync(path.dirname(at), { recursive: true });
  Deno.writeTextFileSync(at, text);
  return true;
}

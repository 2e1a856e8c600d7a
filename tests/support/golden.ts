/** Comparison with a file beside the test's input; `TRI_BLESS=1` rewrites the file instead. */
import { assertEquals } from "./assert.ts";

/** Asserts that the file holds exactly this text. */
export function golden(path: URL, actual: string): void {
  if (Deno.env.get("TRI_BLESS") === "1") {
    Deno.mkdirSync(new URL(".", path), { recursive: true });
    Deno.writeTextFileSync(path, actual);
    return;
  }
  const name = path.pathname.split("/tests/").at(-1) ?? path.pathname;
  assertEquals(actual, readOr(path, ""), `differs from ${name}; TRI_BLESS=1 rewrites it`);
}

function readOr(path: URL, otherwise: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return otherwise;
    throw error;
  }
}

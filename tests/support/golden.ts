/** Comparison with a file beside the test's input; `deno task bless PATH` rewrites the file instead. */
import { assertEquals } from "./assert.ts";
import { blessed } from "./bless.ts";

/** Asserts that the file holds exactly this text. */
export function golden(path: URL, actual: string): void {
  if (blessed(path, actual)) return;
  const name = `tests/${path.pathname.split("/tests/").at(-1) ?? path.pathname}`;
  assertEquals(actual, readOr(path, ""), `differs; \`deno task bless ${name}\` rewrites it`);
}

function readOr(path: URL, otherwise: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return otherwise;
    throw error;
  }
}

/** Which tests read what `deno task build-kernels` makes: they wait for it, and others need not. */
import { testsIn } from "./suites.ts";

const ROOT = new URL("../", import.meta.url);

/** Names of files and folders in generated/, as imports and as URLs. */
const BUILT = /["'`](?:\.\.?\/)+generated\//;
const IMPORT = /(?:\bfrom|\bimport) ?\(?\s*"(\.\.?\/[^"]+\.ts)"/g;

/** Whether the tests at a path, or modules that they import, name files of generated/. */
export function needsBuild(path: string): boolean {
  const seen = new Set<string>();
  const waiting = testsIn(path).map((file) => new URL(file, ROOT).href);
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (seen.has(url)) continue;
    seen.add(url);
    const text = readOr(new URL(url), "");
    if (BUILT.test(text)) return true;
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      waiting.push(new URL(specifier, url).href);
    }
  }
  return false;
}

/** Imports in texts of tests lead nowhere. */
function readOr(url: URL, otherwise: string): string {
  try {
    return Deno.readTextFileSync(url);
  } catch {
    return otherwise;
  }
}

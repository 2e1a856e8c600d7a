/** Which tests read what `deno task build-kernels` makes: they wait for it, and others need not. */
import { testsIn } from "./suites.ts";

const ROOT = new URL("../", import.meta.url);

/** Names of files and folders in generated/, as imports and as URLs. */
const BUILT = /["'`](?:\.\.?\/)+generated\//;
const IMPORT = /(?:\bfrom|\bimport) ?\(?\s*"(\.\.?\/[^"]+\.ts)"/g;

/** What a file names, read once for all suites. */
interface Named {
  readonly isBuilt: boolean;
  /** URLs of modules. */
  readonly imports: readonly string[];
}

const files = new Map<string, Named>();

/** Whether the tests at a path, or modules that they import, name files of generated/. */
export function needsBuild(path: string): boolean {
  const seen = new Set<string>();
  const waiting = testsIn(path).map((file) => new URL(file, ROOT).href);
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (seen.has(url)) continue;
    seen.add(url);
    const { isBuilt, imports } = namedBy(url);
    if (isBuilt) return true;
    waiting.push(...imports);
  }
  return false;
}

function namedBy(url: string): Named {
  let found = files.get(url);
  if (found === undefined) {
    const text = readOr(new URL(url), "");
    const imports = [...text.matchAll(IMPORT)].map(([, specifier = ""]) =>
      new URL(specifier, url).href
    );
    files.set(url, found = { isBuilt: BUILT.test(text), imports });
  }
  return found;
}

/** Imports in texts of tests lead nowhere. */
function readOr(url: URL, otherwise: string): string {
  try {
    return Deno.readTextFileSync(url);
  } catch {
    return otherwise;
  }
}

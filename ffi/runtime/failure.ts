/** What the loader's message means. Every runtime passes on the text of `dlopen`, between words of its own. */
import type { UnopenedLibrary } from "./runtime.ts";

/** How the runtimes begin a message that ends with the loader's. */
const PREFIX =
  /^(?:Could not open library: |Failed to load shared library: |Failed to open library "[^"]*": |dlopen failed: )+/;
/** How they say that a function is missing. */
const MISSING = /(?:symbol:? |function |Symbol )["']?(cu\w+)/;

/**
 * Why a library did not open. Only messages of Linux distinguish an absent library from a broken one: Windows
 * translates its own.
 */
export function libraryFailure(path: string, cause: unknown, platform: string): UnopenedLibrary {
  const message = cause instanceof Error ? cause.message : `${cause}`;
  const symbol = MISSING.exec(message)?.[1];
  if (symbol !== undefined) return { kind: "lacks", symbol, cause };
  const reason = message.replace(PREFIX, "");
  // glibc and musl. A name in front is of another file, which the library needs, unless it ends like the library's:
  // Bun tries a bare name in the working folder too.
  const at = reason.indexOf(`${path}: `);
  const isOwn = at === 0 || (at > 0 && reason[at - 1] === "/");
  const own = isOwn ? reason.slice(at + path.length + 2) : reason;
  const isAbsent = /^(?:cannot open shared object file: No such|No such file)/.test(own) ||
    /^Error (?:loading|opening) .*No such file/.test(own);
  if (platform === "linux" && !isAbsent) return { kind: "broken", reason, cause };
  return { kind: "absent", cause };
}

/** The run time in a browser: no libraries, no variables, and no files; only the emulator runs there. */
import type { AllowedLibraries, FoundHostMemory, Runtime, UnopenedLibrary } from "./runtime.ts";

const LACKS = "a browser loads no libraries";
const HINT = "run the program in Deno, Node or Bun";

const refused = (): UnopenedLibrary & FoundHostMemory => ({
  kind: "refused",
  hint: HINT,
  cause: new Error(LACKS),
});

/** A browser. */
export const runtime: Runtime = {
  platform: "browser",
  readVariable: () => undefined,
  readFile: (url) => ({ kind: "absent", cause: new Error(`${url.href} is not in the bundle`) }),
  replaceFile: () => ({ kind: "refused", hint: HINT, cause: new Error("a browser has no files") }),
  allowedLibraries: (): AllowedLibraries => ({ paths: [], lacks: LACKS }),
  openLibrary: refused,
  hostMemory: refused,
};

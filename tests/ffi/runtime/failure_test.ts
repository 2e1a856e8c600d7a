import { libraryFailure } from "../../../ffi/runtime/failure.ts";
import { assertEquals } from "../../support/assert.ts";

/** What the runtimes say, on glibc and musl. */
const MESSAGES: readonly (readonly [message: string, kind: string])[] = [
  [
    'Failed to open library "libcuda.so.1": /home/me/libcuda.so.1: cannot open shared object file: No such file or directory',
    "absent",
  ],
  [
    "Could not open library: Could not open library: libcuda.so.1: cannot open shared object file: No such file or directory",
    "absent",
  ],
  [
    "Failed to load shared library: cannot open shared object file: No such file or directory",
    "absent",
  ],
  [
    'Failed to open library "libcuda.so.1": libcuda.so.1: cannot open shared object file: No such file or directory',
    "absent",
  ],
  [
    "dlopen failed: libcuda.so.1: cannot open shared object file: No such file or directory",
    "absent",
  ],
  [
    "Could not open library: Error loading shared library libcuda.so.1: No such file or directory",
    "absent",
  ],
  ["Failed to load shared library: invalid ELF header", "broken"],
  [
    "dlopen failed: libnvidia-x.so: cannot open shared object file: No such file or directory",
    "broken",
  ],
  ["dlopen failed: /lib/libcuda.so.1: file too short", "broken"],
  ["Cannot find function 'cuGraphLaunch' in shared library libcuda.so.1", "lacks"],
  ['Symbol "cuGraphLaunch" not found in "libcuda.so.1"', "lacks"],
  ["dlsym failed: libcuda.so.1: undefined symbol: cuGraphLaunch", "lacks"],
  [
    "Failed to register symbol cuGraphLaunch: libcuda.so.1: undefined symbol: cuGraphLaunch",
    "lacks",
  ],
];

Deno.test("libraryFailure() distinguishes absent, broken and old libraries, on every runtime", () => {
  for (const [message, kind] of MESSAGES) {
    const failure = libraryFailure("libcuda.so.1", new Error(message), "linux");
    assertEquals(failure.kind, kind, message);
    if (failure.kind === "lacks") assertEquals(failure.symbol, "cuGraphLaunch");
  }
});

Deno.test("libraryFailure() calls what does not load absent where messages are translated", () => {
  assertEquals(
    libraryFailure("nvcuda.dll", new Error("Modul nicht gefunden"), "win32").kind,
    "absent",
  );
});

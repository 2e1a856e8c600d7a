/** The run time on Deno: its FFI, its permissions. The only file that calls `Deno.dlopen`. */
import type { BoundFunctions, ForeignFunctions } from "../foreign.ts";
import { libraryFailure } from "./failure.ts";
import { replaceWhole } from "./replace_whole.ts";
import type {
  AllowedLibraries,
  FoundHostMemory,
  HostMemory,
  OpenedLibrary,
  ReadFile,
  Runtime,
  WrittenFile,
} from "./runtime.ts";

/** Deno. */
export const runtime: Runtime = {
  platform: Deno.build.os === "windows" ? "win32" : Deno.build.os,
  readVariable,
  readFile,
  replaceFile,
  allowedLibraries,
  openLibrary,
  hostMemory,
};

function readVariable(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}

function readFile(url: URL): ReadFile {
  try {
    return { kind: "read", bytes: Deno.readFileSync(url) };
  } catch (cause) {
    if (
      cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotADirectory ||
      cause instanceof Deno.errors.IsADirectory
    ) return { kind: "absent", cause };
    if (cause instanceof Deno.errors.NotCapable || cause instanceof Deno.errors.PermissionDenied) {
      const folder = url.pathname.slice(0, url.pathname.lastIndexOf("/"));
      return { kind: "refused", hint: `run with --allow-read=${folder}`, cause };
    }
    throw cause;
  }
}

function replaceFile(url: URL, text: string): WrittenFile {
  try {
    return replaceWhole(url, {
      write: (beside) => Deno.writeTextFileSync(beside, text, { createNew: true }),
      rename: Deno.renameSync,
      remove: Deno.removeSync,
      isAbsence: (error) => error instanceof Deno.errors.NotFound,
    });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable || cause instanceof Deno.errors.PermissionDenied) {
      const folder = url.pathname.slice(0, url.pathname.lastIndexOf("/"));
      return { kind: "refused", hint: `run with --allow-read --allow-write=${folder}`, cause };
    }
    throw cause;
  }
}

/** Deno looks for a bare name beside the program where only that name is permitted. */
function allowedLibraries(paths: readonly string[]): AllowedLibraries {
  const isGranted = (descriptor: Deno.FfiPermissionDescriptor): boolean =>
    Deno.permissions.querySync(descriptor).state === "granted";
  const allowed = isGranted({ name: "ffi" })
    ? paths
    : paths.filter((path) => path.startsWith("/") && isGranted({ name: "ffi", path }));
  return { paths: allowed, lacks: "the program may not load the NVIDIA driver (--allow-ffi)" };
}

function hostMemory(): FoundHostMemory {
  try {
    // Throws where FFI is not allowed, as all that follows would.
    Deno.UnsafePointer.of(new Uint8Array(1));
  } catch (cause) {
    return { kind: "refused", hint: "run the program with --allow-ffi", cause };
  }
  const at = <T>(address: bigint): Deno.PointerObject<T> => {
    const pointer = Deno.UnsafePointer.create<T>(address);
    if (pointer === null) throw new TypeError("the null pointer has no memory");
    return pointer;
  };
  const memory: HostMemory = {
    addressOf: (view) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(view)),
    read: (address, bytes) =>
      bytes === 0
        ? new Uint8Array(0)
        : new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(at(address), bytes)).slice(),
    call: (fn, argument) => {
      const signature = { parameters: ["u64"], result: "void" } as const;
      new Deno.UnsafeFnPointer(at(fn), signature).call(argument);
    },
  };
  return { kind: "open", memory };
}

function openLibrary<F extends ForeignFunctions>(path: string, functions: F): OpenedLibrary<F> {
  try {
    const library = Deno.dlopen(path, functions);
    return {
      kind: "open",
      library: {
        path,
        // What they are follows from `functions`, but not for the type checker.
        symbols: library.symbols as BoundFunctions<F>,
        addressOf: (memory) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(memory)),
        readText: (address) => {
          const pointer = Deno.UnsafePointer.create(address);
          return pointer === null ? "" : Deno.UnsafePointerView.getCString(pointer);
        },
        close: () => library.close(),
      },
    };
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable) {
      const hint =
        "run the program with --allow-ffi, or with --allow-ffi= and the library's full path";
      return { kind: "refused", hint, cause };
    }
    return libraryFailure(path, cause, runtime.platform);
  }
}

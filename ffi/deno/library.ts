/** Opens libcuda through Deno's FFI. The only file of the run time that calls `Deno.dlopen`. */
import { CudaDriver } from "../cuda/driver.ts";
import { type CudaLibrary, SYMBOLS } from "../cuda/symbols.ts";
import {
  DriverFailedError,
  DriverNotFoundError,
  DriverTooOldError,
  EMULATOR_REQUEST,
  PermissionError,
  TriError,
} from "../errors.ts";

/**
 * Where the driver library may be. WSL keeps it outside the loader's path; the folders of distributions are for
 * programs that are allowed one file, because Deno looks for bare names beside the program then.
 */
const CANDIDATES: Readonly<Record<string, readonly string[]>> = {
  linux: [
    "libcuda.so.1",
    "libcuda.so",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
  ],
  windows: ["nvcuda.dll"],
};

/** Where the driver's library may be on this system; nowhere where NVIDIA has no driver. */
export function cudaLibraries(): readonly string[] {
  return CANDIDATES[Deno.build.os] ?? [];
}

/** Opens the installed CUDA driver. */
export function openCudaDriver(candidates: readonly string[] = cudaLibraries()): CudaDriver {
  return new CudaDriver(openCudaLibrary(candidates));
}

/** Those of the libraries that the program may open without anybody being asked. */
export function allowedLibraries(candidates: readonly string[]): readonly string[] {
  const isGranted = (descriptor: Deno.FfiPermissionDescriptor): boolean =>
    Deno.permissions.querySync(descriptor).state === "granted";
  if (isGranted({ name: "ffi" })) return candidates;
  return candidates.filter((path) => path.startsWith("/") && isGranted({ name: "ffi", path }));
}

/** Opens the first library of the list that is there. */
export function openCudaLibrary(candidates: readonly string[]): CudaLibrary {
  const failures: unknown[] = [];
  for (const path of candidates) {
    try {
      return open(path);
    } catch (error) {
      if (error instanceof TriError) throw error;
      if (isBroken(path, error)) {
        throw new DriverFailedError(`${path} does not load: ${loaderText(error)}`, {
          cause: error,
        });
      }
      failures.push(error);
    }
  }
  // A permission for one name says nothing of the others: it counts only where no name was allowed.
  const refused = failures.every((failure) => failure instanceof Deno.errors.NotCapable);
  if (refused && failures.length > 0) {
    throw new PermissionError(
      `Cannot open the CUDA driver library ${candidates[0]}: no FFI permission`,
      {
        hint:
          "run the program with --allow-ffi, or with --allow-ffi= and the library's full path; " +
          `or ${EMULATOR_REQUEST}`,
        cause: failures[0],
      },
    );
  }
  throw new DriverNotFoundError(candidates, failures[0]);
}

/** Whether the loader (glibc's or musl's) found the library, but it does not load. Windows has another message in every language. */
function isBroken(path: string, failure: unknown): boolean {
  if (!(failure instanceof Error) || failure instanceof Deno.errors.NotCapable) return false;
  const { message } = failure;
  return Deno.build.os === "linux" &&
    !message.includes(`${path}: cannot open shared object file: No such`) &&
    !message.includes(`${path}: No such file`);
}

function loaderText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^(Could not open library: )+/, "");
}

function open(path: string): CudaLibrary {
  const library = dlopen(path);
  return {
    path,
    symbols: library.symbols,
    addressOf: (memory) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(memory)),
    readText: (address) => {
      const pointer = Deno.UnsafePointer.create(address);
      return pointer === null ? "" : Deno.UnsafePointerView.getCString(pointer);
    },
    close: () => library.close(),
  };
}

function dlopen(path: string): Deno.DynamicLibrary<typeof SYMBOLS> {
  try {
    return Deno.dlopen(path, SYMBOLS);
  } catch (error) {
    const lacks = error instanceof Error && /symbol (cu\w+)/.exec(error.message)?.[1];
    if (!lacks) throw error;
    throw new DriverTooOldError({ library: path, lacks }, error);
  }
}

/** Opens libcuda through Deno's FFI. The only file of the run time that calls `Deno.dlopen`. */
import { CudaDriver } from "../cuda/driver.ts";
import { type CudaLibrary, SYMBOLS } from "../cuda/symbols.ts";
import { DriverNotFoundError, DriverTooOldError, PermissionError, TriError } from "../errors.ts";

/** Where the driver library may be; WSL keeps it outside the loader's path. */
const CANDIDATES: Readonly<Record<string, readonly string[]>> = {
  linux: ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"],
  windows: ["nvcuda.dll"],
};

/** Opens the installed CUDA driver. */
export function openCudaDriver(): CudaDriver {
  return new CudaDriver(openCudaLibrary(CANDIDATES[Deno.build.os] ?? []));
}

/** Opens the first library of the list that is there. */
export function openCudaLibrary(candidates: readonly string[]): CudaLibrary {
  const failures: unknown[] = [];
  for (const path of candidates) {
    try {
      return open(path);
    } catch (error) {
      if (error instanceof TriError) throw error;
      failures.push(error);
    }
  }
  // A permission for one name says nothing of the others: it counts only where no name was allowed.
  const refused = failures.every((failure) => failure instanceof Deno.errors.NotCapable);
  if (refused && failures.length > 0) {
    throw new PermissionError(
      `Cannot open the CUDA driver library ${candidates[0]}: no FFI permission`,
      {
        hint: `run the program with --allow-ffi=${
          candidates[0]
        }, or with --allow-ffi for any library`,
        cause: failures[0],
      },
    );
  }
  throw new DriverNotFoundError(candidates, failures[0]);
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

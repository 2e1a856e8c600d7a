/** Finding and opening libcuda, on whatever runtime runs the program. */
import { runtime } from "#runtime";
import {
  DriverFailedError,
  DriverNotFoundError,
  DriverTooOldError,
  EMULATOR_REQUEST,
  PermissionError,
} from "../errors.ts";
import { CudaDriver } from "./driver.ts";
import { type CudaLibrary, SYMBOLS } from "./symbols.ts";

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
  win32: ["nvcuda.dll"],
};

/** Where the driver's library may be on this system; nowhere where NVIDIA has no driver. */
export function cudaLibraries(): readonly string[] {
  return CANDIDATES[runtime.platform] ?? [];
}

/** Opens the installed CUDA driver. */
export function openCudaDriver(candidates: readonly string[] = cudaLibraries()): CudaDriver {
  return new CudaDriver(openCudaLibrary(candidates));
}

/** Opens the first library of the list that is there. */
export function openCudaLibrary(candidates: readonly string[]): CudaLibrary {
  const refusals: { readonly hint: string; readonly cause: unknown }[] = [];
  let absence: unknown;
  for (const path of candidates) {
    const opened = runtime.openLibrary(path, SYMBOLS);
    if (opened.kind === "open") return opened.library;
    const { cause } = opened;
    if (opened.kind === "broken") {
      throw new DriverFailedError(`${path} does not load: ${opened.reason}`, { cause });
    }
    if (opened.kind === "lacks") {
      throw new DriverTooOldError({ library: path, lacks: opened.symbol }, cause);
    }
    if (opened.kind === "refused") refusals.push(opened);
    absence ??= cause;
  }
  // A permission for one name says nothing of the others: it counts only where no name was allowed.
  const [refusal] = refusals;
  if (refusal !== undefined && refusals.length === candidates.length) {
    const { hint, cause } = refusal;
    throw new PermissionError(
      `Cannot open the CUDA driver library ${candidates[0]}: this program cannot load libraries`,
      { hint: `${hint}; or ${EMULATOR_REQUEST}`, cause },
    );
  }
  throw new DriverNotFoundError(candidates, absence);
}

/** Finding and opening cuBLAS. */
import { runtime } from "#runtime";
import { PermissionError } from "../errors.ts";
import { CublasError, CublasNotFoundError } from "./errors.ts";
import { CUBLAS_FUNCTIONS, type CublasLibrary } from "./symbols.ts";

const MAJORS = [13, 12, 11];

/** Names for the loader, newest first, then where toolkits put it. */
const CANDIDATES: Readonly<Record<string, readonly string[]>> = {
  linux: [
    ...MAJORS.map((major) => `libcublas.so.${major}`),
    "libcublas.so",
    ...MAJORS.map((major) => `/usr/local/cuda/lib64/libcublas.so.${major}`),
  ],
  win32: MAJORS.map((major) => `cublas64_${major}.dll`),
};

/** Where cuBLAS may be: where TRI_CUBLAS says, else in the usual folders. */
export function cublasLibraries(): readonly string[] {
  const named = runtime.readVariable("TRI_CUBLAS");
  return named === undefined ? CANDIDATES[runtime.platform] ?? [] : [named];
}

/** Opens the first of the list that is there. */
export function openCublasLibrary(candidates: readonly string[]): CublasLibrary {
  let absence: unknown;
  for (const path of candidates) {
    const opened = runtime.openLibrary(path, CUBLAS_FUNCTIONS);
    const { kind } = opened;
    if (kind === "open") return opened.library;
    const { cause } = opened;
    if (kind === "refused") {
      throw new PermissionError(`Cannot open ${path}`, { hint: opened.hint, cause });
    }
    if (kind === "broken" || kind === "lacks") {
      const problem = kind === "broken"
        ? `does not load: ${opened.reason}`
        : `lacks ${opened.symbol}`;
      throw new CublasError(`${path} ${problem}`, { cause });
    }
    absence ??= cause;
  }
  throw new CublasNotFoundError(candidates, absence);
}

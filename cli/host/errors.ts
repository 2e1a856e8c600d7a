/** Errors of the system, the same on every runtime: which one it is, and what it is in words. */

/** Deno refuses what its permissions do not allow; where a module is loaded late, with an error of another name. */
export function isNotCapable(
  error: unknown,
): error is Error & { readonly name: "NotCapable" | "TypeError" } {
  return error instanceof Error &&
    (error.name === "NotCapable" || /^Requires \w+ access to /.test(error.message));
}

/** The name of a system error, such as `ENOENT`; undefined: it is none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** The package or module that an import does not find; undefined: it is no such error. */
export function missingImport(error: unknown): string | undefined {
  // Bun's are no instances of Error.
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  const { message } = error;
  if (typeof message !== "string") return undefined;
  return /^(?:Module not found "|Cannot find (?:module|package) ["'])([^"']+)/.exec(message)?.[1];
}

/** Whether there is nothing at a path: no such entry, or a file where a folder would have to be. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Whether the system refused it because of owners and modes. */
export function isDenied(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(codeOf(error) ?? "");
}

/** As the C library says it, which is what people know; runtimes have words of their own. */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied",
  EBUSY: "Device or resource busy",
  EDQUOT: "Disk quota exceeded",
  EEXIST: "File exists",
  EFBIG: "File too large",
  EIO: "Input/output error",
  EISDIR: "Is a directory",
  ELOOP: "Too many levels of symbolic links",
  EMFILE: "Too many open files",
  ENAMETOOLONG: "File name too long",
  ENOENT: "No such file or directory",
  ENOSPC: "No space left on device",
  ENOTDIR: "Not a directory",
  ENOTEMPTY: "Directory not empty",
  EPERM: "Operation not permitted",
  EROFS: "Read-only file system",
  ETXTBSY: "Text file busy",
  EXDEV: "Invalid cross-device link",
};

/** What the system said: `File exists`; undefined: it is no error of the system. */
export function reasonOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  // Node: `EMLINK: too many links, link 'a' -> 'b'`; Deno in places: `Too many links (os error 31)`.
  return WORDS[code] ??
    error.message.replace(/^E[A-Z0-9]+: /, "").replace(/(?:, \w+\b| \(os error ).*$/s, "");
}

/** What the system said, with the path: `File exists: generated`. */
export function describeSystemError(error: unknown): string | undefined {
  const reason = reasonOf(error);
  const path = error instanceof Error && "path" in error ? error.path : undefined;
  return reason === undefined || typeof path !== "string" ? reason : `${reason}: ${path}`;
}

/** Variables and files through the modules that Node and Bun share. */
import { theProcess } from "./builtin.ts";
import { replaceWhole } from "./replace_whole.ts";
import type { ReadFile, WrittenFile } from "./runtime.ts";

/** A variable's value; undefined when it is unset or empty. */
export function readVariable(name: string): string | undefined {
  return theProcess().env[name] || undefined;
}

/** Reads a file. */
export function readFile(url: URL): ReadFile {
  try {
    const { readFileSync } = theProcess().getBuiltinModule("node:fs");
    return { kind: "read", bytes: new Uint8Array(readFileSync(url)) };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") {
      return { kind: "absent", cause };
    }
    if (code === "EACCES" || code === "EPERM") {
      return { kind: "refused", hint: "make it readable for the program's user", cause };
    }
    if (code === "ERR_ACCESS_DENIED") {
      const folder = url.pathname.slice(0, url.pathname.lastIndexOf("/"));
      return { kind: "refused", hint: `run node with --allow-fs-read=${folder}`, cause };
    }
    throw cause;
  }
}

/** Replaces a file by another one. */
export function replaceFile(url: URL, text: string): WrittenFile {
  try {
    const { writeFileSync, renameSync, unlinkSync } = theProcess().getBuiltinModule("node:fs");
    return replaceWhole(url, {
      write: (beside) => writeFileSync(beside, text, { flag: "wx" }),
      rename: renameSync,
      remove: unlinkSync,
      isAbsence: (error) => error instanceof Error && "code" in error && error.code === "ENOENT",
    });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "EACCES" || code === "EPERM") {
      return { kind: "refused", hint: "make its folder writable for the program's user", cause };
    }
    if (code === "ERR_ACCESS_DENIED") {
      const folder = url.pathname.slice(0, url.pathname.lastIndexOf("/"));
      return { kind: "refused", hint: `run node with --allow-fs-write=${folder}`, cause };
    }
    throw cause;
  }
}

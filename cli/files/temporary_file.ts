/**
 * Files with a name of their own for a while. Each is locked by the process that made it; those of processes that ended
 * before they could remove theirs are recognised by that, and removed when the next one is made in the folder.
 */
import { readdirSync, renameSync, unlinkSync } from "node:fs";
import process from "node:process";
import { codeOf } from "../host/errors.ts";
import { type LockableFile, openLockable } from "../host/lockable_file.ts";
import { isStillAt } from "./file_lock.ts";
import { joinPath } from "./paths.ts";

/** A file that is removed when disposed, unless it was moved. */
export class TemporaryFile implements Disposable {
  readonly path: string;
  readonly #file: LockableFile;
  readonly #end = (): void => this[Symbol.dispose]();

  /** In `folder`, with a name that begins with `prefix`. */
  constructor(folder: string, prefix: string, content: Uint8Array) {
    removeAbandonedFiles(folder, prefix);
    [this.path, this.#file] = makeFile(folder, prefix);
    process.on("exit", this.#end);
    try {
      this.#file.write(content);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Replaces another file with it, atomically. */
  moveTo(path: string): void {
    renameSync(this.path, path);
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#end);
    using _file = this.#file;
    removeIfThere(this.path);
  }
}

function makeFile(folder: string, prefix: string): [string, LockableFile] {
  for (;;) {
    const path = joinPath(folder, `${prefix}${crypto.randomUUID()}`);
    const file = openLockable(path, "new");
    // A shared lock, which lets other programs read the file also where locks are mandatory.
    if (file.tryLock(false) && isStillAt(path, file)) return [path, file];
    // Another process took it for abandoned before it was locked.
    file[Symbol.dispose]();
  }
}

/** Removes files with names that begin with `prefix` whose process has ended. */
export function removeAbandonedFiles(folder: string, prefix: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isFile() && entry.name.startsWith(prefix)) {
        removeUnlocked(joinPath(folder, entry.name));
      }
    }
  } catch {
    // Reading the folder is not needed for what the command is about.
  }
}

function removeUnlocked(path: string): void {
  try {
    using file = openLockable(path, "existing");
    if (file.tryLock(true)) unlinkSync(path);
  } catch {
    // Gone by now, or another user's.
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

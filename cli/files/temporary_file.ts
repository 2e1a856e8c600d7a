/**
 * Files with a name of their own for a while. Each is locked by the process that made it; those of processes that ended
 * before they could remove theirs are recognised by that, and removed when the next one is made in the folder.
 */
import { isStillAt } from "./file_lock.ts";
import { joinPath } from "./paths.ts";

/** A file that is removed when disposed, unless it was moved. */
export class TemporaryFile implements Disposable {
  readonly path: string;
  readonly #file: Deno.FsFile;
  readonly #end = (): void => this[Symbol.dispose]();

  /** In `folder`, with a name that begins with `prefix`. */
  constructor(folder: string, prefix: string, content: Uint8Array) {
    removeAbandonedFiles(folder, prefix);
    [this.path, this.#file] = makeFile(folder, prefix);
    globalThis.addEventListener("unload", this.#end);
    try {
      for (let at = 0; at < content.length;) at += this.#file.writeSync(content.subarray(at));
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Replaces another file with it, atomically. */
  moveTo(path: string): void {
    Deno.renameSync(this.path, path);
  }

  [Symbol.dispose](): void {
    globalThis.removeEventListener("unload", this.#end);
    using _file = this.#file;
    removeIfThere(this.path);
  }
}

function makeFile(folder: string, prefix: string): [string, Deno.FsFile] {
  for (;;) {
    const path = joinPath(folder, `${prefix}${crypto.randomUUID()}`);
    const file = Deno.openSync(path, { createNew: true, read: true, write: true });
    // A shared lock, which lets other programs read the file also where locks are mandatory.
    if (file.tryLockSync(false) && isStillAt(path, file)) return [path, file];
    // Another process took it for abandoned before it was locked.
    file.close();
  }
}

/** Removes files with names that begin with `prefix` whose process has ended. */
export function removeAbandonedFiles(folder: string, prefix: string): void {
  try {
    for (const { name, isFile } of [...Deno.readDirSync(folder)]) {
      if (isFile && name.startsWith(prefix)) removeUnlocked(joinPath(folder, name));
    }
  } catch {
    // Reading the folder is not needed for what the command is about.
  }
}

function removeUnlocked(path: string): void {
  try {
    using file = Deno.openSync(path, { read: true, write: true });
    if (file.tryLockSync(true)) Deno.removeSync(path);
  } catch {
    // Gone by now, or another user's.
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Locks on files. The system releases them when their process ends, in whatever way: a process id, which another process
 * may have by now or on another machine, is not needed to see that an owner is gone.
 */
import { lstatSync } from "node:fs";
import { codeOf } from "../host/errors.ts";
import { type LockableFile, openLockable } from "../host/lockable_file.ts";

/** The file, made if it is not there, locked for this process alone; undefined while another process has it. */
export function tryLockFile(path: string): LockableFile | undefined {
  for (;;) {
    const file = openLockable(path, "any");
    if (!file.tryLock(true)) {
      file[Symbol.dispose]();
      return undefined;
    }
    if (isStillAt(path, file)) return file;
    file[Symbol.dispose]();
  }
}

/** As {@linkcode tryLockFile}, but waits for the lock; `waiting` is called once if it has to. */
export async function lockFile(path: string, waiting: () => void): Promise<LockableFile> {
  const free = tryLockFile(path);
  if (free !== undefined) return free;
  waiting();
  for (;;) {
    const file = openLockable(path, "any");
    await file.lock();
    if (isStillAt(path, file)) return file;
    file[Symbol.dispose]();
  }
}

/** The owner before may have removed the file while this process waited: then a lock on it protects nothing. */
export function isStillAt(path: string, { ino }: LockableFile): boolean {
  try {
    return lstatSync(path).ino === ino;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

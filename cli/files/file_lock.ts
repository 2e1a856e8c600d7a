/**
 * Locks on files. The system releases them when their process ends, in whatever way: a process id, which another process
 * may have by now or on another machine, is not needed to see that an owner is gone.
 */

/** The file, made if it is not there, locked for this process alone; undefined while another process has it. */
export function tryLockFile(path: string): Deno.FsFile | undefined {
  for (;;) {
    const file = openFile(path);
    if (!file.tryLockSync(true)) {
      file.close();
      return undefined;
    }
    if (isStillAt(path, file)) return file;
    file.close();
  }
}

/** As {@linkcode tryLockFile}, but waits for the lock; `waiting` is called once if it has to. */
export async function lockFile(path: string, waiting: () => void): Promise<Deno.FsFile> {
  const free = tryLockFile(path);
  if (free !== undefined) return free;
  waiting();
  for (;;) {
    const file = openFile(path);
    await file.lock(true);
    if (isStillAt(path, file)) return file;
    file.close();
  }
}

function openFile(path: string): Deno.FsFile {
  return Deno.openSync(path, { create: true, read: true, write: true });
}

/** The owner before may have removed the file while this process waited: then a lock on it protects nothing. */
export function isStillAt(path: string, file: Deno.FsFile): boolean {
  try {
    return Deno.lstatSync(path).ino === file.statSync().ino;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

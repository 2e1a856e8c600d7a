/**
 * Files with locks, which the system releases when their process ends, in whatever way. Deno has them; for Node and Bun a
 * program locks the file that it inherits: a lock belongs to the opened file, which outlives that program here. All of them
 * are flock(2), so builds of different runtimes wait for each other.
 */
import { spawn, spawnSync, type StdioOptions } from "node:child_process";
import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import process from "node:process";
import { deno } from "./deno.ts";
import { codeOf } from "./errors.ts";

/** An open file; closing it releases its lock. */
export interface LockableFile extends Disposable {
  /** Whether it could be locked at once: exclusively, or shared with others. */
  tryLock(exclusive: boolean): boolean;
  /** Waits until it is locked exclusively. */
  lock(): Promise<void>;
  /** A value that two files do not share. */
  readonly ino: number | null;
  write(bytes: Uint8Array): void;
}

/** Opens a file for reading and writing: `new` must not be there, `any` is made where it is not there. */
export function openLockable(path: string, which: "new" | "any" | "existing"): LockableFile {
  return deno === undefined ? openHere(path, which) : openOnDeno(deno, path, which);
}

type Which = Parameters<typeof openLockable>[1];

function openOnDeno(host: NonNullable<typeof deno>, path: string, which: Which): LockableFile {
  const file = host.openSync(path, {
    read: true,
    write: true,
    ...(which === "new" ? { createNew: true } : which === "any" ? { create: true } : {}),
  });
  return {
    tryLock: (exclusive) => file.tryLockSync(exclusive),
    lock: () => file.lock(true),
    ino: file.statSync().ino,
    write: (bytes) => {
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    },
    [Symbol.dispose]: () => file.close(),
  };
}

function openHere(path: string, which: Which): LockableFile {
  const fd = which === "new" ? openSync(path, "wx+") : openExisting(path, which);
  return {
    tryLock: (exclusive) => tryLock(fd, exclusive),
    lock: () => waitForLock(fd),
    ino: fstatSync(fd).ino,
    write: (bytes) => {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

/** No flag opens a file for both, makes it where it is not there, and keeps what it holds. */
function openExisting(path: string, which: "any" | "existing"): number {
  for (;;) {
    try {
      return openSync(path, "r+");
    } catch (error) {
      if (which === "existing" || codeOf(error) !== "ENOENT") throw error;
    }
    try {
      return openSync(path, "wx+");
    } catch (error) {
      // Another process made it in between.
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

/** A program, and its arguments for file 3. */
type Locker = readonly [program: string, args: readonly string[]];

/** Of util-linux and BusyBox; macOS has Perl. */
function lockersOf(exclusive: boolean, wait: boolean): readonly Locker[] {
  const operation = (exclusive ? 2 : 1) + (wait ? 0 : 4);
  return [
    ["flock", [exclusive ? "-x" : "-s", ...(wait ? [] : ["-n"]), "3"]],
    ["perl", ["-e", `open(F, "+<&=3") or exit 2; exit(flock(F, ${operation}) ? 0 : 1)`]],
  ];
}

const stdioOf = (fd: number): StdioOptions => ["ignore", "ignore", "ignore", fd];

/** Windows has neither program: builds into one folder do not exclude each other there. */
const HAS_LOCKERS = process.platform !== "win32";

function tryLock(fd: number, exclusive: boolean): boolean {
  if (!HAS_LOCKERS) return true;
  for (const [program, args] of lockersOf(exclusive, false)) {
    const { error, status } = spawnSync(program, args, { stdio: stdioOf(fd) });
    if (error === undefined) return status === 0;
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return true;
}

async function waitForLock(fd: number): Promise<void> {
  for (const [program, args] of lockersOf(true, true)) {
    const found = await new Promise<boolean>((resolve, reject) => {
      const child = spawn(program, args, { stdio: stdioOf(fd) });
      child.on("error", (error) => codeOf(error) === "ENOENT" ? resolve(false) : reject(error));
      child.on("exit", () => resolve(true));
    });
    if (found) return;
  }
}

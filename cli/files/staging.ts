/**
 * The files of a build until it is known whether it succeeds: on disk already, in a folder beside their destinations,
 * so that memory does not grow with the number of kernels, and nothing is seen of a build that fails. Only the process
 * that holds the lock beside the folder touches it and the output, so only one build at a time runs into a folder; what a killed
 * process left there has no lock, and the next command removes it.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import process from "node:process";
import { codeOf, isMissing } from "../host/errors.ts";
import type { LockableFile } from "../host/lockable_file.ts";
import { sha256 } from "./hash.ts";
import { isStillAt, lockFile, tryLockFile } from "./file_lock.ts";
import { joinPath } from "./paths.ts";
import { environmentError, writeFailure } from "../failure.ts";

/** A staged file. */
export interface Staged {
  /** Its path on disk. */
  readonly file: string;
  /** SHA-256 of its content. */
  readonly hash: string;
  readonly bytes: number;
}

/** The folder, in the output folder. */
const STAGING_FOLDER = ".tri-staging";
/** The file whose lock protects the folder. */
const STAGING_LOCK = ".tri-staging.lock";
const MOST_TRIES = 10;

/** The staging area of one build; gone with everything in it when disposed. */
export class Staging implements Disposable {
  readonly #out: string;
  readonly #madeOut: boolean;
  readonly #lock: LockableFile;
  readonly #end = (): void => this[Symbol.dispose]();
  #count = 0;

  private constructor(out: string, madeOut: boolean, lock: LockableFile) {
    this.#out = out;
    this.#madeOut = madeOut;
    this.#lock = lock;
    // A command may end while a build runs, as `--watch` does on Ctrl-C.
    process.on("exit", this.#end);
  }

  /**
   * `out` is the output folder, made if it is not there and removed again if it stays empty. `waiting` is called if
   * another build into the folder has to end first.
   */
  static async open(out: string, waiting: () => void = () => {}): Promise<Staging> {
    const madeOut = !exists(out);
    try {
      const lock = await lockIn(out, waiting);
      removeFolder(out);
      mkdirSync(joinPath(out, STAGING_FOLDER));
      return new Staging(out, madeOut, lock);
    } catch (error) {
      throw writeFailure(out, error);
    }
  }

  /** Where programs that the build runs may put what they need for a while. */
  get folder(): string {
    return joinPath(this.#out, STAGING_FOLDER);
  }

  /** Writes content to the staging area. */
  add(content: string | Uint8Array): Staged {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    if (!isOwn(this.#out, this.#lock)) {
      const message = `Cannot write ${this.#out}: the folder was removed while the build ran`;
      throw environmentError(message, "Build again.");
    }
    try {
      const file = joinPath(this.folder, `${this.#count++}`);
      writeFileSync(file, bytes);
      return { file, hash: sha256(bytes), bytes: bytes.length };
    } catch (error) {
      throw writeFailure(this.#out, error);
    }
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#end);
    release(this.#out, this.#lock);
    if (this.#madeOut && exists(this.#out) && readdirSync(this.#out).length === 0) {
      removeIfEmpty(this.#out);
    }
  }
}

/** The bytes of a staged file. */
export function readStaged({ file }: Staged): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(file));
}

/** Removes what a killed process left in an output folder. What a running build has there stays. */
export function removeAbandonedStaging(out: string): void {
  if (!exists(joinPath(out, STAGING_LOCK)) && !exists(joinPath(out, STAGING_FOLDER))) return;
  try {
    const lock = tryLockFile(joinPath(out, STAGING_LOCK));
    if (lock !== undefined) release(out, lock);
  } catch {
    // It may belong to another user; then it is for their next command.
  }
}

/** Another build that ends may remove the output folder again before the file is made in it. */
async function lockIn(out: string, waiting: () => void): Promise<LockableFile> {
  for (;;) {
    mkdirSync(out, { recursive: true });
    try {
      return await lockFile(joinPath(out, STAGING_LOCK), waiting);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
}

/**
 * The lock's file is removed while it is locked: waiting processes see that it no longer exists. Where somebody has removed
 * the output folder, what is there now is another build's.
 */
function release(out: string, lock: LockableFile): void {
  using own = lock;
  if (!isOwn(out, own)) return;
  removeFolder(out);
  unlinkSync(joinPath(out, STAGING_LOCK));
}

function isOwn(out: string, lock: LockableFile): boolean {
  return isStillAt(joinPath(out, STAGING_LOCK), lock);
}

/** An assembler that outlives a killed build may still put a file there, which makes removing fail. */
function removeFolder(out: string): void {
  for (let tries = 1;; tries++) {
    try {
      rmSync(joinPath(out, STAGING_FOLDER), { recursive: true });
      return;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      if (tries === MOST_TRIES) throw error;
    }
  }
}

/** Another build may have put its lock there by now. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (exists(folder) && readdirSync(folder).length === 0) throw error;
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    // Below a file nothing can be made, which making it will say.
    if (isMissing(error)) return false;
    throw error;
  }
}

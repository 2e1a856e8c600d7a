/**
 * The files of a build until it is known whether it succeeds: on disk already, in a folder beside their destinations,
 * so that memory does not grow with the number of kernels, and nothing is seen of a build that fails. Only the process
 * that holds the lock beside the folder touches it and the output, so only one build at a time runs into a folder; what a killed
 * process left there has no lock, and the next command removes it.
 */
import { sha256 } from "./hash.ts";
import { lockFile, tryLockFile } from "./file_lock.ts";
import { joinPath } from "./paths.ts";
import { writeFailure } from "../failure.ts";

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
  readonly #lock: Deno.FsFile;
  readonly #end = (): void => this[Symbol.dispose]();
  #count = 0;

  private constructor(out: string, madeOut: boolean, lock: Deno.FsFile) {
    this.#out = out;
    this.#madeOut = madeOut;
    this.#lock = lock;
    // A command may end while a build runs, as `--watch` does on Ctrl-C.
    globalThis.addEventListener("unload", this.#end);
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
      Deno.mkdirSync(joinPath(out, STAGING_FOLDER));
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
    try {
      const file = joinPath(this.folder, `${this.#count++}`);
      Deno.writeFileSync(file, bytes);
      return { file, hash: sha256(bytes), bytes: bytes.length };
    } catch (error) {
      throw writeFailure(this.#out, error);
    }
  }

  [Symbol.dispose](): void {
    globalThis.removeEventListener("unload", this.#end);
    release(this.#out, this.#lock);
    const isEmpty = Deno.readDirSync(this.#out)[Symbol.iterator]().next().done;
    if (this.#madeOut && isEmpty) removeIfEmpty(this.#out);
  }
}

/** The bytes of a staged file. */
export function readStaged({ file }: Staged): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(file);
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
async function lockIn(out: string, waiting: () => void): Promise<Deno.FsFile> {
  for (;;) {
    Deno.mkdirSync(out, { recursive: true });
    try {
      return await lockFile(joinPath(out, STAGING_LOCK), waiting);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** The lock's file is removed while it is locked: waiting processes see that it no longer exists. */
function release(out: string, lock: Deno.FsFile): void {
  using _lock = lock;
  removeFolder(out);
  Deno.removeSync(joinPath(out, STAGING_LOCK));
}

/** An assembler that outlives a killed build may still put a file there, which makes removing fail. */
function removeFolder(out: string): void {
  for (let tries = 1;; tries++) {
    try {
      Deno.removeSync(joinPath(out, STAGING_FOLDER), { recursive: true });
      return;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      if (tries === MOST_TRIES) throw error;
    }
  }
}

/** Another build may have put its lock there by now. */
function removeIfEmpty(folder: string): void {
  try {
    Deno.removeSync(folder);
  } catch (error) {
    if (exists(folder) && Deno.readDirSync(folder)[Symbol.iterator]().next().done) throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    // Below a file nothing can be made, which making it will say.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw error;
  }
}

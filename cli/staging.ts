/**
 * The files of a build until it is known whether it succeeds: on disk already, in a folder beside the places they are for,
 * so that memory does not grow with the number of kernels, and nothing is seen of a build that fails.
 */
import { sha256 } from "./hash.ts";
import { joinPath } from "./paths.ts";
import { writeFailure } from "./failure.ts";

/** A file that waits. */
export interface Staged {
  /** Where it lies. */
  readonly file: string;
  /** SHA-256 of its content. */
  readonly hash: string;
  readonly bytes: number;
}

const PREFIX = ".tri-staging-";
/** A folder that is older than this is of a build that was killed. */
const ABANDONED_MS = 3_600_000;

/** The folder of one build; gone with everything in it when disposed. */
export class Staging implements Disposable {
  readonly #out: string;
  readonly #madeOut: boolean;
  #folder: string | undefined;
  #count = 0;

  /** `out` is the output folder, made if it is not there and removed again if it stays empty. */
  constructor(out: string) {
    this.#out = out;
    this.#madeOut = !exists(out);
  }

  /** Puts content aside. */
  add(content: string | Uint8Array): Staged {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    try {
      this.#folder ??= this.#makeFolder();
      const file = joinPath(this.#folder, `${this.#count++}`);
      Deno.writeFileSync(file, bytes);
      return { file, hash: sha256(bytes), bytes: bytes.length };
    } catch (error) {
      throw writeFailure(this.#out, error);
    }
  }

  #makeFolder(): string {
    Deno.mkdirSync(this.#out, { recursive: true });
    for (const { name } of Deno.readDirSync(this.#out)) {
      if (name.startsWith(PREFIX)) removeAbandoned(joinPath(this.#out, name));
    }
    return Deno.makeTempDirSync({ dir: this.#out, prefix: PREFIX });
  }

  [Symbol.dispose](): void {
    if (this.#folder === undefined) return;
    Deno.removeSync(this.#folder, { recursive: true });
    const isEmpty = Deno.readDirSync(this.#out)[Symbol.iterator]().next().done;
    if (this.#madeOut && isEmpty) Deno.removeSync(this.#out);
  }
}

/** The bytes of a file that waits. */
export function readStaged({ file }: Staged): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(file);
}

function removeAbandoned(folder: string): void {
  const { mtime } = Deno.statSync(folder);
  if (mtime !== null && Date.now() - mtime.getTime() > ABANDONED_MS) {
    Deno.removeSync(folder, { recursive: true });
  }
}

function exists(folder: string): boolean {
  try {
    Deno.statSync(folder);
    return true;
  } catch (error) {
    // Below a file nothing can be made, which making it will say.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw error;
  }
}

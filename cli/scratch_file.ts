/** A file for a program that reads no pipe; gone when disposed. */
import { environmentError } from "./failure.ts";
import { joinPath } from "./paths.ts";

export class ScratchFile implements Disposable {
  readonly path: string;
  readonly #folder: string;

  constructor(name: string, content: Uint8Array) {
    this.#folder = makeFolder();
    this.path = joinPath(this.#folder, name);
    Deno.writeFileSync(this.path, content);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

/** In the output folder, which tri may write to, or in the system's folder for such files. */
function makeFolder(): string {
  for (const dir of ["generated", undefined]) {
    try {
      return Deno.makeTempDirSync({ prefix: ".tri-", ...(dir === undefined ? {} : { dir }) });
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.NotFound) {
        continue;
      }
      throw error;
    }
  }
  throw environmentError(
    "There is no folder that tri may write a temporary file to",
    "Build once, so that generated/ is there, or run deno with --allow-write.",
  );
}

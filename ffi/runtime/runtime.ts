/**
 * What the run time needs of Deno, Node or Bun. Each has one small module that exports `runtime`; they import it as
 * `#runtime`, which deno.json maps to Deno's and the npm package's conditions to the one that runs it.
 */
import type { ForeignFunctions, ForeignLibrary } from "../foreign.ts";

/** A file's bytes, or why there are none. */
export type ReadFile =
  | { readonly kind: "read"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "absent"; readonly cause: unknown }
  /** The program may not read it; `hint` says what allows it. */
  | { readonly kind: "refused"; readonly hint: string; readonly cause: unknown };

/** Whether a file was written. */
export type WrittenFile =
  | { readonly kind: "written" }
  /** The program may not write it; `hint` says what allows it. */
  | { readonly kind: "refused"; readonly hint: string; readonly cause: unknown };

/** A library, or why it is not open. */
export type OpenedLibrary<F extends ForeignFunctions> =
  | { readonly kind: "open"; readonly library: ForeignLibrary<F> }
  | UnopenedLibrary;

/** Why a library is not open. */
export type UnopenedLibrary =
  | { readonly kind: "absent"; readonly cause: unknown }
  /** It is there and does not load. */
  | { readonly kind: "broken"; readonly reason: string; readonly cause: unknown }
  /** It loads and has no such function. */
  | { readonly kind: "lacks"; readonly symbol: string; readonly cause: unknown }
  /** The program may not load it; `hint` says what allows it. */
  | { readonly kind: "refused"; readonly hint: string; readonly cause: unknown };

/** Which of some libraries a program may open without a prompt. */
export interface AllowedLibraries {
  readonly paths: readonly string[];
  /** What the program lacks where that is none of them, as a clause. */
  readonly lacks: string;
}

/** Memory of the process by its addresses, for structures of C that others have made. */
export interface HostMemory {
  /** Where memory of JavaScript lies. It stays there as long as its buffer is reachable. */
  addressOf(memory: ArrayBufferView<ArrayBuffer>): bigint;
  /** A copy of the bytes at an address, which must be memory of the process. */
  read(address: bigint, bytes: number): Uint8Array<ArrayBuffer>;
  /** Calls a function of C that takes a pointer and returns nothing. */
  call(fn: bigint, argument: bigint): void;
}

/** Memory by its addresses, or why the program has none. */
export type FoundHostMemory =
  | { readonly kind: "open"; readonly memory: HostMemory }
  | { readonly kind: "refused"; readonly hint: string; readonly cause: unknown };

/** The machine, as seen by a program of one runtime. */
export interface Runtime {
  /** The system, in Node's words: "linux", "win32", "darwin". */
  readonly platform: string;
  /** A variable's value; undefined when it is unset, empty, or not to be read without asking the user. */
  readVariable(name: string): string | undefined;
  /** Reads a file; `url` is a file URL. */
  readFile(url: URL): ReadFile;
  /** Replaces a file by another one atomically: readers see the old text or the new one. */
  replaceFile(url: URL, text: string): WrittenFile;
  /** Looks only, opens nothing. */
  allowedLibraries(paths: readonly string[]): AllowedLibraries;
  /** Memory by its addresses. */
  hostMemory(): FoundHostMemory;
  /** Opens a library that has these functions. */
  openLibrary<F extends ForeignFunctions>(path: string, functions: F): OpenedLibrary<F>;
}

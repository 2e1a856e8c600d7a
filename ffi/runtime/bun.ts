/** The run time on Bun: libcuda through `bun:ffi`. */
import type { ForeignFunctions, ForeignType } from "../foreign.ts";
import { requireFrom, theProcess } from "./builtin.ts";
import { libraryFailure } from "./failure.ts";
import { readFile, readVariable, replaceFile } from "./node_files.ts";
import type {
  AllowedLibraries,
  FoundHostMemory,
  HostMemory,
  OpenedLibrary,
  Runtime,
} from "./runtime.ts";
import { bindSymbols } from "./symbols.ts";

const { platform } = theProcess();

/** Bun. */
export const runtime: Runtime = {
  platform,
  readVariable,
  readFile,
  replaceFile,
  allowedLibraries,
  openLibrary,
  hostMemory,
};

/** What of `bun:ffi` is used. */
interface BunFfi {
  dlopen(
    path: string,
    functions: Record<string, { readonly args: readonly string[]; readonly returns: string }>,
  ): {
    readonly symbols: Record<string, (...args: never[]) => unknown>;
    close(): void;
  };
  ptr(memory: ArrayBufferView): number;
  toArrayBuffer(address: number, offset: number, length: number): ArrayBuffer;
  readonly CFunction: new (of: {
    readonly ptr: number;
    readonly args: readonly string[];
    readonly returns: string;
  }) => (argument: bigint) => void;
  readonly CString: new (address: number) => { toString(): string };
}

const TYPES: Readonly<Record<ForeignType, string>> = {
  u8: "u8",
  i32: "i32",
  u32: "u32",
  u64: "u64",
  buffer: "ptr",
};

function allowedLibraries(paths: readonly string[]): AllowedLibraries {
  return { paths, lacks: "Bun may not load libraries" };
}

function hostMemory(): FoundHostMemory {
  const { ptr, toArrayBuffer, CFunction }: BunFfi = requireFrom(import.meta.url)("bun:ffi");
  const memory: HostMemory = {
    addressOf: (view) => BigInt(ptr(view)),
    read: (address, bytes) =>
      bytes === 0
        ? new Uint8Array(0)
        : new Uint8Array(toArrayBuffer(Number(address), 0, bytes)).slice(),
    call: (fn, argument) => {
      new CFunction({ ptr: Number(fn), args: ["u64"], returns: "void" })(argument);
    },
  };
  return { kind: "open", memory };
}

function openLibrary<F extends ForeignFunctions>(path: string, functions: F): OpenedLibrary<F> {
  const require = requireFrom(import.meta.url);
  const ffi: BunFfi = require("bun:ffi");
  const { dlopen, ptr, CString } = ffi;
  const opened: { close(): void }[] = [];
  try {
    const symbols = bindSymbols((name, parameters, returns) => {
      const args = parameters.map((type) => TYPES[type]);
      const library = dlopen(path, { [name]: { args, returns: TYPES[returns] } });
      opened.push(library);
      const bound = library.symbols[name];
      if (bound === undefined) throw new Error(`Symbol "${name}" not found`);
      return bound;
    }, functions);
    return {
      kind: "open",
      library: {
        path,
        symbols,
        addressOf: (memory) => BigInt(ptr(memory)),
        readText: (address) => new CString(Number(address)).toString(),
        close: () => opened.forEach((library) => library.close()),
      },
    };
  } catch (cause) {
    opened.forEach((library) => library.close());
    return libraryFailure(path, cause, platform);
  }
}

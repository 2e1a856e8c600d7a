/**
 * The run time on Node: libcuda through koffi, an optional peer that runs on every Node, else through `node:ffi` where
 * this Node has it (it is experimental and says so once).
 */
import type { ForeignFunctions, ForeignLibrary, ForeignType } from "../foreign.ts";
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
import { type Bind, bindSymbols } from "./symbols.ts";

const { platform } = theProcess();

/** Node. */
export const runtime: Runtime = {
  platform,
  readVariable,
  readFile,
  replaceFile,
  allowedLibraries,
  openLibrary,
  hostMemory,
};

type Call = ReturnType<Bind>;

/** An open library of one of the two. */
interface Foreign {
  readonly bind: Bind;
  addressOf(memory: ArrayBufferView<ArrayBuffer>): bigint;
  readText(address: bigint): string;
  close(): void;
}

/** What of koffi is used. */
interface Koffi {
  load(path: string): {
    func(name: string, result: string, parameters: readonly string[]): Call;
    unload(): void;
  };
  address(memory: ArrayBufferView): bigint;
  decode(address: bigint, type: "char", length: -1): string;
  decode(address: bigint, type: "uint8_t", length: number): Uint8Array;
  proto(definition: string): unknown;
  call(fn: bigint, prototype: unknown, argument: bigint): void;
}

/** What of `node:ffi` is used. */
interface NodeFfi {
  dlopen(path: string, functions: Record<string, never>): {
    readonly lib: {
      getFunction(
        name: string,
        signature: { readonly arguments: readonly string[]; readonly return: string },
      ): Call;
      close(): void;
    };
  };
  getRawPointer(memory: ArrayBufferView): bigint;
  toString(address: bigint): string;
}

const KOFFI_TYPES: Readonly<Record<ForeignType, string>> = {
  u8: "uint8_t",
  i32: "int32_t",
  u32: "uint32_t",
  u64: "uint64_t",
  buffer: "void *",
};

const NODE_TYPES: Readonly<Record<ForeignType, string>> = {
  u8: "uint8",
  i32: "int32",
  u32: "uint32",
  u64: "uint64",
  buffer: "pointer",
};

function openKoffi(koffi: Koffi, path: string): Foreign {
  const library = koffi.load(path);
  return {
    bind: (name, parameters, result) =>
      library.func(name, KOFFI_TYPES[result], parameters.map((type) => KOFFI_TYPES[type])),
    addressOf: (memory) => BigInt(koffi.address(memory)),
    readText: (address) => koffi.decode(address, "char", -1),
    close: () => library.unload(),
  };
}

function openNodeFfi(ffi: NodeFfi, path: string): Foreign {
  const { lib } = ffi.dlopen(path, {});
  return {
    bind: (name, parameters, result) =>
      lib.getFunction(name, {
        arguments: parameters.map((type) => NODE_TYPES[type]),
        return: NODE_TYPES[result],
      }),
    addressOf: (memory) => ffi.getRawPointer(memory),
    readText: (address) => ffi.toString(address),
    close: () => lib.close(),
  };
}

/** How a library is opened; undefined where nothing can. Called when a program looks for a GPU. */
function findForeign(): ((path: string) => Foreign) | undefined {
  const koffi = findKoffi();
  if (koffi !== undefined) return (path) => openKoffi(koffi, path);
  try {
    const ffi: NodeFfi = requireFrom(import.meta.url)("node:ffi");
    return (path) => openNodeFfi(ffi, path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  }
}

/** koffi, if it is installed. */
function findKoffi(): Koffi | undefined {
  try {
    const koffi: Koffi = requireFrom(import.meta.url)("koffi");
    return koffi;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  }
}

/** What a function looks like that takes a pointer; koffi has each name once. */
let prototype: unknown;

function hostMemory(): FoundHostMemory {
  const koffi = findKoffi();
  if (koffi === undefined) {
    const cause = new Error(LACKS);
    return { kind: "refused", hint: "npm install koffi", cause };
  }
  const memory: HostMemory = {
    addressOf: (view) => BigInt(koffi.address(view)),
    read: (address, bytes) =>
      bytes === 0 ? new Uint8Array(0) : Uint8Array.from(koffi.decode(address, "uint8_t", bytes)),
    call: (fn, argument) => {
      prototype ??= koffi.proto("void tri_release(uint64_t)");
      koffi.call(fn, prototype, argument);
    },
  };
  return { kind: "open", memory };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_UNKNOWN_BUILTIN_MODULE");
}

const LACKS = "Node loads libraries with the package koffi, which is not installed";

function allowedLibraries(paths: readonly string[]): AllowedLibraries {
  return { paths: findForeign() === undefined ? [] : paths, lacks: LACKS };
}

function openLibrary<F extends ForeignFunctions>(path: string, functions: F): OpenedLibrary<F> {
  const foreign = findForeign();
  if (foreign === undefined) {
    return { kind: "refused", hint: "npm install koffi", cause: new Error(LACKS) };
  }
  try {
    const library = foreign(path);
    return { kind: "open", library: bindAll(path, library, functions) };
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ERR_ACCESS_DENIED") {
      return { kind: "refused", hint: "run node with --allow-ffi", cause };
    }
    return libraryFailure(path, cause, platform);
  }
}

function bindAll<F extends ForeignFunctions>(
  path: string,
  library: Foreign,
  functions: F,
): ForeignLibrary<F> {
  const { bind, addressOf, readText, close } = library;
  return { path, symbols: bindSymbols(bind, functions), addressOf, readText, close };
}

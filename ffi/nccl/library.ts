/** Finding and opening NCCL. */
import { runtime } from "#runtime";
import { PermissionError } from "../errors.ts";
import type { ForeignFunctions, ForeignLibrary } from "../foreign.ts";
import { theProcess } from "../runtime/builtin.ts";
import { NcclError, NcclNotFoundError } from "./errors.ts";
import {
  ID_BYTES,
  INIT_FUNCTIONS,
  NCCL_FUNCTIONS,
  type NcclLibrary,
  SPLIT_FUNCTIONS,
} from "./symbols.ts";

/** Names for the loader, then where packages put it. */
const CANDIDATES: readonly string[] = [
  "libnccl.so.2",
  "libnccl.so",
  "/usr/lib/x86_64-linux-gnu/libnccl.so.2",
  "/usr/lib/aarch64-linux-gnu/libnccl.so.2",
  "/usr/local/cuda/lib64/libnccl.so.2",
];

/** The oldest version whose calls need not block, and the oldest that has ncclCommSplit. */
const OLDEST = 21400;
const SPLITS = 21800;

/** Where NCCL may be: where TRI_NCCL says, else in the usual folders. It exists for Linux alone. */
export function ncclLibraries(): readonly string[] {
  const named = runtime.readVariable("TRI_NCCL");
  return named === undefined ? (runtime.platform === "linux" ? CANDIDATES : []) : [named];
}

/** Opens the first of the list that is there. */
export function openNcclLibrary(candidates: readonly string[]): NcclLibrary {
  setVariables();
  const library = openFirst(candidates, NCCL_FUNCTIONS);
  const version = versionOf(library);
  if (version < OLDEST) {
    library.close();
    const found = `${library.path} is NCCL ${printNcclVersion(version)}`;
    throw new NcclError(`${found}; tri needs 2.14 or newer`);
  }
  const split = version < SPLITS ? undefined : splitOf(library.path);
  return { ...library, initRank: initRankOf(library.path), split };
}

function versionOf({ symbols }: Pick<NcclLibrary, "symbols">): number {
  const version = new Int32Array(1);
  symbols.ncclGetVersion(version);
  return version[0] ?? 0;
}

/** Such as "2.28.9". */
export function ncclVersion(library: NcclLibrary): string {
  return printNcclVersion(versionOf(library));
}

/** 22809 as 2.28.9; before 2.9 the minor version had one digit. */
export function printNcclVersion(version: number): string {
  const [major, rest] = version < 10_000
    ? [Math.floor(version / 1000), version % 1000]
    : [Math.floor(version / 10_000), version % 10_000];
  return `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}

/**
 * Multicast by NVLink needs rights that containers often lack, and then fails while communicators are made. Connections are
 * made there too, unless the user says otherwise: made by the first call, they would have it wait for ranks that never
 * make theirs. Graphs with calls come one after another by what a communicator does, so that NCCL need not see to it in
 * each call of a graph, again unless the user says so. NCCL reads variables by getenv, which not all runtimes write to.
 */
function setVariables(): void {
  const functions = {
    setenv: { parameters: ["buffer", "buffer", "i32"], result: "i32" },
  } as const satisfies ForeignFunctions;
  const opened = runtime.openLibrary("libc.so.6", functions);
  if (opened.kind !== "open") return;
  const text = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(`${value}\0`);
  opened.library.symbols.setenv(text("NCCL_NVLS_ENABLE"), text("0"), 1);
  for (const name of ["NCCL_RUNTIME_CONNECT", "NCCL_GRAPH_MIXING_SUPPORT"]) {
    opened.library.symbols.setenv(text(name), text("0"), 0);
  }
}

function splitOf(path: string): NcclLibrary["split"] {
  const { symbols } = openFirst([path], SPLIT_FUNCTIONS);
  return (from, rank, handle, config) => symbols.ncclCommSplit(from, 0, rank, handle, config);
}

/** The one function that differs between processors. */
function initRankOf(path: string): NcclLibrary["initRank"] {
  const { arch } = theProcess();
  if (arch === "x64") {
    const { symbols } = openFirst([path], INIT_FUNCTIONS.x64);
    return (handle, { size, rank, id, config }) => {
      const view = new DataView(id.buffer, id.byteOffset, ID_BYTES);
      const word = (index: number): bigint => view.getBigUint64(8 * index, true);
      return symbols.ncclCommInitRankConfig(
        ...[handle, size, rank, config, 0n, 0n] as const,
        ...[word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)] as const,
        ...[word(8), word(9), word(10), word(11), word(12), word(13), word(14), word(15)] as const,
      );
    };
  }
  if (arch === "arm64") {
    const { symbols } = openFirst([path], INIT_FUNCTIONS.arm64);
    return (handle, { size, rank, id, config }) =>
      symbols.ncclCommInitRankConfig(handle, size, id, rank, config);
  }
  throw new NcclError(`NCCL cannot be called on processors of ${arch}`);
}

function openFirst<F extends ForeignFunctions>(
  candidates: readonly string[],
  functions: F,
): ForeignLibrary<F> {
  let absence: unknown;
  for (const path of candidates) {
    const opened = runtime.openLibrary(path, functions);
    if (opened.kind === "open") return opened.library;
    const { cause } = opened;
    if (opened.kind === "refused") {
      throw new PermissionError(`Cannot open ${path}`, { hint: opened.hint, cause });
    }
    if (opened.kind !== "absent") {
      const problem = opened.kind === "broken"
        ? `does not load: ${opened.reason}`
        : `lacks ${opened.symbol}`;
      throw new NcclError(`${path} ${problem}`, undefined, cause);
    }
    absence ??= cause;
  }
  throw new NcclNotFoundError(candidates, absence);
}

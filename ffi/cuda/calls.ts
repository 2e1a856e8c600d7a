/** Calls of libcuda: where results come back, and errors for what is not success. Numbers are those of cuda.h. */
import type { HostBytes } from "../dtype.ts";
import { CudaError } from "../errors.ts";
import type { CudaLibrary, CudaSymbols } from "./symbols.ts";

/** Results of calls (CUresult). */
export const STATUS = {
  success: 0,
  invalidValue: 1,
  outOfMemory: 2,
  noDevice: 100,
  notFound: 500,
  notReady: 600,
  peerAccessAlreadyEnabled: 704,
  notSupported: 801,
} as const;

/** What all calls of a driver share. */
export class CudaCalls {
  readonly library: CudaLibrary;
  readonly cu: CudaSymbols;
  // Results come back through these, one call at a time.
  readonly word = new BigUint64Array(1);
  readonly word2 = new BigUint64Array(1);
  readonly int = new Int32Array(1);

  constructor(library: CudaLibrary) {
    this.library = library;
    this.cu = library.symbols;
  }

  /** The handle of a device. */
  device(ordinal: number): number {
    return this.readInt("cuDeviceGet", this.cu.cuDeviceGet(this.int, ordinal));
  }

  /** What a call has written to {@linkcode int}. */
  readInt(call: string, status: number): number {
    this.check(status, call);
    return this.int[0] ?? 0;
  }

  /** What a call has written to {@linkcode word}. */
  readWord(call: string, status: number, about?: string): bigint {
    this.check(status, call, about);
    return this.word[0] ?? 0n;
  }

  /** Whether what a call asked about has happened. */
  isReady(status: number, call: string): boolean {
    if (status === STATUS.notReady) return false;
    this.check(status, call);
    return true;
  }

  /** Throws unless a call succeeded. */
  check(status: number, call: string, about?: string): void {
    if (status !== STATUS.success) throw this.error(status, call, about);
  }

  /** What a call said, in the driver's words. */
  error(code: number, call: string, about?: string): CudaError {
    const { cuGetErrorName, cuGetErrorString } = this.cu;
    const text = (get: typeof cuGetErrorName): string | undefined => {
      const address = get(code, this.word) === STATUS.success ? this.word[0] ?? 0n : 0n;
      return address === 0n ? undefined : this.library.readText(address);
    };
    const name = text(cuGetErrorName) ?? "CUDA_ERROR_UNKNOWN";
    const description = text(cuGetErrorString) ?? "unknown to this driver";
    return new CudaError({ name, code, description, call, about });
  }

  /** All but `align` bytes of some memory, from an aligned address on. */
  alignedPart(memory: HostBytes, align: number): HostBytes {
    const skip = Number(-this.library.addressOf(memory) & BigInt(align - 1));
    return memory.subarray(skip, skip + memory.length - align);
  }
}

/** The text in memory that the driver has written. */
export function textOf(bytes: HostBytes): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).trim();
}

/** A text as the driver reads it. */
export function terminated(text: string): HostBytes {
  return new TextEncoder().encode(`${text}\0`);
}

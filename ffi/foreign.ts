/** Functions of native libraries: how they are declared, and what they are once a runtime has bound them. */

/** A type of a parameter or result. Handles, device addresses and sizes are "u64", memory of the host is "buffer". */
export type ForeignType = keyof NativeTypes;

export interface NativeTypes {
  u8: number;
  i32: number;
  u32: number;
  u64: bigint;
  buffer: ArrayBufferView<ArrayBuffer> | null;
}

/** One function. All that are called return a status. */
export interface ForeignFunction {
  readonly parameters: readonly ForeignType[];
  readonly result: "i32";
  /** Whether older versions of the library lack it. */
  readonly optional?: true;
}

/** The functions of a library by name, in the form that `Deno.dlopen` takes. */
export type ForeignFunctions = Readonly<Record<string, ForeignFunction>>;

type Arguments<P extends readonly ForeignType[]> = { [I in keyof P]: NativeTypes[P[I]] };

/** The functions of an open library; optional ones are null when missing. */
export type BoundFunctions<F extends ForeignFunctions> = {
  readonly [K in keyof F]:
    | ((...args: Arguments<F[K]["parameters"]>) => number)
    | (F[K] extends { readonly optional: true } ? null : never);
};

/** An open library, and what its callers need of the runtime's FFI. */
export interface ForeignLibrary<F extends ForeignFunctions> {
  /** For messages: the name it was opened by. */
  readonly path: string;
  readonly symbols: BoundFunctions<F>;
  /** Where host memory lies. It stays there as long as its buffer is reachable. */
  addressOf(memory: ArrayBufferView<ArrayBuffer>): bigint;
  /** The NUL-terminated text at an address of this process. */
  readText(address: bigint): string;
  close(): void;
}

/**
 * What a case of the corpus is: a kernel of a PTX file that nvcc made, a launch, and what must come out. The same
 * description runs on the emulator and on a GPU; expected results are computed here, from what the CUDA source means.
 */
import type { TensorMap } from "../../ffi/tensor_map.ts";

export type Data =
  | Uint8Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/** How far a result may be from the expected one: whichever allows more. Without it, not at all. */
export interface Tolerance {
  readonly absolute?: number;
  readonly relative?: number;
}

/** Device memory: what is in it before, and what must be in it afterwards. */
export interface BufferArgument {
  readonly kind: "buffer";
  readonly data: Data;
  /** Absent for memory that stays as it is. NaN means any NaN. */
  readonly expected?: Data;
  readonly within?: Tolerance;
}

/** A value in the argument block. */
export interface ValueArgument {
  readonly kind: "value";
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly align: number;
}

/** A tensor map over a buffer of its own. */
export interface TensorMapArgument extends Omit<BufferArgument, "kind"> {
  readonly kind: "tensor map";
  readonly map: Omit<TensorMap, "address">;
}

export type Argument = BufferArgument | ValueArgument | TensorMapArgument;

export interface CorpusCase {
  /** The PTX file, without its ending. */
  readonly file: string;
  /** The PTX, if it is in no file. */
  readonly text?: string;
  readonly kernel: string;
  readonly grid: readonly [x: number, y: number, z: number];
  readonly block: readonly [x: number, y: number, z: number];
  /** Dynamic shared memory. */
  readonly sharedBytes?: number;
  /** The oldest architecture that runs it; "a" where it runs on no other. */
  readonly sm: 80 | 90 | "90a";
  /** Made anew for each run. */
  readonly arguments: () => readonly Argument[];
}

export function buffer(data: Data): BufferArgument {
  return { kind: "buffer", data };
}

/** A buffer of zeros that must hold something afterwards. */
export function output(expected: Data, within?: Tolerance): BufferArgument {
  const bytes = new Uint8Array(expected.byteLength);
  return within === undefined
    ? { kind: "buffer", data: bytes, expected }
    : { kind: "buffer", data: bytes, expected, within };
}

/** A buffer that is changed. */
export function inout(data: Data, expected: Data): BufferArgument {
  return { kind: "buffer", data, expected };
}

export function int(value: number): ValueArgument {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value, true);
  return { kind: "value", bytes, align: 4 };
}

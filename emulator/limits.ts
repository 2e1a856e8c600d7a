/**
 * How much memory of each kind there is. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability"; parameters: PTX ISA 9.0, 5.1.6.
 */
import { CONSTANT_BYTES } from "../compiler/support/constants.ts";

/** Threads of a block. */
export const MOST_THREADS = 1024;
/** Bytes of all constant variables of a module. */
export const MOST_CONSTANT_BYTES: number = Number(CONSTANT_BYTES);
/** Bytes of local memory of a thread. */
export const MOST_LOCAL_BYTES = 512 * 1024;
/** Bytes of a kernel's parameters. */
export const MOST_PARAMETER_BYTES = 32764;

/** Thrown where a module wants more memory than any device has of a kind. */
export class LimitError extends Error {
  override readonly name = "LimitError";
}

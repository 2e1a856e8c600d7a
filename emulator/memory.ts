/**
 * The emulator's memory: one WebAssembly memory holds everything that PTX can address, and the registers of the
 * warps that run. Device addresses are 64 bits: a window, which says the state space, above an offset. In the
 * window of global memory the offset is the byte's *location*: its index in the WebAssembly memory. What kernels use is
 * called an address; what the emulator uses to access its memory, a location.
 */
import { CAN_SHARE } from "./sharing.ts";

/** Upper words of generic addresses (PTX ISA, "Generic Addressing"); any other is an illegal address. */
export const WINDOW = {
  global: 0x7f10,
  shared: 0x7f20,
  local: 0x7f30,
  const: 0x7f40,
  param: 0x7f50,
} as const satisfies Record<Window, number>;

/** A state space of PTX (PTX ISA, "State Spaces"). */
export type Window = "global" | "shared" | "local" | "const" | "param";

/** Upper word of addresses of functions and kernels, which nothing can be loaded from or stored to. */
export const FUNCTION_WINDOW = 0x7f60;
/** From one function's address to the next one's. */
export const FUNCTION_STRIDE = 16;

/**
 * Addresses of shared memory: an offset below a rank. Rank 0 is the block itself; n + 1 is block n of its cluster,
 * as `mapa` makes it.
 */
export const SHARED_RANK_SHIFT = 24;
export const SHARED_OFFSET_MASK = 0xffffff;

/** The memory seen as elements; all views cover the whole memory. */
export interface Views {
  readonly u8: Uint8Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
  readonly i64: BigInt64Array;
  readonly u64: BigUint64Array;
}

/** Views of a memory as large as it is now. */
export function viewsOf(memory: WebAssembly.Memory): Views {
  const { buffer } = memory;
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    i32: new Int32Array(buffer),
    u32: new Uint32Array(buffer),
    f32: new Float32Array(buffer),
    f64: new Float64Array(buffer),
    i64: new BigInt64Array(buffer),
    u64: new BigUint64Array(buffer),
  };
}

/** Bytes of a page of WebAssembly memory. */
export const WASM_PAGE_BYTES = 65536;
/** The largest memory of 32-bit WebAssembly, less a page so that all sizes fit 32 bits. */
const MAX_PAGES = 65535;

/** A memory that workers can share, where there are any. */
export function newMemory(bytes: number): WebAssembly.Memory {
  return new WebAssembly.Memory({
    initial: Math.ceil(bytes / WASM_PAGE_BYTES),
    maximum: MAX_PAGES,
    shared: CAN_SHARE,
  });
}

/**
 * The functions of libcuda that tri calls, in the form that `dlopen` takes. Handles, device addresses and
 * sizes are "u64" (size_t is 64 bits wherever CUDA runs), memory of the host is "buffer". Names carry the
 * version that cuda.h maps the plain name to.
 */
export const SYMBOLS = {
  cuInit: { parameters: ["u32"], result: "i32" },
  cuDriverGetVersion: { parameters: ["buffer"], result: "i32" },
  cuGetErrorName: { parameters: ["i32", "buffer"], result: "i32" },
  cuGetErrorString: { parameters: ["i32", "buffer"], result: "i32" },

  // Devices: a CUdevice is an int.
  cuDeviceGetCount: { parameters: ["buffer"], result: "i32" },
  cuDeviceGet: { parameters: ["buffer", "i32"], result: "i32" },
  cuDeviceGetName: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  cuDeviceTotalMem_v2: { parameters: ["buffer", "i32"], result: "i32" },
  cuDeviceGetAttribute: { parameters: ["buffer", "i32", "i32"], result: "i32" },

  // Contexts.
  cuDevicePrimaryCtxRetain: { parameters: ["buffer", "i32"], result: "i32" },
  cuDevicePrimaryCtxRelease_v2: { parameters: ["i32"], result: "i32" },
  cuCtxSetCurrent: { parameters: ["u64"], result: "i32" },
  cuCtxSynchronize: { parameters: [], result: "i32" },

  // Memory.
  cuMemGetInfo_v2: { parameters: ["buffer", "buffer"], result: "i32" },
  cuMemAlloc_v2: { parameters: ["buffer", "u64"], result: "i32" },
  cuMemFree_v2: { parameters: ["u64"], result: "i32" },
  cuMemcpyHtoDAsync_v2: { parameters: ["u64", "buffer", "u64", "u64"], result: "i32" },
  cuMemcpyDtoHAsync_v2: { parameters: ["buffer", "u64", "u64", "u64"], result: "i32" },
  cuMemcpyDtoDAsync_v2: { parameters: ["u64", "u64", "u64", "u64"], result: "i32" },
  cuMemsetD8Async: { parameters: ["u64", "u8", "u64", "u64"], result: "i32" },

  // Streams and events.
  cuStreamCreate: { parameters: ["buffer", "u32"], result: "i32" },
  cuStreamDestroy_v2: { parameters: ["u64"], result: "i32" },
  cuStreamSynchronize: { parameters: ["u64"], result: "i32" },
  cuStreamQuery: { parameters: ["u64"], result: "i32" },
  cuStreamWaitEvent: { parameters: ["u64", "u64", "u32"], result: "i32" },
  cuEventCreate: { parameters: ["buffer", "u32"], result: "i32" },
  cuEventDestroy_v2: { parameters: ["u64"], result: "i32" },
  cuEventRecord: { parameters: ["u64", "u64"], result: "i32" },
  cuEventSynchronize: { parameters: ["u64"], result: "i32" },
  cuEventQuery: { parameters: ["u64"], result: "i32" },
  cuEventElapsedTime: { parameters: ["buffer", "u64", "u64"], result: "i32" },

  // Modules and kernels.
  cuModuleLoadDataEx: {
    parameters: ["buffer", "buffer", "u32", "buffer", "buffer"],
    result: "i32",
  },
  cuModuleUnload: { parameters: ["u64"], result: "i32" },
  cuModuleGetFunction: { parameters: ["buffer", "u64", "buffer"], result: "i32" },
  cuFuncGetAttribute: { parameters: ["buffer", "i32", "u64"], result: "i32" },
  cuFuncSetAttribute: { parameters: ["u64", "i32", "i32"], result: "i32" },
  /** Since CUDA 12.4. */
  cuFuncGetParamInfo: {
    parameters: ["u64", "u64", "buffer", "buffer"],
    result: "i32",
    optional: true,
  },
  cuLaunchKernel: {
    // function, grid xyz, block xyz, dynamic shared bytes, stream, parameter pointers, extra
    parameters: ["u64", "u32", "u32", "u32", "u32", "u32", "u32", "u32", "u64", "u64", "u64"],
    result: "i32",
  },

  // Graphs.
  cuStreamBeginCapture_v2: { parameters: ["u64", "i32"], result: "i32" },
  cuStreamEndCapture: { parameters: ["u64", "buffer"], result: "i32" },
  /** Since CUDA 11.4, the newest of those that must be there. */
  cuGraphInstantiateWithFlags: { parameters: ["buffer", "u64", "u64"], result: "i32" },
  cuGraphLaunch: { parameters: ["u64", "u64"], result: "i32" },
  cuGraphExecDestroy: { parameters: ["u64"], result: "i32" },
  cuGraphDestroy: { parameters: ["u64"], result: "i32" },
} as const;

type Symbols = typeof SYMBOLS;

/** A type of a parameter or result. */
export type ForeignType = keyof NativeTypes;

interface NativeTypes {
  u8: number;
  i32: number;
  u32: number;
  u64: bigint;
  buffer: ArrayBufferView<ArrayBuffer> | null;
}

type Arguments<P extends readonly (keyof NativeTypes)[]> = { [I in keyof P]: NativeTypes[P[I]] };

/** The functions of an open library. Each returns a CUresult; optional ones are null when missing. */
export type CudaSymbols = {
  readonly [K in keyof Symbols]:
    | ((...args: Arguments<Symbols[K]["parameters"]>) => number)
    | (Symbols[K] extends { readonly optional: true } ? null : never);
};

/** What the driver needs of the runtime's FFI. */
export interface CudaLibrary {
  /** For messages: the name it was opened by. */
  readonly path: string;
  readonly symbols: CudaSymbols;
  /** Where host memory lies. It stays there as long as its buffer is reachable. */
  addressOf(memory: ArrayBufferView<ArrayBuffer>): bigint;
  /** The NUL-terminated text at an address of this process. */
  readText(address: bigint): string;
  close(): void;
}

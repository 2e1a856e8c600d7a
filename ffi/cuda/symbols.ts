import type { BoundFunctions, ForeignFunctions, ForeignLibrary, ForeignType } from "../foreign.ts";
import { hostProcess } from "../runtime/builtin.ts";

/** Size of a CUipcMemHandle. */
export const IPC_HANDLE_BYTES = 64;

/**
 * cuIpcOpenMemHandle takes the 64 bytes of its handle by value, for which not every FFI has a type. The System V ABI of
 * x86-64 puts such a structure on the stack, where arguments lie that no register is left for: after the six of address,
 * flags and four that are not used, its eight words are those. The ABIs of arm64 and of Windows pass a pointer to a copy.
 */
export const IS_IPC_HANDLE_ON_STACK: boolean = isSystemV();

function isSystemV(): boolean {
  const { arch, platform } = hostProcess() ?? { arch: "x64", platform: "linux" };
  return arch === "x64" && platform !== "win32";
}

const IPC_PARAMETERS: readonly ForeignType[] = IS_IPC_HANDLE_ON_STACK
  ? ["buffer", "u32", ...new Array<ForeignType>(12).fill("u64")]
  : ["buffer", "buffer", "u32"];

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

  // Two devices.
  cuDeviceCanAccessPeer: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  cuCtxEnablePeerAccess: { parameters: ["u64", "u32"], result: "i32" },

  // Memory.
  cuMemGetInfo_v2: { parameters: ["buffer", "buffer"], result: "i32" },
  cuMemAlloc_v2: { parameters: ["buffer", "u64"], result: "i32" },
  cuMemFree_v2: { parameters: ["u64"], result: "i32" },
  cuMemGetAddressRange_v2: { parameters: ["buffer", "buffer", "u64"], result: "i32" },
  cuIpcGetMemHandle: { parameters: ["buffer", "u64"], result: "i32" },
  cuIpcOpenMemHandle_v2: { parameters: IPC_PARAMETERS, result: "i32" },
  cuIpcCloseMemHandle: { parameters: ["u64"], result: "i32" },
  cuMemHostRegister_v2: { parameters: ["buffer", "u64", "u32"], result: "i32" },
  cuMemHostUnregister: { parameters: ["buffer"], result: "i32" },
  cuMemcpyHtoDAsync_v2: { parameters: ["u64", "buffer", "u64", "u64"], result: "i32" },
  cuMemcpyDtoHAsync_v2: { parameters: ["buffer", "u64", "u64", "u64"], result: "i32" },
  cuMemcpyDtoDAsync_v2: { parameters: ["u64", "u64", "u64", "u64"], result: "i32" },
  cuMemcpyAsync: { parameters: ["u64", "u64", "u64", "u64"], result: "i32" },
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
  cuModuleGetGlobal_v2: { parameters: ["buffer", "buffer", "u64", "buffer"], result: "i32" },
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
  /** Since CUDA 11.8: configuration, function, parameter pointers, extra. */
  cuLaunchKernelEx: { parameters: ["u64", "u64", "u64", "u64"], result: "i32", optional: true },
  /** Since CUDA 11.8: count, function, configuration. */
  cuOccupancyMaxActiveClusters: {
    parameters: ["buffer", "u64", "u64"],
    result: "i32",
    optional: true,
  },
  /** Since CUDA 12.0. */
  cuTensorMapEncodeIm2col: {
    // map, element type, rank, address, extents, strides, lower corner, upper corner, channels, pixels, element strides,
    // interleave, swizzle, promotion, fill
    parameters: [
      "buffer",
      "u32",
      "u32",
      "u64",
      "buffer",
      "buffer",
      "buffer",
      "buffer",
      "u32",
      "u32",
      "buffer",
      "u32",
      "u32",
      "u32",
      "u32",
    ],
    result: "i32",
    optional: true,
  },
  cuTensorMapEncodeTiled: {
    // map, element type, rank, address, extents, strides, box, element strides, interleave, swizzle, promotion, fill
    parameters: [
      "buffer",
      "u32",
      "u32",
      "u64",
      "buffer",
      "buffer",
      "buffer",
      "buffer",
      "u32",
      "u32",
      "u32",
      "u32",
    ],
    result: "i32",
    optional: true,
  },

  // Graphs.
  cuStreamBeginCapture_v2: { parameters: ["u64", "i32"], result: "i32" },
  cuStreamEndCapture: { parameters: ["u64", "buffer"], result: "i32" },
  // Where its nodes are written, null for their number alone.
  cuGraphGetNodes: { parameters: ["u64", "u64", "buffer"], result: "i32" },
  /** Since CUDA 11.4, the newest of those that must be there. */
  cuGraphInstantiateWithFlags: { parameters: ["buffer", "u64", "u64"], result: "i32" },
  cuGraphLaunch: { parameters: ["u64", "u64"], result: "i32" },
  cuGraphExecDestroy: { parameters: ["u64"], result: "i32" },
  cuGraphDestroy: { parameters: ["u64"], result: "i32" },
} as const satisfies ForeignFunctions;

/** The functions of an open libcuda. Each returns a CUresult. */
export type CudaSymbols = BoundFunctions<typeof SYMBOLS>;

/** An open libcuda. */
export type CudaLibrary = ForeignLibrary<typeof SYMBOLS>;

/** Errors of the emulator's driver, in the words and types of the run time. */
import { CudaError, EmulatorError, OutOfMemoryError } from "../../ffi/errors.ts";
import type { EmulatorWarning } from "../../ffi/profile.ts";
import { checkOf } from "../check/levels.ts";
import type { Heap, HeapFullError } from "../heap.ts";
import type { FaultFacts, FaultKind, Site } from "../fault.ts";

/** What to do about each kind of fault. */
const HINTS: Readonly<Record<FaultKind, string>> = {
  "out of bounds":
    "compare the mask of the access with the tensor's extents, and the strides that were passed with its own",
  "misaligned":
    "vector accesses need addresses that are multiples of their size: check __multipleof and the offsets of views",
  "use after free":
    "keep the tensor alive until the last launch that uses it; `using` disposes it at the end of its block",
  "uninitialised memory":
    "write the memory first: device.zeros() or device.tensor() instead of device.empty(), and a barrier after stores to shared memory",
  "uninitialised register": "give the variable a value on every path that leads to its use",
  "race":
    "put a barrier between the accesses, use an atomic operation, or let the threads touch different elements",
  "missing barrier":
    "put a barrier between the two instructions: __syncthreads(), or __syncwarp() where all threads are of one warp",
  "divergent barrier":
    "all threads must come to the same barrier: take it out of the branch or the loop that only some of them run",
  "member mask": "name exactly the lanes that run the instruction, each lane itself among them",
  "exited lanes":
    "leave lanes that have exited out of the mask, or let them run to the instruction",
  "barrier misuse":
    "all threads must name the same barrier with the same number of threads, a multiple of 32",
  "deadlock":
    "some thread waits for what no other will do: count who arrives at the barrier, and who releases the lock",
  "instruction budget":
    "the kernel may never end: check the conditions of its loops; Device.open({ budget }) allows more instructions",
  "pending copy":
    "wait for the asynchronous copy (cp.async.wait_group, or its mbarrier) and then for a barrier before using its data",
  "register in flight":
    "put a wgmma.wait_group that covers the product before the first use of its registers",
  "missing fence":
    "the thread that wrote needs a fence.proxy.async (fence.mbarrier_init for mbarriers) before the barrier or arrival",
  "read-only memory":
    "ld.global.nc (__ldg, const __restrict__) is for memory that the launch does not write: load without .nc",
  "exited block":
    "end the kernel with a barrier of the cluster after the last access to another block's shared memory",
  "early access":
    "the launch may start before the grids before it have ended: run griddepcontrol.wait in all threads first, or launch without startsEarly",
  "unsupported instruction":
    "the emulator does not know this instruction: run the kernel on a GPU, or build it for another architecture",
  "illegal instruction":
    "the operands do not fit each other: see the PTX ISA's section on the instruction",
  "failed assertion":
    "an `assert` or `assume` of the kernel does not hold: print the values with `printf`, or correct what the launch was given",
  "trap": "the kernel stopped itself: see the condition around the instruction",
};

/** What the language reference, 8.5, calls a finding; others are no mistakes of a program. */
const CODES_OF_FAULTS: Readonly<Partial<Record<FaultKind, string>>> = {
  "out of bounds": "R8001",
  "use after free": "R8001",
  "misaligned": "R8002",
  "race": "R8005",
  "missing barrier": "R8005",
  "deadlock": "R8006",
  "instruction budget": "R8006",
  "uninitialised memory": "R8007",
  "uninitialised register": "R8007",
  "failed assertion": "R8008",
};

/** A promise that does not hold is checked as an assertion is, and says so. */
function codeOf({ kind, detail }: FaultFacts): string | undefined {
  const isPromise = kind === "failed assertion" && detail.includes("assertion `assume(");
  return isPromise ? "R8003" : CODES_OF_FAULTS[kind];
}

/** The error for a fault. */
export function emulatorError(fault: FaultFacts, kernel: string): EmulatorError {
  const { kind, detail, site, origin, hint = HINTS[kind] } = fault;
  return new EmulatorError({
    kind,
    code: codeOf(fault),
    detail,
    kernel,
    block: origin?.block,
    thread: origin?.thread,
    instruction: site?.text,
    source: site === undefined ? undefined : sourceOf(site),
    hint,
  });
}

/** A warning of a check. */
export function warningOf(fault: FaultFacts, kernel: string): EmulatorWarning {
  const { message, kind, detail, block, thread, instruction, source } = emulatorError(
    fault,
    kernel,
  );
  const check = checkOf(kind) ?? "";
  return { check, kind, message, detail, kernel, block, thread, instruction, source };
}

/** The location of an instruction's source, such as "transpose.tc:14:3"; undefined where the PTX does not say. */
export function sourceOf({ file, line, column = 0 }: Site): string | undefined {
  if (file === undefined || line === undefined) return undefined;
  return `${file}:${line}${column === 0 ? "" : `:${column}`}`;
}

/** Errors that libcuda would return in the same case; numbers and sentences as in cuda.h. */
const CODES = {
  CUDA_ERROR_INVALID_VALUE: [1, "invalid argument"],
  CUDA_ERROR_OUT_OF_MEMORY: [2, "out of memory"],
  CUDA_ERROR_INVALID_DEVICE: [101, "invalid device ordinal"],
  CUDA_ERROR_NO_BINARY_FOR_GPU: [209, "no kernel image is available for execution on the device"],
  CUDA_ERROR_INVALID_HANDLE: [400, "invalid resource handle"],
  CUDA_ERROR_NOT_FOUND: [500, "named symbol not found"],
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: [701, "too many resources requested for launch"],
  CUDA_ERROR_NOT_SUPPORTED: [801, "operation not supported"],
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: [900, "operation not permitted when stream is capturing"],
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: [
    901,
    "operation failed due to a previous error during capture",
  ],
  CUDA_ERROR_STREAM_CAPTURE_MERGE: [
    902,
    "operation would result in a merge of separate capture sequences",
  ],
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED: [904, "capturing stream has unjoined work"],
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION: [
    905,
    "dependency created on uncaptured work in another stream",
  ],
  CUDA_ERROR_CAPTURED_EVENT: [
    907,
    "operation not permitted on an event last recorded in a capturing stream",
  ],
} as const;

export type RefusalName = keyof typeof CODES;

/** The error for a call that libcuda would refuse as well. */
export function refusal(name: RefusalName, call: string, about?: string): CudaError {
  const [code, description] = CODES[name];
  return new CudaError({ name, code, description, call, about });
}

/** The error for memory that is full. */
export function outOfMemory(
  { requested }: HeapFullError,
  { freeBytes, totalBytes }: Heap,
  call: string,
): OutOfMemoryError {
  const cause = refusal("CUDA_ERROR_OUT_OF_MEMORY", call);
  return new OutOfMemoryError({ requestedBytes: requested, freeBytes, totalBytes }, cause);
}

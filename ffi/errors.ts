/** The run time's errors: each says what failed, where, and how to fix it. */
import type { FaultKind } from "../emulator/fault.ts";

/** What an error carries beside its message. */
export interface TriErrorOptions {
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** Its cause. */
  readonly cause?: unknown;
}

/** How to have kernels run without a GPU, as the end of a hint. */
export const EMULATOR_REQUEST =
  'run kernels on the emulator: TRI_DEVICE=emulator or Device.open({ device: "emulator" })';

/** The base of every error that the run time throws on purpose. */
export class TriError extends Error {
  /** The class, for those who compare names. */
  override readonly name: string = "TriError";
  /** What to do about it; also part of the message. */
  readonly hint: string | undefined;

  /** For the run time. */
  constructor(message: string, options: TriErrorOptions = {}) {
    const { hint, cause } = options;
    super(
      hint === undefined ? message : `${message}\nhint: ${hint}`,
      cause === undefined ? undefined : { cause },
    );
    this.hint = hint;
  }
}

/** A call got a value that it cannot work with; thrown before anything is launched or copied. */
export class ArgumentError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "ArgumentError";
  /** The argument's name. */
  readonly argument: string;
  /** What would have done. */
  readonly expected: string;
  /** What came. */
  readonly actual: string;

  /** For the run time. */
  constructor(
    what: { readonly argument: string; readonly expected: string; readonly actual: string },
    options: TriErrorOptions = {},
  ) {
    const { argument, expected, actual } = what;
    super(
      actual === "undefined"
        ? `Argument ${argument} is missing: expected ${expected}`
        : `Argument ${argument}: expected ${expected}, got ${actual}`,
      options,
    );
    this.argument = what.argument;
    this.expected = what.expected;
    this.actual = what.actual;
  }
}

/** A launch that cannot be made although each argument alone is fine: sizes out of range, a broken contract. */
export class LaunchError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "LaunchError";
}

/** Something was used after it was disposed. */
export class DisposedError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "DisposedError";
  /** What was disposed, such as "Tensor float32[2, 3]". */
  readonly object: string;

  /** For the run time. */
  constructor(object: string, hint?: string) {
    super(`${object} was disposed and cannot be used any more`, {
      hint: hint ?? "keep it alive until its last use; `using` disposes at the end of its block",
    });
    this.object = object;
  }
}

/** The CUDA driver library is not on this machine. */
export class DriverNotFoundError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "DriverNotFoundError";
  /** The names and paths that were tried. */
  readonly searched: readonly string[];

  /** For the run time. */
  constructor(searched: readonly string[], cause?: unknown) {
    super(`Cannot find the CUDA driver library (tried ${searched.join(", ")})`, {
      hint:
        "install the NVIDIA driver (on Linux the package that brings libcuda.so.1, such as libcuda1; " +
        "in a container start it with --gpus all), where `nvidia-smi` shows whether it works; " +
        `without a GPU, ${EMULATOR_REQUEST}`,
      cause,
    });
    this.searched = searched;
  }
}

/** The CUDA driver is installed but does not work. */
export class DriverFailedError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "DriverFailedError";

  /** For the run time. */
  constructor(problem: string, options: TriErrorOptions = {}) {
    const { hint, cause } = options;
    const fix = hint === undefined ? "repair the driver" : hint;
    super(`The CUDA driver is installed but does not work: ${problem}`, {
      hint: `${fix}; or ${EMULATOR_REQUEST}`,
      cause,
    });
  }
}

/** The CUDA driver lacks functions that tri needs. */
export class DriverTooOldError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "DriverTooOldError";

  /** For the run time. */
  constructor(what: { readonly library: string; readonly lacks: string }, cause?: unknown) {
    super(`The CUDA driver ${what.library} is too old: it lacks ${what.lacks}`, {
      hint:
        "update the NVIDIA driver to 470 or newer (CUDA 11.4); `nvidia-smi` shows the installed version",
      cause,
    });
  }
}

/** The runtime was not allowed to open the CUDA driver or to read a file. */
export class PermissionError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "PermissionError";
}

/** There is no GPU, or none with the number asked for. */
export class NoDeviceError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "NoDeviceError";
}

/** The device has not enough free memory. */
export class OutOfMemoryError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "OutOfMemoryError";
  /** How much was asked for. */
  readonly requestedBytes: number;

  /** For the run time. */
  constructor(
    what: {
      readonly requestedBytes: number;
      readonly freeBytes: number;
      readonly totalBytes: number;
    },
    cause?: unknown,
  ) {
    super(
      `Cannot allocate ${what.requestedBytes} bytes of device memory: ` +
        `${what.freeBytes} of ${what.totalBytes} bytes are free`,
      { hint: "dispose tensors that are no longer needed (`using`), or split the work", cause },
    );
    this.requestedBytes = what.requestedBytes;
  }
}

/** A kernel image is missing, corrupt, made for another GPU, or not the one that the wrapper describes. */
export class ImageError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "ImageError";
  /** The image's name, as the loader has it. */
  readonly image: string;

  /** For the run time. */
  constructor(image: string, problem: string, options: TriErrorOptions = {}) {
    super(`Cannot use kernel image ${image}: ${problem}`, {
      hint: "rebuild the kernels with `tri build`, and ship the images that belong to the wrapper",
      ...options,
    });
    this.image = image;
  }
}

/** A generated wrapper has a form that this version of the run time does not know. */
export class WrapperError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "WrapperError";
  /** The kernel's name. */
  readonly kernel: string;
  /** The ABI number of the wrapper. */
  readonly abi: number;

  /** For the run time. */
  constructor(
    what: {
      readonly kernel: string;
      readonly abi: number;
      /** Version of tri that generated it. */
      readonly by: string;
      /** The ABI number of the run time. */
      readonly served: number;
    },
  ) {
    const { kernel, abi, by, served } = what;
    super(
      `Cannot use the wrapper of ${kernel}: tri ${by} generated it with ABI ${abi}, and this run time serves ABI ${served}`,
      {
        hint: abi < served
          ? "generate it again with the version of tri that belongs to the run time: `tri build …`"
          : `update the run time: \`npm install @tri/tri@${by}\` or \`deno add jsr:@tri/tri@${by}\``,
      },
    );
    this.kernel = kernel;
    this.abi = abi;
  }
}

/** Where in a launch something happened. */
export type LaunchIndex = readonly [x: number, y: number, z: number];

/** What is known of a fault in a kernel. */
export interface EmulatorFailure {
  /** What went wrong. */
  readonly kind: FaultKind;
  /** What the language calls it, such as "R8001", if it is a mistake of the program. */
  readonly code?: string | undefined;
  /** What was found, as a clause. */
  readonly detail: string;
  /** The entry that was launched. */
  readonly kernel: string;
  /** The block that did it, if one did. */
  readonly block?: LaunchIndex | undefined;
  /** The thread of that block. */
  readonly thread?: LaunchIndex | undefined;
  /** The PTX instruction. */
  readonly instruction?: string | undefined;
  /** Location of its source, such as "transpose.tc:14:3". */
  readonly source?: string | undefined;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

/**
 * A kernel did on the emulator what it must not do: it left its memory, raced, or never ended. Memory has what
 * the kernel wrote up to there; the device continues to work.
 */
export class EmulatorError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "EmulatorError";
  /** What went wrong. */
  readonly kind: FaultKind;
  /** What the language calls it, such as "R8001"; undefined where it is no mistake of the program. */
  readonly code: string | undefined;
  /** What was found, as a clause. */
  readonly detail: string;
  /** The entry that was launched. */
  readonly kernel: string;
  /** The block that did it, if one did. */
  readonly block: LaunchIndex | undefined;
  /** The thread of that block. */
  readonly thread: LaunchIndex | undefined;
  /** The PTX instruction. */
  readonly instruction: string | undefined;
  /** Location of its source, such as "transpose.tc:14:3". */
  readonly source: string | undefined;

  /** For the run time. */
  constructor(failure: EmulatorFailure) {
    const { kind, detail, kernel, block, thread, instruction, source, hint } = failure;
    const locations = [
      source === undefined ? "" : `at ${source}`,
      block === undefined ? "" : `in block (${block.join(", ")})` +
        (thread === undefined ? "" : `, thread (${thread.join(", ")})`),
      instruction === undefined ? "" : `instruction ${instruction}`,
    ];
    const where = locations.filter((location) => location !== "").map((location) =>
      `\n  ${location}`
    ).join("");
    super(`Kernel ${kernel}: ${kind}: ${detail}${where}`, { hint });
    this.kind = kind;
    this.code = failure.code;
    this.detail = detail;
    this.kernel = kernel;
    this.block = block;
    this.thread = thread;
    this.instruction = instruction;
    this.source = source;
  }
}

/** A call of the CUDA driver failed. */
export class CudaError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "CudaError";
  /** The driver's name for the error, such as "CUDA_ERROR_INVALID_VALUE". */
  readonly cudaName: string;
  /** The driver's number for the error. */
  readonly code: number;
  /** The driver's own sentence. */
  readonly description: string;
  /** The driver function that failed. */
  readonly call: string;

  /** For the run time. */
  constructor(failure: CudaFailure) {
    const { name, code, description, call, about } = failure;
    const subject = about === undefined ? call : `${call} (${about})`;
    super(`${subject} failed with ${name} (${code}): ${description}`, { hint: remedyFor(name) });
    this.cudaName = name;
    this.code = code;
    this.description = description;
    this.call = call;
  }
}

/** What is known when a driver call fails. */
export interface CudaFailure {
  /** Such as "CUDA_ERROR_INVALID_VALUE". */
  readonly name: string;
  /** The number of that name. */
  readonly code: number;
  /** The driver's own sentence. */
  readonly description: string;
  /** The driver function. */
  readonly call: string;
  /** What the call was about: a kernel, an image. */
  readonly about?: string | undefined;
}

const LOST_CONTEXT =
  "a kernel launched earlier did this and the device context is lost: restart the process, and run it " +
  "under compute-sanitizer to find the kernel and the line";

/** What to do about the errors that users meet; names and numbers are those of cuda.h. */
export const REMEDIES: Readonly<Record<string, string>> = {
  CUDA_ERROR_INVALID_VALUE: "check the grid and block sizes against the device's limits",
  CUDA_ERROR_OUT_OF_MEMORY: "dispose tensors that are no longer needed, or split the work",
  CUDA_ERROR_NOT_INITIALIZED: "open the device in this process (after a fork, open it again)",
  CUDA_ERROR_NO_DEVICE: "check `nvidia-smi` and CUDA_VISIBLE_DEVICES",
  CUDA_ERROR_INVALID_DEVICE: "use a device number below the count that `tri doctor` shows",
  CUDA_ERROR_DEVICE_UNAVAILABLE:
    "another process holds the GPU in exclusive mode; see `nvidia-smi -q -d COMPUTE`",
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    "the kernel module and libcuda have different versions: reboot or reload the NVIDIA driver",
  CUDA_ERROR_SYSTEM_NOT_READY:
    "start the NVIDIA services (nvidia-persistenced, nvidia-fabricmanager)",
  CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    "remove the CUDA compatibility package from the library path: this GPU does not support it",
  CUDA_ERROR_STUB_LIBRARY:
    "a stub libcuda was found first: remove the toolkit's stubs folder from LD_LIBRARY_PATH",
  CUDA_ERROR_INVALID_IMAGE: "the image is damaged: rebuild it with `tri build`",
  CUDA_ERROR_INVALID_PTX: "the PTX does not assemble on this driver: rebuild it with `tri build`",
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    "the PTX is newer than the driver: update the driver, or ship a cubin for this GPU",
  CUDA_ERROR_NO_BINARY_FOR_GPU:
    "build the kernels for this GPU's architecture (`tri doctor` shows it)",
  CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    "the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1) is missing: install it, or ship a cubin for this GPU",
  CUDA_ERROR_NOT_FOUND:
    "the image and its wrapper do not belong together: rebuild both with `tri build`",
  CUDA_ERROR_INVALID_HANDLE: "the object belongs to another device, or was destroyed",
  CUDA_ERROR_INVALID_CONTEXT: "the device was reset or closed: open it again",
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    "the kernel needs more registers or shared memory than the GPU has for so many threads: build it with fewer warps or smaller tiles",
  CUDA_ERROR_ILLEGAL_ADDRESS: LOST_CONTEXT,
  CUDA_ERROR_MISALIGNED_ADDRESS: LOST_CONTEXT,
  CUDA_ERROR_ILLEGAL_INSTRUCTION: LOST_CONTEXT,
  CUDA_ERROR_INVALID_ADDRESS_SPACE: LOST_CONTEXT,
  CUDA_ERROR_INVALID_PC: LOST_CONTEXT,
  CUDA_ERROR_HARDWARE_STACK_ERROR: LOST_CONTEXT,
  CUDA_ERROR_ASSERT:
    "an `assert` or `assume` of the kernel does not hold: the driver has printed file, line and condition; " +
    `${LOST_CONTEXT}`,
  CUDA_ERROR_LAUNCH_FAILED: LOST_CONTEXT,
  CUDA_ERROR_LAUNCH_TIMEOUT:
    "the GPU drives a display and stopped a kernel that ran too long: split the work, or use another GPU",
  CUDA_ERROR_ECC_UNCORRECTABLE: "the GPU's memory has a fault: see `nvidia-smi -q -d ECC`",
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    "reads, writes and waits for the host cannot be part of a captured graph",
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: "an earlier call in the capture failed: fix that one",
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    "the capture waits for a stream outside it: capture both, or wait before",
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    "the capture touches the legacy default stream: use a stream of the device",
};

function remedyFor(name: string): string | undefined {
  return REMEDIES[name];
}

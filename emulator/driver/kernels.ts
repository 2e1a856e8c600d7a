/** Images and launches of the emulator's driver: checked as libcuda checks them, and faults converted to errors. */
import { PtxSyntaxError } from "../../compiler/ptx/syntax_error.ts";
import type { LaunchShape } from "../../ffi/driver.ts";
import type { HostBytes } from "../../ffi/dtype.ts";
import { ImageError } from "../../ffi/errors.ts";
import { anyCheck } from "../check/levels.ts";
import { walkThrough } from "../debug/walk_through.ts";
import { Fault, type FaultFacts } from "../fault.ts";
import { type Heap, HeapFullError } from "../heap.ts";
import type { EmulatedKernel, Emulator, LaunchRequest, LoadedModule } from "../launch.ts";
import { LimitError, MOST_LOCAL_BYTES, MOST_PARAMETER_BYTES, MOST_THREADS } from "../limits.ts";
import type { Machine } from "../machine.ts";
import type { LaunchReport } from "../report.ts";
import { emulatorError, outOfMemory, refusal } from "./failure.ts";
import { nameArguments } from "./names.ts";
import type { ResolvedSettings } from "./settings.ts";

/**
 * The largest grid along each axis, the same on all architectures (CUDA programming guide, technical specifications).
 */
export const MAX_GRID = [2 ** 31 - 1, 65535, 65535] as const;

/** Loads PTX text; refuses what is something else, or for another architecture. */
export function loadImage(
  emulator: Emulator,
  image: HostBytes,
  name: string,
  { arch, architecture }: ResolvedSettings,
): LoadedModule {
  const end = image.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? image : image.subarray(0, end));
  const target = /^\s*\.target\s+sm_(\d+)([af]?)/m.exec(text);
  if (target === null) {
    throw new ImageError(name, "it is not PTX text, and the emulator runs nothing else");
  }
  const sm = Number(target[1]);
  const isExact = target[2] === "a";
  if (sm > architecture.sm || (isExact && sm !== architecture.sm)) {
    const cause = refusal("CUDA_ERROR_NO_BINARY_FOR_GPU", "cuModuleLoadDataEx", name);
    throw new ImageError(name, `it is for sm_${sm}${target[2]}, and the emulator is ${arch}`, {
      hint: `open the emulator for the image's architecture: Device.open({ arch: "sm_${sm}" })`,
      cause,
    });
  }
  return withImageErrors(emulator, name, () => emulator.load(text, name));
}

/** What reads an image or a kernel of it, with its failures as errors of the driver. */
export function withImageErrors<Result>(
  emulator: Emulator,
  name: string,
  read: () => Result,
): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) throw emulatorError(error, error.site?.kernel ?? name);
    if (error instanceof HeapFullError) {
      throw outOfMemory(error, emulator.heap, "cuModuleLoadDataEx");
    }
    if (error instanceof LimitError) throw new ImageError(name, error.message);
    if (!(error instanceof PtxSyntaxError)) throw error;
    throw new ImageError(
      name,
      `its text is not PTX that the emulator can read: ${error.message}`,
      {
        hint: undefined,
        cause: error,
      },
    );
  }
}

/** What launches need of the device. */
export interface LaunchSettings extends ResolvedSettings {
  readonly heap: Heap;
  readonly machine: Machine;
  /** Takes what checks have found and only warn of. */
  readonly warn: (warning: FaultFacts, kernel: string) => void;
}

/** A kernel ready to run. */
export interface PreparedKernel {
  readonly argumentBlock: HostBytes;
  /** Runs a grid to its end. */
  run(
    grid: readonly [x: number, y: number, z: number],
    argumentBlock: HostBytes,
    profile: boolean,
  ): LaunchReport;
}

/** Checks what stays the same between launches. */
export function prepare(
  kernel: EmulatedKernel,
  shape: LaunchShape,
  name: string,
  settings: LaunchSettings,
): PreparedKernel {
  const { info } = kernel;
  const { block, sharedBytes, parameterBytes, startsEarly } = shape;
  const { architecture, heap, machine, levels, budget, workers, warn, debug } = settings;
  const shared = info.sharedBytes + sharedBytes;
  if (shared > architecture.sharedBytesPerBlock) {
    const about = `${name}, ${sharedBytes} bytes of shared memory`;
    throw refusal("CUDA_ERROR_INVALID_VALUE", "cuFuncSetAttribute", about);
  }
  if (info.localBytes > MOST_LOCAL_BYTES || info.parameterBytes > MOST_PARAMETER_BYTES) {
    const about = info.localBytes > MOST_LOCAL_BYTES
      ? `${info.localBytes} bytes of local memory in each thread, and there are ${MOST_LOCAL_BYTES}`
      : `${info.parameterBytes} bytes of parameters, and there are ${MOST_PARAMETER_BYTES}`;
    throw refusal("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "cuLaunchKernel", `${name}, ${about}`);
  }
  const [x, y, z] = block;
  const refuseLaunch = (about: string): never => {
    throw refusal("CUDA_ERROR_INVALID_VALUE", "cuLaunchKernel", `kernel ${name}, ${about}`);
  };
  if (!block.every((size) => isCount(size, MOST_THREADS)) || x * y * z > info.maxThreads) {
    refuseLaunch(`block ${x}×${y}×${z}`);
  }
  if (parameterBytes < info.parameterBytes) refuseLaunch(`${parameterBytes} bytes of arguments`);
  const names = shape.parameterNames;
  const parameters = info.params.flatMap(({ offset, bytes, name: own }, index) =>
    bytes === 8 ? [{ offset, name: names?.[index] ?? own }] : []
  );
  return {
    argumentBlock: new Uint8Array(parameterBytes),
    run(grid, argumentBlock, profile): LaunchReport {
      if (!grid.every((extent, axis) => isCount(extent, MAX_GRID[axis] ?? 0))) {
        refuseLaunch(`grid ${grid.join("×")}, block ${x}×${y}×${z}`);
      }
      if (anyCheck(levels)) nameArguments(heap, parameters, argumentBlock);
      try {
        const request: LaunchRequest = {
          grid,
          block,
          sharedBytes,
          startsEarly,
          argumentBlock,
          checks: levels,
          profile,
          budget,
          workers,
          warn: (warning) => warn(warning, name),
        };
        return debug === undefined
          ? kernel.launch(request)
          : walkThrough({ machine, heap }, kernel, request, debug);
      } catch (error) {
        if (error instanceof HeapFullError) throw outOfMemory(error, heap, "cuLaunchKernel");
        throw error instanceof Fault ? emulatorError(error, name) : error;
      }
    },
  };
}

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= most;
}

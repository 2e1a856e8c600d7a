/** Launches of libcuda's functions: ordinary ones, and those that may begin before what is before them has ended. */
import type { LaunchShape, PreparedLaunch } from "../driver.ts";
import { type CudaCalls, STATUS } from "./calls.ts";
import { currentContext, makeCurrent } from "./contexts.ts";
import { allowShape, ATTRIBUTE_BYTES, clustersAtOnce, CONFIG, CONFIG_BYTES } from "./functions.ts";

/** CU_LAUNCH_PARAM_…: keys and end of `extra`. */
const LAUNCH_PARAM = { end: 0n, pointer: 1n, size: 2n } as const;
/** `extra` (five words) and the size it points to, in front of the arguments. */
const LAUNCH_HEADER_BYTES = 48;

/** CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION; its value, 1, is two words behind it. */
const PROGRAMMATIC = 6;

/** The first driver whose captures record such launches (CUDA 12.3: edges of graphs have types). */
const EARLY_VERSION = 12030;

/** Queues a grid on a stream. */
type Launch = (gridX: number, gridY: number, gridZ: number, stream: bigint) => number;

/** Prepares launches of one shape; each is one call. */
export function prepareLaunch(
  calls: CudaCalls,
  fn: bigint,
  shape: LaunchShape,
  name: string,
  version: number,
): PreparedLaunch {
  const atOnce = clustersAtOnce(calls, fn, shape, allowShape(calls, fn, shape, name));
  const { sharedBytes, parameterBytes, block: [blockX, blockY, blockZ] } = shape;
  const { cuLaunchKernel, cuLaunchKernelEx } = calls.cu;
  const startsEarly = shape.startsEarly === true && version >= EARLY_VERSION &&
    cuLaunchKernelEx !== null;
  // One buffer, which the argument block keeps alive: `extra`, the size it points to, the arguments; a configuration between
  // them where a launch may begin early.
  const start = LAUNCH_HEADER_BYTES + (startsEarly ? CONFIG_BYTES + ATTRIBUTE_BYTES : 0);
  const memory = new ArrayBuffer(start + parameterBytes);
  const header = new BigUint64Array(memory, 0, LAUNCH_HEADER_BYTES / 8);
  const extra = calls.library.addressOf(header);
  const [pointer, size] = [extra + BigInt(start), extra + 40n];
  header.set([LAUNCH_PARAM.pointer, pointer, LAUNCH_PARAM.size, size, LAUNCH_PARAM.end]);
  header[5] = BigInt(parameterBytes);
  const argumentBlock = new Uint8Array(memory, start);

  const ordinary: Launch = (gridX, gridY, gridZ, stream) =>
    // deno-fmt-ignore
    cuLaunchKernel(
      fn, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, 0n, extra,
    );
  let queue = ordinary;
  if (startsEarly) {
    const config = extra + BigInt(LAUNCH_HEADER_BYTES);
    const words = new Uint32Array(
      memory,
      LAUNCH_HEADER_BYTES,
      (CONFIG_BYTES + ATTRIBUTE_BYTES) / 4,
    );
    const longs = new BigUint64Array(memory, LAUNCH_HEADER_BYTES, CONFIG_BYTES / 8);
    words.set([blockX, blockY, blockZ], CONFIG.block);
    words[CONFIG.sharedBytes] = sharedBytes;
    longs[CONFIG.attributes] = config + BigInt(CONFIG_BYTES);
    words[CONFIG.count] = 1;
    words.set([PROGRAMMATIC, 0, 1], CONFIG_BYTES / 4);
    queue = (gridX, gridY, gridZ, stream) => {
      words[0] = gridX;
      words[1] = gridY;
      words[2] = gridZ;
      longs[CONFIG.stream] = stream;
      const status = cuLaunchKernelEx(config, fn, 0n, extra);
      if (status !== STATUS.notSupported) return status;
      // A device or a mode that does not support it: all further launches are ordinary.
      queue = ordinary;
      return ordinary(gridX, gridY, gridZ, stream);
    };
  }
  const context = currentContext();
  return {
    argumentBlock,
    ...atOnce === undefined ? {} : { clustersAtOnce: atOnce },
    launch: (gridX: number, gridY: number, gridZ: number, stream: bigint): void => {
      makeCurrent(calls, context);
      const status = queue(gridX, gridY, gridZ, stream);
      if (status !== STATUS.success) {
        const sizes = `grid ${gridX}×${gridY}×${gridZ}, block ${blockX}×${blockY}×${blockZ}`;
        throw calls.error(status, "cuLaunchKernel", `kernel ${name}, ${sizes}`);
      }
    },
  };
}

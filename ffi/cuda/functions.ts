/** Modules of libcuda, and their functions. */
import type { FunctionInfo, LaunchShape, ParameterInfo } from "../driver.ts";
import type { HostBytes } from "../dtype.ts";
import { ImageError } from "../errors.ts";
import { type CudaCalls, STATUS, textOf } from "./calls.ts";
import { checkImage } from "./image.ts";

/** CU_FUNC_ATTRIBUTE_… */
const FUNCTION = {
  maxThreadsPerBlock: 0,
  staticShared: 1,
  local: 3,
  registers: 4,
  maxDynamicShared: 8,
  clusterWidth: 11,
  largeClusters: 14,
} as const;

/** The most blocks of a cluster that every GPU with clusters has (CUDA programming guide, "Thread Block Clusters"). */
const PORTABLE_CLUSTER = 8;

/** CU_JIT_INFO_LOG_BUFFER, its size, CU_JIT_ERROR_LOG_BUFFER, its size. */
const JIT_LOG_OPTIONS = [3, 4, 5, 6];
const JIT_LOG_BYTES = 8192;

/** Loads an image; the error has what the driver's assembler said. */
export function loadModule(calls: CudaCalls, image: HostBytes, name: string): bigint {
  const checked = checkImage(image, name);
  const info = new Uint8Array(JIT_LOG_BYTES);
  const errors = new Uint8Array(JIT_LOG_BYTES);
  const size = BigInt(JIT_LOG_BYTES);
  const { addressOf } = calls.library;
  const values = new BigUint64Array([addressOf(info), size, addressOf(errors), size]);
  const options = new Int32Array(JIT_LOG_OPTIONS);
  const status = calls.cu.cuModuleLoadDataEx(
    calls.word,
    checked,
    options.length,
    options,
    values,
  );
  if (status === STATUS.success) return calls.word[0] ?? 0n;
  const cause = calls.error(status, "cuModuleLoadDataEx", name);
  const log = [errors, info].map(textOf).filter((text) => text !== "").join("\n");
  const said = log === "" ? "" : `\n${log}`;
  throw new ImageError(name, `${cause.cudaName} (${status}), ${cause.description}${said}`, {
    hint: cause.hint,
    cause,
  });
}

/** What the driver says of a function. */
export function functionInfo(calls: CudaCalls, fn: bigint): FunctionInfo {
  const fact = (key: keyof typeof FUNCTION): number => functionFact(calls, fn, key);
  return {
    maxThreadsPerBlock: fact("maxThreadsPerBlock"),
    maxDynamicSharedBytes: fact("maxDynamicShared"),
    staticSharedBytes: fact("staticShared"),
    registers: fact("registers"),
    clusterBlocks: clusterBlocks(calls, fn),
    localBytes: fact("local"),
    parameters: parametersOf(calls, fn),
  };
}

/** Drivers before 11.8 do not know clusters, nor load images that have them. */
function clusterBlocks(calls: CudaCalls, fn: bigint): number {
  const status = calls.cu.cuFuncGetAttribute(calls.int, FUNCTION.clusterWidth, fn);
  return status === STATUS.success ? Math.max(1, calls.readInt("cuFuncGetAttribute", status)) : 1;
}

function functionFact(calls: CudaCalls, fn: bigint, key: keyof typeof FUNCTION): number {
  const status = calls.cu.cuFuncGetAttribute(calls.int, FUNCTION[key], fn);
  return calls.readInt("cuFuncGetAttribute", status);
}

function parametersOf(calls: CudaCalls, fn: bigint): readonly ParameterInfo[] | undefined {
  const { cuFuncGetParamInfo } = calls.cu;
  if (cuFuncGetParamInfo === null) return undefined;
  const parameters: ParameterInfo[] = [];
  // The driver does not report how many there are: it refuses the first index past the end.
  while (
    cuFuncGetParamInfo(fn, BigInt(parameters.length), calls.word, calls.word2) === STATUS.success
  ) {
    parameters.push({ offset: Number(calls.word[0]), bytes: Number(calls.word2[0]) });
  }
  return parameters;
}

/** CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION; its value, three extents, is two words behind it. */
const CLUSTER_DIMENSION = 4;

/** How many clusters of so many blocks the device runs at a time; undefined without clusters, or where the driver does not say. */
export function clustersAtOnce(
  calls: CudaCalls,
  fn: bigint,
  { block, sharedBytes }: LaunchShape,
  blocks: number,
): number | undefined {
  const { cuOccupancyMaxActiveClusters } = calls.cu;
  if (blocks === 1 || cuOccupancyMaxActiveClusters === null) return undefined;
  const memory = new ArrayBuffer(CONFIG_BYTES + ATTRIBUTE_BYTES);
  const [words, longs] = [new Uint32Array(memory), new BigUint64Array(memory)];
  const config = calls.library.addressOf(words);
  words.set([blocks, 1, 1, ...block, sharedBytes]);
  longs[CONFIG.attributes] = config + BigInt(CONFIG_BYTES);
  words[CONFIG.count] = 1;
  words.set([CLUSTER_DIMENSION, 0, blocks, 1, 1], CONFIG_BYTES / 4);
  const status = cuOccupancyMaxActiveClusters(calls.int, fn, config);
  if (status !== STATUS.success) return undefined;
  return Math.max(1, calls.readInt("cuOccupancyMaxActiveClusters", status));
}

/**
 * A CUlaunchConfig (56 bytes) and a CUlaunchAttribute (72) behind it: grid and block, bytes of shared memory, stream, address
 * and number of the attributes; an attribute is its id and its value.
 */
export const CONFIG = { block: 3, sharedBytes: 6, stream: 4, attributes: 5, count: 12 } as const;
export const CONFIG_BYTES = 56;
export const ATTRIBUTE_BYTES = 72;

/** Asks for what launches of a shape need beyond what all have. Gives the blocks of a cluster. */
export function allowShape(
  calls: CudaCalls,
  fn: bigint,
  { sharedBytes }: LaunchShape,
  name: string,
): number {
  const blocks = clusterBlocks(calls, fn);
  if (blocks > PORTABLE_CLUSTER) {
    const status = calls.cu.cuFuncSetAttribute(fn, FUNCTION.largeClusters, 1);
    calls.check(status, "cuFuncSetAttribute", `${name}, a cluster of more than 8 blocks`);
  }
  if (sharedBytes > functionFact(calls, fn, "maxDynamicShared")) {
    const status = calls.cu.cuFuncSetAttribute(fn, FUNCTION.maxDynamicShared, sharedBytes);
    calls.check(status, "cuFuncSetAttribute", `${name}, ${sharedBytes} bytes of shared memory`);
  }
  return blocks;
}

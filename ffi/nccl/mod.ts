/**
 * Communication between devices by NVIDIA's NCCL, where it is installed; emulators of one process communicate without it, so
 * programs can be tested without GPUs.
 *
 * ```ts
 * import { Device } from "@tri/tri/ffi";
 * import { group, openCommunicators } from "@tri/tri/ffi/nccl";
 *
 * const devices = [0, 1].map(() => Device.open({ device: "emulator" })); // or { device: 0 }, { device: 1 }
 * const ranks = openCommunicators(devices);
 * const parts = devices.map((device, i) => device.tensor(new Float32Array([i, 10 * i])));
 * group(() => {
 *   for (const [i, rank] of ranks.entries()) rank.allReduce(parts[i]!, parts[i]!);
 * });
 * console.log(parts[0]!.readSync()); // Float32Array [ 1, 10 ], on every rank
 * for (const rank of ranks) rank[Symbol.dispose]();
 * ```
 *
 * @module
 */
export {
  type CallOptions,
  Communicator,
  type FinishedOptions,
  group,
  type ReductionOptions,
} from "./communicator.ts";
export {
  CommunicatorAbortedError,
  NcclError,
  NcclNotFoundError,
  RendezvousError,
} from "./errors.ts";
export {
  openCommunicator,
  type OpenCommunicatorOptions,
  openCommunicators,
  uniqueId,
} from "./open.ts";
export { printId, rankFromEnvironment, type RankPlan, type Rendezvous } from "./rendezvous.ts";
export type { Reduction } from "./symbols.ts";

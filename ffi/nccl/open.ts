/** Opening communicators: all ranks in one process, or one rank in each of several. */
import { expectBranded } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import { ArgumentError } from "../errors.ts";
import { expectInteger, isList } from "../arguments/numbers.ts";
import { checkOptions, optionNames } from "../arguments/options.ts";
import { describeValue } from "../arguments/values.ts";
import { type Communicator, makeCommunicators } from "./communicator.ts";
import { emulatedTransport } from "./emulated.ts";
import { ncclLibraries, openNcclLibrary } from "./library.ts";
import { makeId, openAll, openRank } from "./native.ts";
import { meet, type RankPlan } from "./rendezvous.ts";

/**
 * Communicators of all ranks in one process: rank i is on device i. Several GPUs need NCCL; several emulators need
 * nothing. Disposing one of them disposes all. Throws `ArgumentError` for devices that cannot be a world,
 * `NcclNotFoundError`, `NcclError`, `PermissionError`.
 */
export function openCommunicators(devices: readonly Device[]): readonly Communicator[] {
  if (!isList(devices) || devices.length === 0) {
    const actual = describeValue(devices);
    throw new ArgumentError({ argument: "devices", expected: "a list of devices", actual });
  }
  for (const device of devices) expectBranded<Device>("device", device, "devices");
  const kinds = new Set(devices.map(({ info }) => info.kind));
  if (kinds.size > 1) {
    const actual = devices.map(({ label }) => label).join(", ");
    throw new ArgumentError({ argument: "devices", expected: "GPUs or emulators alone", actual });
  }
  const isGpu = kinds.has("gpu");
  const names = devices.map((device) => isGpu ? device.info.ordinal : device);
  const again = devices.find((_, at) => names.indexOf(names[at] ?? at) !== at);
  if (again !== undefined) {
    throw new ArgumentError({
      argument: "devices",
      expected: "each device once",
      actual: `${again.label} twice`,
    });
  }
  const { length: size } = devices;
  const ranks = devices.map((device, rank) => ({ device, rank }));
  return makeCommunicators(
    ranks,
    size,
    isGpu ? openAll(devices, openNcclLibrary(ncclLibraries())) : emulatedTransport(size),
  );
}

/** Options of `openCommunicator`. */
export interface OpenCommunicatorOptions {
  /** How long to wait for the other ranks; 60 by default. */
  readonly timeoutSeconds?: number;
}

const OPEN_OPTIONS = optionNames<OpenCommunicatorOptions>({ timeoutSeconds: true });

/**
 * The communicator of this process's rank, when all ranks have come. Throws `RendezvousError` naming the ranks that
 * did not come in time or have another world size; `ArgumentError` for an emulator among several ranks;
 * `NcclNotFoundError`, `NcclError`, `PermissionError`.
 */
export async function openCommunicator(
  device: Device,
  { rank, size, rendezvous }: Omit<RankPlan, "localRank"> & Partial<RankPlan>,
  options: OpenCommunicatorOptions = {},
): Promise<Communicator> {
  expectBranded<Device>("device", device, "device");
  checkOptions("options of openCommunicator", options, OPEN_OPTIONS);
  expectInteger("size", size, 1);
  expectInteger("rank", rank, 0, size - 1);
  const deadline = Date.now() + 1000 * (options.timeoutSeconds ?? 60);
  if (device.info.kind === "emulator" && size > 1) {
    throw new ArgumentError({
      argument: "device",
      expected: `a GPU for rank ${rank} of ${size}`,
      actual: device.label,
    }, { hint: "several emulators communicate in one process: openCommunicators([…])" });
  }
  if (device.info.kind === "emulator") return first(openCommunicators([device]));
  const library = openNcclLibrary(ncclLibraries());
  try {
    device.enter();
    const id = await meet(rendezvous, { rank, size, makeId: () => makeId(library), deadline });
    const transport = await openRank(device, { rank, size, id }, library, deadline);
    return first(makeCommunicators([{ device, rank }], size, transport));
  } catch (error) {
    library.close();
    throw error;
  }
}

function first(communicators: readonly Communicator[]): Communicator {
  const [one] = communicators;
  if (one === undefined) throw new TypeError("there is no communicator");
  return one;
}

/** An id for `{ kind: "id" }`, to be passed to other processes. The process must live until all ranks have come. */
export function uniqueId(): Uint8Array<ArrayBuffer> {
  // NCCL answers the ranks from a thread of the library, so it stays open.
  return makeId(openNcclLibrary(ncclLibraries()));
}

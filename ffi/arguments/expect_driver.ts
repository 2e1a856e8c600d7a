/** What callers pass as a driver, and the numbers of its devices. */
import type { Driver } from "../driver.ts";
import { ArgumentError, EMULATOR_REQUEST, NoDeviceError } from "../errors.ts";
import { describeValue } from "./values.ts";

/** What a driver must have; `satisfies` below finds one that is missing here. */
const DRIVER_METHODS = {
  deviceCount: true,
  deviceInfo: true,
  memoryInfo: true,
  retainContext: true,
  releaseContext: true,
  makeCurrent: true,
  synchronize: true,
  allocate: true,
  free: true,
  memoryAt: true,
  exportMemory: true,
  importMemory: true,
  closeMemory: true,
  pin: true,
  unpin: true,
  copyToDevice: true,
  copyToHost: true,
  copyOnDevice: true,
  fill: true,
  createStream: true,
  destroyStream: true,
  synchronizeStream: true,
  isStreamDone: true,
  waitForEvent: true,
  createEvent: true,
  destroyEvent: true,
  recordEvent: true,
  synchronizeEvent: true,
  isEventDone: true,
  elapsedMilliseconds: true,
  loadModule: true,
  unloadModule: true,
  getFunction: true,
  findVariable: true,
  functionInfo: true,
  prepareLaunch: true,
  encodeTensorMap: true,
  beginCapture: true,
  endCapture: true,
  launchGraph: true,
  destroyGraph: true,
  close: true,
} satisfies Record<
  Exclude<keyof Driver, "name" | "imageKinds" | "watchesMemory" | "describe" | "peers">,
  true
>;

/** Throws `ArgumentError` for what lacks a method of drivers. */
export function expectDriver(driver: unknown): asserts driver is Driver {
  const methods: Readonly<Record<string, unknown>> | undefined =
    typeof driver === "object" && driver !== null
      ? driver as Readonly<Record<string, unknown>>
      : undefined;
  const lacks = Object.keys(DRIVER_METHODS).find((name) => typeof methods?.[name] !== "function");
  if (lacks === undefined) return;
  throw new ArgumentError({
    argument: "driver of fromDriver",
    expected: "an object with the methods of Driver",
    actual: methods === undefined
      ? describeValue(driver)
      : `${describeValue(driver)} without ${lacks}()`,
  });
}

/** Throws `NoDeviceError` where the driver has no device of this number. */
export function checkOrdinal(driver: Driver, ordinal: number): number {
  const count = driver.deviceCount();
  if (Number.isInteger(ordinal) && ordinal >= 0 && ordinal < count) return ordinal;
  if (count === 0) {
    throw new NoDeviceError("No CUDA device: the driver works but sees no GPU", {
      hint: `check \`nvidia-smi\` and CUDA_VISIBLE_DEVICES; without a GPU, ${EMULATOR_REQUEST}`,
    });
  }
  throw new NoDeviceError(
    `No CUDA device ${describeValue(ordinal)}: ${count} found, numbered from 0`,
    {
      hint: `use a device number from 0 to ${count - 1}; CUDA_VISIBLE_DEVICES may hide others`,
    },
  );
}

/**
 * Which device a program gets. The option `device` decides, else the variable TRI_DEVICE, else what is there: a
 * GPU, or the emulator where there is none. A program that asks for a GPU gets one or an error, never the emulator; and
 * a driver that is installed but does not work is an error too, because it is expected to work.
 */
import { printNotice } from "./notice.ts";
import { runtime } from "#runtime";
import { cudaLibraries, openCudaDriver } from "./cuda/library.ts";
import type { Driver } from "./driver.ts";
import { openEmulator } from "../emulator/driver/mod.ts";
import type { EmulatorSettings } from "../emulator/driver/settings.ts";
import {
  ArgumentError,
  DriverFailedError,
  DriverNotFoundError,
  NoDeviceError,
  TriError,
} from "./errors.ts";
import { checkOptions, optionNames, own } from "./arguments/options.ts";
import type { AllowedLibraries } from "./runtime/runtime.ts";
import { spawnWorker } from "./threads/spawn.ts";
import { describeValue } from "./arguments/values.ts";

/** A device by name: the emulator, any GPU, the first CUDA GPU, or a GPU by number. */
export type DeviceName = "emulator" | "gpu" | "cuda" | `cuda:${number}`;

/** Which device to open, and what the emulator does if it is the emulator. */
export interface OpenOptions extends EmulatorSettings {
  /**
   * A name or a GPU's number. When absent, the environment variable TRI_DEVICE says it by name if the program may
   * read it; else it is a GPU if there is one, and the emulator if not. "gpu" is any GPU, never the emulator.
   */
  readonly device?: DeviceName | number | undefined;
  /**
   * False: no line on stderr where neither the program nor TRI_DEVICE asks for a device and the emulator is taken
   * because there is no GPU.
   */
  readonly notice?: boolean | undefined;
}

const OPEN_OPTIONS = optionNames<OpenOptions>({
  device: true,
  notice: true,
  arch: true,
  checks: true,
  budget: true,
  workers: true,
  print: true,
  warn: true,
  debug: true,
});

/** A driver with the device to open on it. */
export interface OpenDriver {
  readonly kind: "open";
  readonly driver: Driver;
  readonly ordinal: number;
  /** Why it is this one, as a clause. */
  readonly why: string;
}

/** What choosing needs of the machine. */
export interface Machine {
  readVariable(name: string): string | undefined;
  /** Where the driver's library may be. */
  readonly libraries: readonly string[];
  /** Those that may be opened without asking the user. */
  allowed(libraries: readonly string[]): AllowedLibraries;
  openCuda(libraries: readonly string[]): Driver;
  openEmulator(settings: EmulatorSettings): Driver;
  /** Prints a line to stderr. */
  print(line: string): void;
}

const THIS_MACHINE: Machine = {
  readVariable: runtime.readVariable,
  libraries: cudaLibraries(),
  allowed: runtime.allowedLibraries,
  openCuda: openCudaDriver,
  openEmulator: (settings) => openEmulator(settings, spawnWorker),
  print: printNotice,
};

/** The driver and device that the options, the environment and the machine call for. */
export function chooseDriver(options: OpenOptions, machine: Machine = THIS_MACHINE): OpenDriver {
  checkOptions("options of Device.open", options, OPEN_OPTIONS);
  const device = own(options, "device");
  const notice = own(options, "notice");
  if (notice !== undefined && typeof notice !== "boolean") {
    const [expected, actual] = ["true or false", describeValue(notice)];
    throw new ArgumentError({ argument: "notice", expected, actual });
  }
  const settings = settingsOf(options);
  const asked = askedFor(device, machine);
  const choice = asked ?? findCuda(machine);
  if (choice.kind === "open") return choice;
  if (choice.kind === "emulator") {
    const driver = machine.openEmulator(settings);
    if (asked === undefined && notice !== false) machine.print(noticeOf(driver, choice.why));
    return { kind: "open", driver, ordinal: 0, why: choice.why };
  }
  if (device !== undefined) refuseSettings(settings);
  const { ordinal, why } = choice;
  return { kind: "open", driver: machine.openCuda(machine.libraries), ordinal, why };
}

/** The emulator is slow, so a program that did not ask for it says that it runs there. */
function noticeOf(driver: Driver, why: string): string {
  const { name } = driver.deviceInfo(0);
  return `tri: using ${name}, because ${why}. TRI_DEVICE=gpu demands a GPU, ` +
    "TRI_DEVICE=emulator or { notice: false } hides this line.";
}

/** Own properties alone, also for those who read them. */
function settingsOf(options: OpenOptions): EmulatorSettings {
  const { device: _device, notice: _notice, ...settings } = options;
  for (const [argument, takes] of [["print", "text"], ["warn", "a warning"]] as const) {
    const value: unknown = own(settings, argument);
    if (value === undefined || typeof value === "function") continue;
    const expected = `a function that takes ${takes}`;
    throw new ArgumentError({ argument, expected, actual: describeValue(value) });
  }
  return Object.setPrototypeOf(settings, null);
}

type Choice =
  | { readonly kind: "emulator"; readonly why: string }
  | { readonly kind: "cuda"; readonly ordinal: number; readonly why: string };

/** What the program or the environment says. */
function askedFor(device: unknown, machine: Machine): Choice | undefined {
  if (device !== undefined) {
    return { ...parseDevice(device, "device"), why: "the program asks for it" };
  }
  const variable = machine.readVariable("TRI_DEVICE");
  if (variable === undefined) return undefined;
  return { ...parseDevice(variable, "TRI_DEVICE"), why: `TRI_DEVICE is ${variable}` };
}

type Asked = { readonly kind: "emulator" } | { readonly kind: "cuda"; readonly ordinal: number };

function parseDevice(device: unknown, argument: string): Asked {
  if (device === "emulator") return { kind: "emulator" };
  if (device === "gpu") return { kind: "cuda", ordinal: 0 };
  const ordinal = typeof device === "number"
    ? device
    : typeof device === "string"
    ? /^cuda(?::(\d+))?$/.exec(device)
    : null;
  if (typeof ordinal === "number") return { kind: "cuda", ordinal };
  if (ordinal !== null) return { kind: "cuda", ordinal: Number(ordinal[1] ?? 0) };
  const number = argument === "device" ? ", or a GPU's number" : "";
  throw new ArgumentError({
    argument,
    expected: `"emulator", "gpu" (any), "cuda" (the first GPU), "cuda:1" (by number)${number}`,
    actual: describeValue(device),
  });
}

/** What the program says of an emulator means nothing to the GPU that it asks for. */
function refuseSettings(settings: EmulatorSettings): void {
  const [first] = Object.entries(settings).filter(([, value]) => value !== undefined);
  if (first === undefined) return;
  throw new ArgumentError({
    argument: first[0],
    expected: 'nothing beside a GPU; it is an option of { device: "emulator" }',
    actual: describeValue(first[1]),
  });
}

/** The first GPU, or the emulator if there is none. Throws where there is one and it does not work. */
function findCuda(machine: Machine): OpenDriver | Choice {
  const emulator = (why: string): Choice => ({ kind: "emulator", why });
  const { libraries } = machine;
  if (libraries.length === 0) return emulator("NVIDIA has no driver for this system");
  const { paths: allowed, lacks } = machine.allowed(libraries);
  if (allowed.length === 0) return emulator(lacks);
  try {
    const driver = machine.openCuda(allowed);
    const count = driver.deviceCount();
    if (count > 0) {
      const why = count === 1 ? "there is a GPU" : `it is the first of ${count} GPUs`;
      return { kind: "open", driver, ordinal: 0, why };
    }
    driver.close();
    return emulator("the NVIDIA driver sees no GPU");
  } catch (error) {
    if (error instanceof DriverNotFoundError) {
      return emulator(
        allowed.length === libraries.length
          ? `there is no NVIDIA driver (${libraries[0]})`
          : `the NVIDIA driver is not where the program may load it from (${allowed.join(", ")})`,
      );
    }
    if (error instanceof NoDeviceError) return emulator("the NVIDIA driver sees no GPU");
    if (!(error instanceof TriError) || error instanceof DriverFailedError) throw error;
    const [problem = error.message] = error.message.split("\nhint: ");
    throw new DriverFailedError(problem, { hint: error.hint, cause: error });
  }
}

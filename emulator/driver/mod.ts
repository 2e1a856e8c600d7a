/** The emulator as a driver. In: calls of the interface `ffi/driver.ts`. Out: memory, launches, and errors of `ffi`. */
import type { Driver } from "../../ffi/driver.ts";
import { setPrinter } from "../calls/mod.ts";
import { createEmulator } from "../launch.ts";
import type { Spawn } from "../workers/pool.ts";
import { EmulatorDriver } from "./driver.ts";
import { type EmulatorSettings, resolveSettings } from "./settings.ts";

/**
 * A new emulator with memory of its own; throws `ArgumentError` for settings that it does not know. Without a way to
 * start threads, all blocks run in the calling one.
 */
export function openEmulator(settings: EmulatorSettings = {}, spawn?: Spawn): Driver {
  const resolved = resolveSettings(settings);
  const emulator = createEmulator(spawn === undefined ? {} : { spawn });
  if (settings.print !== undefined) setPrinter(emulator.machine, settings.print);
  return new EmulatorDriver(emulator, resolved, settings.warn);
}

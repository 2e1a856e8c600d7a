/** Opening the emulator. */
import type { Driver } from "../../driver.ts";
import { createEmulator } from "../launch.ts";
import { EmulatorDriver } from "./driver.ts";
import { type EmulatorSettings, resolveSettings } from "./settings.ts";

/** A new emulator with memory of its own; throws `ArgumentError` for settings that it does not know. */
export function openEmulator(settings: EmulatorSettings = {}): Driver {
  const resolved = resolveSettings(settings);
  return new EmulatorDriver(createEmulator(), resolved);
}

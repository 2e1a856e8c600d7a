/** Opening the emulator. */
import type { Driver } from "../../driver.ts";
import { createEmulator } from "../launch.ts";
import type { Spawn } from "../workers/team.ts";
import { EmulatorDriver } from "./driver.ts";
import { type EmulatorSettings, resolveSettings } from "./settings.ts";

/**
 * A new emulator with memory of its own; throws `ArgumentError` for settings that it does not know. Without a way to
 * start threads, all blocks run in the calling one.
 */
export function openEmulator(settings: EmulatorSettings = {}, spawn?: Spawn): Driver {
  const resolved = resolveSettings(settings);
  return new EmulatorDriver(createEmulator(spawn === undefined ? {} : { spawn }), resolved);
}

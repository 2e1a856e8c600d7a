/** A device for each target that is built, so that every image runs. */
import { type TargetName, TARGETS } from "../../compiler/targets.ts";
import { EmulatorDriver } from "../../ffi/emulator/driver/driver.ts";
import { resolveSettings } from "../../ffi/emulator/driver/settings.ts";
import { createEmulator } from "../../ffi/emulator/launch.ts";
import { Device, type DeviceInfo } from "../../ffi/mod.ts";

/** Images for sm_90a go before those for sm_90; to a device that calls itself later, they are none. */
class LaterDriver extends EmulatorDriver {
  override deviceInfo(ordinal: number): DeviceInfo {
    return { ...super.deviceInfo(ordinal), sm: 99 };
  }
}

/** A device that runs the target's image. */
function deviceFor(target: TargetName): Device {
  if (target === "sm_90") {
    return Device.fromDriver(new LaterDriver(createEmulator(), resolveSettings({ arch: "sm_90" })));
  }
  return Device.open({ device: "emulator", arch: target.replace(/a$/, "") });
}

/** Declares a test for each target; `{}` in the title stands for it. */
export function everyTarget(title: string, fn: (device: Device) => void): void {
  for (const target of Object.keys(TARGETS) as TargetName[]) {
    Deno.test(title.replace("{}", target), () => {
      using device = deviceFor(target);
      fn(device);
    });
  }
}

/** A device for each distinct image that is built, so that all code runs and none runs twice. */
import { must } from "../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../compiler/targets.ts";
import { EmulatorDriver } from "../../emulator/driver/driver.ts";
import { resolveSettings } from "../../emulator/driver/settings.ts";
import { createEmulator } from "../../emulator/launch.ts";
import { Device, type DeviceInfo } from "../../ffi/mod.ts";
import { assert } from "../support/assert.ts";

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

/** A source's PTX for a target, all its kernels, without what names the target. */
function bodiesOf(source: string, target: TargetName): string {
  const folder = new URL(`../../generated/${source}/`, import.meta.url);
  const images = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(`.${target}.ptx`)).toSorted();
  assert(images.length > 0, `${source} is not built for ${target}: deno task build-kernels`);
  return images.map((name) => Deno.readTextFileSync(new URL(name, folder))).join("")
    .replaceAll(/^(?:\.(?:version|target) .*|\/\/.*)$/gm, "");
}

/**
 * Declares a test for each group of targets that have the same code of these sources (files of kernels/, without `.tc`); the
 * first target of a group runs. `{}` in the title stands for the group.
 */
export function everyTarget(
  title: string,
  sources: readonly string[],
  fn: (device: Device) => void,
): void {
  const groups = Map.groupBy(
    Object.keys(TARGETS) as TargetName[],
    (target) => sources.map((source) => bodiesOf(source, target)).join(""),
  );
  for (const targets of groups.values()) {
    Deno.test(title.replace("{}", targets.join(", ")), () => {
      using device = deviceFor(must(targets[0], "target"));
      fn(device);
    });
  }
}

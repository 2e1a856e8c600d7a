/** A device for each distinct image that is built, so that all code runs and none runs twice. */
import { must } from "../../compiler/support/bug.ts";
import type { TargetName } from "../../compiler/targets.ts";
import { EmulatorDriver } from "../../emulator/driver/driver.ts";
import { resolveSettings } from "../../emulator/driver/settings.ts";
import { createEmulator } from "../../emulator/launch.ts";
import { Device, type DeviceInfo } from "../../ffi/mod.ts";
import { assert } from "../support/assert.ts";
import { sampled } from "../support/sampled.ts";
import { entriesOf, groupTargets, TARGET_NAMES, type TargetGroup } from "../support/targets.ts";

/** Images for sm_90a go before those for sm_90; to a device that calls itself later, they are none. */
class LaterDriver extends EmulatorDriver {
  override deviceInfo(ordinal: number): DeviceInfo {
    return { ...super.deviceInfo(ordinal), sm: 99 };
  }
}

/** Suites run side by side, so threads that help one launch only take time from others; tests/emulator/workers tries them. */
const workers = 1;

/** How many of up to ten different images a run tries; the PTX of every target is compared and assembled elsewhere. */
const GROUPS = 1;

/** A device that runs the target's image. */
export function deviceFor(target: TargetName): Device {
  if (target === "sm_90") {
    const settings = resolveSettings({ arch: "sm_90", workers });
    return Device.fromDriver(new LaterDriver(createEmulator(), settings));
  }
  return Device.open({ device: "emulator", arch: target.replace(/a$/, ""), workers });
}

/** One for all tests of a file: loading an image takes longer than most launches of it. */
const devices = new Map<TargetName, Device>();
Deno.test.afterAll(() => {
  for (const device of devices.values()) device[Symbol.dispose]();
});

function sharedDevice(target: TargetName): Device {
  const known = devices.get(target);
  if (known !== undefined) return known;
  const device = deviceFor(target);
  devices.set(target, device);
  return device;
}

/** A source's modules for a target, as text. */
function imagesOf(source: string, target: TargetName): string[] {
  const folder = new URL(`../../generated/${source}/`, import.meta.url);
  const images = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(`.${target}.ptx`)).toSorted();
  assert(images.length > 0, `${source} is not built for ${target}: deno task build-kernels`);
  return images.map((name) => Deno.readTextFileSync(new URL(name, folder)));
}

/**
 * Declares a test for each group of targets that have the same code of these sources (files of kernels/, without `.tc`); the
 * first target of a group runs. `{}` in the title is the group. The seed of the run chooses so many of the groups.
 */
export function everyTarget(
  title: string,
  sources: readonly string[],
  fn: (device: Device) => void,
): void {
  const groups = groupTargets((target) =>
    sources.flatMap((source) => imagesOf(source, target)).join("")
  );
  for (const { first, targets } of sampled(groups, GROUPS, saltOf(title))) {
    Deno.test(title.replace("{}", targets.join(", ")), () => fn(sharedDevice(first)));
  }
}

/**
 * The same where `fn` runs one variant: targets whose entries of a variant are equal run it once, although their other variants
 * may differ. The seed of the run chooses which of the different entries of a variant run.
 */
export function everyVariant<Variant extends string>(
  title: string,
  source: string,
  variants: readonly Variant[],
  fn: (device: Device, variant: Variant) => void,
): void {
  const images = new Map(TARGET_NAMES.map((name) => [name, imagesOf(source, name)]));
  const groups = variants.flatMap((variant, salt) => {
    const ptxOf = (target: TargetName): string =>
      must(images.get(target), target).map((ptx) => entriesOf(ptx, variant)).join("");
    return sampled(groupTargets(ptxOf), GROUPS, saltOf(title) + salt).map((group) => ({
      ...group,
      variant,
    }));
  });
  for (const [first, runs] of Map.groupBy(groups, (group) => group.first)) {
    Deno.test(title.replace("{}", describeRuns(runs, variants.length)), () => {
      for (const { variant } of runs) fn(sharedDevice(first), variant);
    });
  }
}

/** Tests choose their targets apart from each other, so that a run has code for all generations. */
function saltOf(title: string): number {
  return [...title].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0) | 0, 0);
}

/** `sm_86, sm_89`; where variants are shared by different targets, `sm_80, sm_90 (float32) and sm_80 (float16)`. */
function describeRuns(
  runs: readonly (TargetGroup & { readonly variant: string })[],
  variants: number,
): string {
  return [...Map.groupBy(runs, ({ targets }) => targets.join(", "))].map(([targets, equal]) =>
    equal.length === variants
      ? targets
      : `${targets} (${equal.map((one) => one.variant).join(", ")})`
  ).join(" and ");
}

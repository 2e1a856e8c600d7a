/** Devices for the images that are built: for each distinct one, so that none runs twice, or for a sample. */
import type { TargetName } from "../../compiler/targets.ts";
import { EmulatorDriver } from "../../emulator/driver/driver.ts";
import { resolveSettings } from "../../emulator/driver/settings.ts";
import { createEmulator } from "../../emulator/launch.ts";
import { Device, type DeviceInfo } from "../../ffi/mod.ts";
import { assert } from "../support/assert.ts";
import { sampled, TAKES_ALL } from "../support/sampled.ts";
import { entriesOf, groupTargets, TARGET_NAMES, type TargetGroup } from "../support/targets.ts";

/** Images for sm_90a go before those for sm_90; to a device that calls itself later, they are none. */
class LaterDriver extends EmulatorDriver {
  override deviceInfo(ordinal: number): DeviceInfo {
    return { ...super.deviceInfo(ordinal), sm: 99 };
  }
}

/** Suites run side by side, so threads that help one launch only take time from others; tests/emulator/workers tries them. */
const workers = 1;

/** How many of the targets a run tries; the PTX of every target is compared and assembled elsewhere. */
const SAMPLE = 1;

/** A device that runs the target's image. */
export function deviceFor(target: TargetName): Device {
  if (target === "sm_90") {
    const settings = resolveSettings({ arch: "sm_90", workers });
    return Device.fromDriver(new LaterDriver(createEmulator(), settings));
  }
  return Device.open({ device: "emulator", arch: target.replace(/a$/, ""), workers });
}

/** Those of the tests that run now: loading an image takes longer than most launches of it, and images are large. */
const devices = new Map<TargetName, Device>();
let loaded = "";
Deno.test.afterAll(disposeAll);

function disposeAll(): void {
  for (const device of devices.values()) device[Symbol.dispose]();
  devices.clear();
}

/** One for all tests of these sources. */
function sharedDevice(target: TargetName, sources: string): Device {
  if (loaded !== sources) disposeAll();
  loaded = sources;
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
 * Declares a test for a target, or with TRI_SAMPLES=all for each group of targets that have the same code of these sources (files
 * of kernels/, without `.tc`); the first target of a group runs. `{}` in the title is the group.
 */
export function everyTarget(
  title: string,
  sources: readonly string[],
  fn: (device: Device) => void,
): void {
  const groups = chosenTargets(
    (target) => sources.flatMap((source) => imagesOf(source, target)).join(""),
    saltOf(sources.join()),
  );
  for (const { first, targets } of groups) {
    Deno.test(
      title.replace("{}", targets.join(", ")),
      () => fn(sharedDevice(first, sources.join())),
    );
  }
}

/**
 * The same where `fn` runs one variant: targets whose entries of a variant are equal run it once, although their other variants
 * may differ. A run tries a third of the variants.
 */
export function everyVariant<Variant extends string>(
  title: string,
  source: string,
  variants: readonly Variant[],
  fn: (device: Device, variant: Variant) => void,
): void {
  const tried = sampled(variants, Math.ceil(variants.length / 3), saltOf(title));
  const groups = tried.flatMap((variant) => {
    const ptxOf = (target: TargetName): string =>
      imagesOf(source, target).map((ptx) => entriesOf(ptx, variant)).join("");
    return chosenTargets(ptxOf, saltOf(source + variant)).map((group) => ({ ...group, variant }));
  });
  for (const [first, runs] of Map.groupBy(groups, (group) => group.first)) {
    Deno.test(title.replace("{}", describeRuns(runs, tried.length)), () => {
      for (const { variant } of runs) fn(sharedDevice(first, source), variant);
    });
  }
}

/** Targets by their code, or a sample of the targets, for which no code is compared. */
function chosenTargets(ptxOf: (target: TargetName) => string, salt: number): TargetGroup[] {
  if (TAKES_ALL) return groupTargets(ptxOf);
  return sampled(TARGET_NAMES, SAMPLE, salt).map((name) => ({ first: name, targets: [name] }));
}

/**
 * Sources and variants choose their targets apart from each other, so that a run has code for all generations; tests of one
 * source share images.
 */
function saltOf(source: string): number {
  return [...source].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0) | 0, 0);
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

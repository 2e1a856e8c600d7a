/** A launch on a GPU whose sizes are far from all that were timed: the choice of its configuration is a guess. */
import { runtime } from "#runtime";
import type { DeviceInfo } from "../../driver.ts";
import { printNotice } from "../../notice.ts";

/** Nearer timings decide well, by the measurements in docs/tuning.md. */
const FAR = 2;

/** A launch, and the nearest key that was timed; numbers in the order of `key`. */
export interface Lookup {
  readonly kernel: string;
  readonly key: readonly string[];
  readonly wanted: readonly number[];
  readonly nearest: readonly number[];
  readonly device: Pick<DeviceInfo, "kind" | "name">;
}

/** The line for a lookup whose nearest timing is more than a factor of two away in some parameter, else undefined. */
export function farTiming({ kernel, key, wanted, nearest, device }: Lookup): string | undefined {
  const factors = wanted.map((value, axis) => {
    const [a, b] = [Math.max(Math.abs(value), 1), Math.max(Math.abs(nearest[axis] ?? 0), 1)];
    return Math.max(a / b, b / a);
  });
  const factor = Math.max(...factors);
  if (!(factor > FAR)) return undefined;
  const text = (values: readonly number[], separator: string): string =>
    key.map((name, axis) => `${name}=${values[axis]}`).join(separator);
  return `tri: ${kernel} with ${text(wanted, ", ")}: the nearest timing on ${device.name} is for ` +
    `${text(nearest, ", ")}, a factor of ${Number(factor.toPrecision(2))} away. ` +
    `tri tune --size ${text(wanted, ",")} times this size; TRI_TUNE_NOTICE=off hides this line.`;
}

/** GPUs and kernels that had their line: one for each, since sizes may change with every launch. */
const noticed = new Set<string>();

/** Prints the line, once for a kernel and GPU. The emulator's times are not those of a GPU, so there it says nothing. */
export function noticeFarTiming(lookup: Lookup): void {
  const { kernel, device } = lookup;
  if (device.kind !== "gpu") return;
  const id = `${device.name}: ${kernel}`;
  if (noticed.has(id)) return;
  const line = farTiming(lookup);
  if (line === undefined) return;
  noticed.add(id);
  if (runtime.readVariable("TRI_TUNE_NOTICE") !== "off") printNotice(line);
}

/**
 * Which values are objects of the run time. Each class registers a test for its private fields, which no look-alike,
 * Proxy or bare prototype passes, so that methods can refuse those before they touch anything. A registry rather than
 * imports, because most of these classes know each other.
 */
import type { DeviceBuffer } from "./buffer.ts";
import type { Device } from "./device.ts";
import { ArgumentError } from "./errors.ts";
import type { DeviceEvent } from "./event.ts";
import type { KernelModule } from "./module.ts";
import type { Stream } from "./stream.ts";
import type { Tensor } from "./tensor.ts";
import { describeValue } from "./values.ts";

interface Branded {
  buffer: DeviceBuffer;
  device: Device;
  event: DeviceEvent;
  module: KernelModule;
  stream: Stream;
  tensor: Tensor;
}

/** What messages call them, and how programs get one. */
const EXPECTED: { readonly [K in keyof Branded]: string } = {
  buffer: "the buffer of a tensor",
  device: "a device, as `Device.open()` returns",
  event: "an event, as `device.event()` returns",
  module: "a module, as `device.loadModule()` returns",
  stream: "a stream, as `device.stream()` returns",
  tensor: "a tensor",
};

const tests = new Map<keyof Branded, (value: object) => boolean>();

/** For the static block of a class: says which objects are its own. */
export function registerBrand(kind: keyof Branded, test: (value: object) => boolean): void {
  tests.set(kind, test);
}

/** Whether the value is an object of the run time, of this kind. */
export function isBranded<K extends keyof Branded>(kind: K, value: unknown): value is Branded[K] {
  return typeof value === "object" && value !== null && tests.get(kind)?.(value) === true;
}

/** Throws `ArgumentError` for what is something else. */
export function expectBranded<K extends keyof Branded>(
  kind: K,
  value: unknown,
  argument: string,
): asserts value is Branded[K] {
  if (isBranded(kind, value)) return;
  throw new ArgumentError({ argument, expected: EXPECTED[kind], actual: nameValue(value) });
}

/** For messages: what a caller passed, objects of the run time by what they are. */
export function nameValue(value: unknown): string {
  for (const [kind, test] of tests) {
    if (typeof value !== "object" || value === null || !test(value)) continue;
    return isBranded("tensor", value) ? `tensor ${value}` : `a ${kind}`;
  }
  return describeValue(value);
}

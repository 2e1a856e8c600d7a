/**
 * Which values are objects of the run time. Each class registers a test for its private fields, which no look-alike,
 * Proxy or bare prototype passes, so that methods can refuse those before they touch anything. A registry rather than
 * imports, because most of these classes refer to each other; callers name the type that goes with a kind.
 */
import { ArgumentError } from "../errors.ts";
import { describeValue } from "./values.ts";

type Kind = "buffer" | "device" | "event" | "module" | "pinned" | "stream" | "tensor";

/** What messages call them, and how programs get one. */
const EXPECTED: Readonly<Record<Kind, string>> = {
  buffer: "the buffer of a tensor",
  device: "a device, as `Device.open()` returns",
  event: "an event, as `device.event()` returns",
  module: "a module, as `device.loadModule()` returns",
  pinned: "a pinned array, as `device.pinned()` returns",
  stream: "a stream, as `device.stream()` returns",
  tensor: "a tensor",
};

const tests = new Map<Kind, (value: object) => boolean>();

/** For the static block of a class: says which objects are its own. */
export function registerBrand(kind: Kind, test: (value: object) => boolean): void {
  tests.set(kind, test);
}

/** Whether the value is an object of the run time, of this kind. */
export function isBranded<T extends object>(kind: Kind, value: unknown): value is T {
  return typeof value === "object" && value !== null && tests.get(kind)?.(value) === true;
}

/** Throws `ArgumentError` for what is something else. */
export function expectBranded<T extends object>(
  kind: Kind,
  value: unknown,
  argument: string,
): asserts value is T {
  if (isBranded(kind, value)) return;
  throw new ArgumentError({ argument, expected: EXPECTED[kind], actual: nameValue(value) });
}

/** For messages: what a caller passed, objects of the run time by what they are. */
export function nameValue(value: unknown): string {
  for (const [kind, test] of tests) {
    if (typeof value !== "object" || value === null || !test(value)) continue;
    return kind === "tensor" ? `tensor ${value}` : `a ${kind}`;
  }
  return describeValue(value);
}

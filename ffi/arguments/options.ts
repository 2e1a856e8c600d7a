/**
 * Objects whose properties are named arguments: options of a call, parameters of a kernel. A name that means nothing is
 * a mistake and not ignored. Only own properties count: properties of `Object.prototype` are not arguments.
 */
import { nearest } from "../../compiler/support/spelling.ts";
import { nameValue } from "./brands.ts";
import { ArgumentError } from "../errors.ts";

/** Values by name, as callers pass them. */
export type NamedValues = Readonly<Record<string, unknown>>;

/** The names that options of type `T` have; TypeScript refuses one too few or too many. */
export function optionNames<T>(
  names: { readonly [K in keyof Required<T>]: true },
): ReadonlySet<string> {
  return new Set(Object.keys(names));
}

/** Throws `ArgumentError` for what is no plain object, and for a name that is not known. Makes no garbage. */
export function checkOptions(
  argument: string,
  options: unknown,
  known: ReadonlySet<string>,
): void {
  if (!isPlain(options)) throw notPlain(argument, options, known);
  for (const name in options) {
    if (!known.has(name) && Object.hasOwn(options, name)) throw unknownName(argument, name, known);
  }
}

/** The value of an own property; undefined where there is none. */
export function own<T extends object, K extends keyof T>(options: T, name: K): T[K] | undefined {
  return Object.hasOwn(options, name) ? options[name] : undefined;
}

/** A literal, or what JSON and object spread make; also of another realm. */
function isPlain(value: unknown): value is NamedValues {
  if (typeof value !== "object" || value === null) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === Object.prototype || prototype === null ||
      Object.getPrototypeOf(prototype) === null &&
        Object.hasOwn(Object(prototype), "hasOwnProperty");
  } catch {
    // A revoked Proxy.
    return false;
  }
}

function notPlain(argument: string, value: unknown, known: ReadonlySet<string>): ArgumentError {
  const names = known.size === 0 ? "without properties" : `with ${[...known].join(", ")}`;
  return new ArgumentError({
    argument,
    expected: `a plain object ${names}`,
    actual: nameValue(value),
  });
}

function unknownName(argument: string, name: string, known: ReadonlySet<string>): ArgumentError {
  const near = nearest(name, known);
  return new ArgumentError({
    argument,
    expected: known.size === 0 ? "nothing" : `nothing but ${[...known].join(", ")}`,
    actual: JSON.stringify(name),
  }, near === undefined ? {} : { hint: `did you mean \`${near}\`?` });
}

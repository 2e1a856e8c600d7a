/** The part of `@std/assert` that the tests use. */
export class AssertionError extends Error {}
export function assert(value: unknown, message?: string): asserts value;
export function assertEquals<T>(actual: T, expected: T, message?: string): void;
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
export function assertMatch(actual: string, expected: RegExp, message?: string): void;
export function assertStringIncludes(actual: string, expected: string, message?: string): void;
export function assertThrows<E extends Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any -- a class of errors may take any constructor arguments
  errorClass?: new (...args: any[]) => E,
  includes?: string,
): E;
export function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any -- as above
  errorClass?: new (...args: any[]) => E,
  includes?: string,
): Promise<E>;

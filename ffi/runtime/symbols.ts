/** Binding the functions of a library one by one, where a runtime's FFI has no optional ones. */
import type { BoundFunctions, ForeignFunctions, ForeignType } from "../foreign.ts";

/** Finds a function; throws if there is none of that name. */
export type Bind = (
  name: string,
  parameters: readonly ForeignType[],
  result: ForeignType,
) => (...args: never[]) => unknown;

/** Every function; optional ones are null when missing. */
export function bindSymbols<F extends ForeignFunctions>(
  bind: Bind,
  functions: F,
): BoundFunctions<F> {
  const bound = Object.entries(functions).map(([name, { parameters, result, optional }]) => {
    try {
      return [name, bind(name, parameters, result)];
    } catch (error) {
      if (optional === true) return [name, null];
      throw error;
    }
  });
  // What the entries are follows from `functions`, but not for the type checker.
  return Object.fromEntries(bound);
}

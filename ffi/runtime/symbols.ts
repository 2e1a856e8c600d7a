/** Binding the functions of `ffi/cuda/symbols.ts` one by one, where a runtime's FFI knows no optional ones. */
import { type CudaSymbols, type ForeignType, SYMBOLS } from "../cuda/symbols.ts";

/** Finds a function; throws if there is none of that name. */
export type Bind = (
  name: string,
  parameters: readonly ForeignType[],
  result: ForeignType,
) => (...args: never[]) => unknown;

/** Every function; optional ones are null when missing. */
export function bindSymbols(bind: Bind): CudaSymbols {
  const functions = Object.entries(SYMBOLS).map(([name, symbol]) => {
    try {
      return [name, bind(name, symbol.parameters, symbol.result)];
    } catch (error) {
      if ("optional" in symbol) return [name, null];
      throw error;
    }
  });
  // What the entries are follows from SYMBOLS, but not for the type checker.
  return Object.fromEntries(functions);
}

/** Initial values of a module's variables. */
import type { PtxVariable } from "../../compiler/ptx/func.ts";
import type { Machine } from "../machine.ts";
import { genericAddress, type SymbolLocation } from "./context.ts";
import { typeBytes } from "./symbols.ts";

/** Writes the initial values of a variable to its location; the rest is zero already. */
export function writeInitial(
  machine: Machine,
  variable: PtxVariable,
  locations: ReadonlyMap<string, SymbolLocation>,
): void {
  const at = locations.get(variable.name)?.location;
  if (at === undefined || variable.initial === undefined) return;
  const bytes = typeBytes(variable.type);
  const { u8 } = machine.views;
  for (const [i, initial] of variable.initial.entries()) {
    let value: bigint;
    if (typeof initial === "bigint") value = initial;
    else {
      const symbol = locations.get(initial.symbol);
      if (symbol === undefined) continue;
      const isGeneric = initial.generic || symbol.space === "global" || symbol.space === "function";
      value = (isGeneric ? genericAddress(symbol) : BigInt(symbol.location)) + initial.offset;
      for (let mask = initial.mask ?? 1n; (mask & 1n) === 0n; mask >>= 1n) value >>= 1n;
    }
    for (let b = 0; b < bytes; b++) {
      u8[at + i * bytes + b] = Number((value >> BigInt(8 * b)) & 255n);
    }
  }
}

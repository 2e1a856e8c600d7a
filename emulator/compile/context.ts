/** Queries of handlers about operands, answered from a register file layout. */
import type { Operand } from "../../compiler/ptx/func.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { Fault, type Site } from "../fault.ts";
import type { AddressRef, HandlerContext, Machine, Surroundings } from "../machine.ts";
import { FUNCTION_WINDOW, WINDOW } from "../memory.ts";
import type { RegisterFileLayout } from "./layout.ts";

/**
 * A variable or parameter: its state space, and its location in memory or its offset in the space. Functions and
 * kernels have a space of their own.
 */
export interface SymbolLocation {
  readonly space: "global" | "shared" | "const" | "local" | "param" | "function";
  readonly location: number;
}

export type Symbols = ReadonlyMap<string, SymbolLocation>;

/** The address that `mov` gives of a symbol: in its state space. */
export function addressOf(symbols: Symbols, name: string): bigint {
  const symbol = symbols.get(name);
  if (symbol === undefined) throw new Fault("unsupported instruction", `address of ${name}`);
  // Addresses of global memory and of functions are generic addresses, as on hardware.
  const isGeneric = symbol.space === "global" || symbol.space === "function";
  return isGeneric ? genericAddress(symbol) : BigInt(symbol.location);
}

/** An address in all of memory. */
export function genericAddress({ space, location }: SymbolLocation): bigint {
  const window = space === "function" ? FUNCTION_WINDOW : WINDOW[space];
  return (BigInt(window) << 32n) | BigInt(location);
}

/** The context of one instruction. */
export function contextFor(
  machine: Machine,
  layout: RegisterFileLayout,
  symbols: Symbols,
  site: Site,
  sm: number,
  surroundings?: Surroundings,
  facts: Pick<HandlerContext, "isUpdate" | "polls" | "isExpected" | "copiedBeside"> = {},
): HandlerContext {
  const row = (operand: Operand, type: TypeName): number => layout.row(operand, type);
  return {
    ...(surroundings === undefined ? {} : { surroundings }),
    machine,
    site,
    sm,
    ...facts,
    row,
    rows: (operand, type) =>
      operand.kind === "vector"
        ? operand.elements.map((element) => row(element, type))
        : [row(operand, type)],
    predicate: (operand) =>
      operand.kind === "negated"
        ? { row: row(operand.operand, "pred"), invert: -1 }
        : { row: row(operand, "pred"), invert: 0 },
    shadow: (operand) => {
      const inner = operand.kind === "negated" ? operand.operand : operand;
      return inner.kind === "register" ? layout.shadow(inner.name) : undefined;
    },
    literal: (operand) => {
      if (operand.kind === "integer") return operand.value;
      throw new Fault("illegal instruction", "a literal is missing", undefined, site);
    },
    address: (operand): AddressRef => {
      if (operand.kind !== "address") {
        throw new Fault("illegal instruction", "an address is missing", undefined, site);
      }
      const { base, offset } = operand;
      if (base?.kind === "register") {
        const bits = TYPES[base.type].bits === 64 ? 64 : 32;
        const type = bits === 64 ? "b64" : "b32";
        return { row: row(base, type), bits, offset: Number(offset), symbol: undefined };
      }
      if (base?.kind === "symbol") {
        const symbol = symbols.get(base.name);
        if (symbol === undefined) {
          throw new Fault("unsupported instruction", `address of ${base.name}`, undefined, site);
        }
        const { location, space } = symbol;
        if (space === "function") {
          throw new Fault("illegal instruction", `${base.name} is no variable`, undefined, site);
        }
        return {
          row: undefined,
          bits: 64,
          offset: location + Number(offset),
          symbol: base.name,
          space,
        };
      }
      return { row: undefined, bits: 64, offset: Number(offset), symbol: undefined };
    },
  };
}

/** Walks through the registers of operands. */
import type { Operand, Register } from "./func.ts";

type Symbol = Extract<Operand, { kind: "symbol" }>;

/** Visits every register that an operand mentions. */
export function forEachRegister(operand: Operand, visit: (register: Register) => void): void {
  switch (operand.kind) {
    case "register":
      visit(operand);
      return;
    case "list":
    case "vector":
      for (const element of operand.elements) forEachRegister(element, visit);
      return;
    case "pair":
      forEachRegister(operand.first, visit);
      forEachRegister(operand.second, visit);
      return;
    case "part":
      visit(operand.register);
      return;
    case "negative":
    case "negated":
      forEachRegister(operand.operand, visit);
      return;
    case "address":
      if (operand.base !== undefined) forEachRegister(operand.base, visit);
      if (operand.sampler !== undefined) forEachRegister(operand.sampler, visit);
      if (operand.coordinates !== undefined) forEachRegister(operand.coordinates, visit);
      return;
    default:
      return;
  }
}

/** The operand with every register replaced, and every symbol if there is something to replace those with. */
export function mapRegisters(
  operand: Operand,
  replace: (register: Register) => Register,
  replaceSymbol?: (symbol: Symbol) => Symbol,
): Operand {
  // Most are registers, which need no function for their parts.
  if (operand.kind === "register") return replace(operand);
  if (operand.kind === "integer") return operand;
  const inner = (part: Operand): Operand => mapRegisters(part, replace, replaceSymbol);
  switch (operand.kind) {
    case "symbol":
      return replaceSymbol?.(operand) ?? operand;
    case "list":
    case "vector":
      return { ...operand, elements: operand.elements.map(inner) };
    case "pair":
      return { ...operand, first: inner(operand.first), second: inner(operand.second) };
    case "part":
      return { ...operand, register: replace(operand.register) };
    case "negative":
    case "negated":
      return { ...operand, operand: inner(operand.operand) };
    case "address":
      // Most have nothing else.
      if (operand.sampler === undefined && operand.coordinates === undefined && !operand.unified) {
        const { kind, base, offset } = operand;
        return base === undefined ? operand : { kind, base: inner(base), offset };
      }
      return {
        ...operand,
        ...(operand.base === undefined ? {} : { base: inner(operand.base) }),
        ...(operand.sampler === undefined ? {} : { sampler: inner(operand.sampler) }),
        ...(operand.coordinates === undefined ? {} : { coordinates: inner(operand.coordinates) }),
      };
    default:
      return operand;
  }
}

/** Visits the name of every symbol that an operand mentions. */
export function forEachSymbol(operand: Operand, visit: (name: string) => void): void {
  switch (operand.kind) {
    case "symbol":
      visit(operand.name);
      return;
    case "list":
    case "vector":
      operand.elements.forEach((element) => forEachSymbol(element, visit));
      return;
    case "address":
      if (operand.base !== undefined) forEachSymbol(operand.base, visit);
      return;
    default:
      return;
  }
}

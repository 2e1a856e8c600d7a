/** Walks through the registers of operands. */
import type { Operand, Register } from "./func.ts";

/** Visits every register that an operand mentions. */
export function forEachRegister(operand: Operand, visit: (register: Register) => void): void {
  switch (operand.kind) {
    case "register":
      visit(operand);
      return;
    case "vector":
      operand.elements.forEach((element) => forEachRegister(element, visit));
      return;
    case "pair":
      forEachRegister(operand.first, visit);
      forEachRegister(operand.second, visit);
      return;
    case "negated":
      forEachRegister(operand.operand, visit);
      return;
    case "address":
      if (operand.base !== undefined) forEachRegister(operand.base, visit);
      if (operand.coordinates !== undefined) forEachRegister(operand.coordinates, visit);
      return;
    default:
      return;
  }
}

/** The operand with every register replaced. */
export function mapRegisters(operand: Operand, replace: (register: Register) => Register): Operand {
  const inner = (part: Operand): Operand => mapRegisters(part, replace);
  switch (operand.kind) {
    case "register":
      return replace(operand);
    case "vector":
      return { ...operand, elements: operand.elements.map(inner) };
    case "pair":
      return { ...operand, first: inner(operand.first), second: inner(operand.second) };
    case "negated":
      return { ...operand, operand: inner(operand.operand) };
    case "address":
      return {
        ...operand,
        ...(operand.base === undefined ? {} : { base: inner(operand.base) }),
        ...(operand.coordinates === undefined ? {} : { coordinates: inner(operand.coordinates) }),
      };
    default:
      return operand;
  }
}

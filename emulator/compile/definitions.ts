/**
 * Where values of a kernel come from: the instructions that define a register, and addresses traced back to what they
 * are computed from, so that two ways to write one address compare equal.
 */
import type { Operand, Register } from "../../compiler/ptx/func.ts";
import { forEachRegister } from "../../compiler/ptx/operand.ts";
import type { Line } from "./lines.ts";

export interface Definitions {
  /** The lines that write a register. */
  of(register: string): readonly Line[];
  /** The address of a load, a store or an atomic operation; undefined if it has no base. */
  location(line: Line): Location | undefined;
  /** The registers that a line passes on unchanged; undefined if it computes something. */
  copied(line: Line): readonly Register[] | undefined;
}

/** An address as far as the text says it: the variable or register that it begins with, and how far it is from there. */
export interface Location {
  readonly base: string;
  readonly offset: bigint;
}

export const sameLocation = (a: Location, b: Location | undefined): boolean =>
  a.base === b?.base && a.offset === b.offset;

/** Steps from an address to what it is computed from. */
const MOST_STEPS = 32;

const COPIES: ReadonlySet<string> = new Set(["mov", "selp", "cvt"]);

export function opcodeOf({ match }: Line): string {
  return typeof match === "string" ? "" : match.opcode;
}

export function operandOf({ match }: Line, name: string): Operand | undefined {
  if (typeof match === "string") return undefined;
  return match.operands.find((operand) => operand.name === name)?.operand;
}

/** Registers that a line reads or writes through its operands. */
export function registersOf({ match }: Line, destination: boolean): Register[] {
  const found: Register[] = [];
  if (typeof match === "string") return found;
  for (const operand of match.operands) {
    if (operand.destination !== destination) continue;
    forEachRegister(operand.operand, (register) => found.push(register));
  }
  return found;
}

export function registersIn(operand: Operand | undefined): Register[] {
  const found: Register[] = [];
  if (operand !== undefined) forEachRegister(operand, (register) => found.push(register));
  return found;
}

/** The key of an access to a variable by its name: arguments of inlined functions are passed in such variables. */
function variableKey(line: Line): string | undefined {
  const address = operandOf(line, "a");
  return address?.kind === "address" && address.base?.kind === "symbol"
    ? `${address.base.name} ${address.offset}`
    : undefined;
}

export function definitionsOf(lines: readonly Line[]): Definitions {
  const writers = new Map<string, Line[]>();
  /** Stores to variables by name. */
  const stores = new Map<string, Line[]>();
  const add = (map: Map<string, Line[]>, key: string, line: Line): void => {
    const known = map.get(key);
    if (known === undefined) map.set(key, [line]);
    else known.push(line);
  };
  for (const line of lines) {
    for (const { name } of registersOf(line, true)) add(writers, name, line);
    const key = opcodeOf(line) === "st" ? variableKey(line) : undefined;
    if (key !== undefined) add(stores, key, line);
  }
  const of = (register: string): readonly Line[] => writers.get(register) ?? [];
  /** What was stored to the variable that a load names; none where it was not stored by name. */
  const storedTo = (load: Line): readonly Line[] => {
    const key = opcodeOf(load) === "ld" ? variableKey(load) : undefined;
    return key === undefined ? [] : stores.get(key) ?? [];
  };
  /** One step back from a base: what it is a copy of, and how far it is from that. */
  const before = (
    name: string,
  ): { readonly base: Operand; readonly offset: bigint } | undefined => {
    const [line, other] = of(name);
    if (line === undefined || other !== undefined) return undefined;
    if (line.instruction.guard !== undefined) return undefined;
    const [a, b] = [operandOf(line, "a"), operandOf(line, "b")];
    switch (opcodeOf(line)) {
      case "mov":
      case "cvta":
        return a?.kind === "register" || a?.kind === "symbol" ? { base: a, offset: 0n } : undefined;
      case "add":
        return a?.kind === "register" && b?.kind === "integer"
          ? { base: a, offset: b.value }
          : undefined;
      case "ld": {
        const [store, another] = storedTo(line);
        const value = store === undefined ? undefined : operandOf(store, "b");
        return value?.kind === "register" && another === undefined
          ? { base: value, offset: 0n }
          : undefined;
      }
      default:
        return undefined;
    }
  };
  const location = (line: Line): Location | undefined => {
    const address = operandOf(line, "a");
    if (address?.kind !== "address" || address.base === undefined) return undefined;
    let { base, offset } = address;
    for (let step = 0; step < MOST_STEPS && base.kind === "register"; step++) {
      const next = before(base.name);
      if (next === undefined) break;
      base = next.base;
      offset += next.offset;
    }
    return base.kind === "register" || base.kind === "symbol"
      ? { base: `${base.kind} ${base.name}`, offset }
      : undefined;
  };
  /** The key of an address in a variable. */
  const variableKeyOf = (line: Line): string | undefined => {
    const { base, offset } = location(line) ?? {};
    return base?.startsWith("symbol ") === true ? `${base} ${offset}` : undefined;
  };
  /** Stores to variables in any spelling, such as by the stack pointer; made when first asked for. */
  let traced: Map<string, Line[]> | undefined;
  const tracedStores = (): Map<string, Line[]> => {
    if (traced !== undefined) return traced;
    traced = new Map();
    for (const line of lines) {
      const key = opcodeOf(line) === "st" ? variableKeyOf(line) : undefined;
      if (key !== undefined) add(traced, key, line);
    }
    return traced;
  };
  const copied = (line: Line): readonly Register[] | undefined => {
    if (COPIES.has(opcodeOf(line))) return registersOf(line, false);
    const key = opcodeOf(line) === "ld" ? variableKeyOf(line) : undefined;
    const values = key === undefined ? undefined : tracedStores().get(key);
    return values?.flatMap((store) => registersIn(operandOf(store, "b")));
  };
  return { of, location, copied };
}

/** Atomics: the lanes one after the other (language.md, 7.1 and 7.3). */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { binaryCell } from "./arithmetic.ts";
import { type Cell, integer, Undecided, unknown, zero } from "./cell.ts";
import { loadCell, storeCell } from "./memory.ts";

const OPERATORS = {
  atomic_add: "add",
  atomic_sub: "sub",
  atomic_min: "min",
  atomic_max: "max",
  atomic_and: "and",
  atomic_or: "or",
  atomic_xor: "xor",
  atomic_xchg: "exchange",
  atomic_cas: "compare",
} as const;

export type AtomicName = keyof typeof OPERATORS;

export function isAtomic(name: string): name is AtomicName {
  return Object.hasOwn(OPERATORS, name);
}

/** The old values. Where two lanes meet, who comes first is open, so both get something unknown. */
export function atomic(
  name: AtomicName,
  element: ScalarName,
  pointers: readonly Cell[],
  operands: readonly (readonly Cell[])[],
  mask: readonly Cell[] | undefined,
): Cell[] {
  const addresses = pointers.map(addressName);
  return pointers.map((pointer, lane) => {
    const runs = mask === undefined ? integer(1n) : must(mask[lane], "mask");
    if (runs.kind !== "int" || !runs.known) throw new Undecided("the mask of an atomic is unknown");
    if (runs.value === 0n) return zero(element);
    const old = loadCell(pointer);
    const [first, second] = operands.map((cells) => must(cells[lane], "operand"));
    storeCell(pointer, changed(name, element, old, must(first, "operand"), second));
    const meets = addresses.some((address, other) => other !== lane && address === addresses[lane]);
    return meets ? unknown(element) : old;
  });
}

function addressName(pointer: Cell): string {
  return pointer.kind === "pointer" ? `${pointer.memory?.name} ${pointer.index}` : "";
}

function changed(
  name: AtomicName,
  element: ScalarName,
  old: Cell,
  operand: Cell,
  second: Cell | undefined,
): Cell {
  const operator = OPERATORS[name];
  if (operator === "exchange") return operand;
  if (operator !== "compare") {
    const result = binaryCell(operator, element, old, operand);
    // GPUs add floats in global memory without subnormal numbers (PTX ISA 9.0, atom).
    const flushes = operator === "add" && element === "float32" &&
      [old, operand, result].some(isSubnormal);
    return flushes ? unknown(element) : result;
  }
  const equal = sameBits(element, old, operand);
  if (equal === undefined) throw new Undecided("a comparison is unknown");
  return equal ? must(second, "new value") : old;
}

/** Whether a float may be below the normal ones. */
function isSubnormal(cell: Cell): boolean {
  if (cell.kind !== "float" || (cell.value === 0 && cell.error === 0)) return false;
  return Math.abs(cell.value) - cell.error < 2 ** -126;
}

/** What an exchange compares, as C11 does: the contents of memory, not values. Undefined where that is open. */
function sameBits(element: ScalarName, a: Cell, b: Cell): boolean | undefined {
  if (a.kind === "float" && b.kind === "float") {
    const areNan = [a, b].map(({ value }) => Number.isNaN(value));
    if (areNan[0] && areNan[1]) return undefined;
    if (a.value === 0 && b.value === 0 && a.error === 0 && b.error === 0) {
      return Object.is(a.value, b.value);
    }
  }
  const equal = binaryCell("eq", element, a, b);
  return equal.kind === "int" && equal.known ? equal.value === 1n : undefined;
}

/** Buffers of the host as the reference sees them. An element outside of its buffer is a mistake of the program. */
import { must } from "../../../compiler/support/bug.ts";
import {
  type Cell,
  either,
  isKnown,
  type Memory,
  Misbehaved,
  NULL,
  type PointerCell,
  Undecided,
  unknown,
} from "./cell.ts";

/** The element that a pointer points to. */
function elementAt(pointer: Cell): { readonly memory: Memory; readonly index: number } {
  if (pointer.kind !== "pointer") throw new TypeError("an address is a pointer");
  if (!pointer.known) throw new Undecided("an address is unknown");
  const { memory, index } = pointer;
  if (memory === undefined) throw new Misbehaved("access through a null pointer");
  if (index < 0n || index >= BigInt(memory.cells.length)) {
    throw new Misbehaved(`element ${index} of ${memory.name}, which has ${memory.cells.length}`);
  }
  return { memory, index: Number(index) };
}

export function loadCell(pointer: Cell): Cell {
  if (pointer.kind === "pointer" && !pointer.known) {
    return unknown(pointer.memory?.element ?? "int32");
  }
  const { memory, index } = elementAt(pointer);
  return must(memory.cells[index], "an element");
}

export function storeCell(pointer: Cell, value: Cell): void {
  const { memory, index } = elementAt(pointer);
  memory.cells[index] = value;
}

/** A store that may happen or not; outside of the buffer it cannot, or the program is wrong. */
export function perhapsStore(pointer: Cell, value: Cell): void {
  if (pointer.kind !== "pointer" || !pointer.known) throw new Undecided("an address is unknown");
  const old = pointer.memory?.cells[Number(pointer.index)];
  if (old !== undefined) storeCell(pointer, either(value, old));
}

/** The pointer some elements further on. */
export function advance(pointer: Cell, count: Cell): PointerCell {
  if (pointer.kind !== "pointer" || count.kind !== "int") {
    throw new TypeError("pointer and integer");
  }
  const known = pointer.known && isKnown(count);
  return { ...pointer, index: pointer.index + count.value, known };
}

export function pointerTo(memory: Memory): PointerCell {
  return { ...NULL, memory };
}

/** Elements of the values that memory instructions move: the rows they are in, and loops that move them. */
import type { BoundOperand, Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { must } from "../../compiler/support/bug.ts";
import { operandBits } from "../wasm/primitive.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext } from "../machine.ts";
import type { Views } from "../memory.ts";

/** A row, the bits of its values, and how many 32-bit words it has per lane. */
export interface Row {
  readonly row: number;
  readonly bits: number;
  readonly words: number;
}

/** The operand of a form's name, if the instruction has it. */
export function findOperand(match: Match, name: string): BoundOperand | undefined {
  return match.operands.find((operand) => operand.name === name);
}

/** The operand of a form's name, which the form always has. */
export function operandOf(match: Match, name: string): BoundOperand {
  return must(findOperand(match, name), `operand ${name} of ${match.opcode}`);
}

/** The rows of an operand's elements. */
export function elementRows(context: HandlerContext, { operand, type }: BoundOperand): Row[] {
  const elements = operand.kind === "vector" ? operand.elements : [operand];
  const rows = context.rows(operand, type);
  return elements.map((element, i) => {
    const bits = operandBits(element, type);
    return { row: must(rows[i], "row of an element"), bits, words: Math.max(1, bits / 32) };
  });
}

/** Moves an element of each lane of a mask between memory, `at` bytes after the lane's address, and a row. */
export type Move = (views: Views, locations: Uint32Array, mask: number, w: number) => void;

/** What an element looks like in memory and in its row. */
export interface Element {
  readonly row: Row;
  readonly bytes: number;
  readonly at: number;
  /** Bits of the register that get copies of the sign; 0 for unsigned elements. */
  readonly signBits: number;
}

function loadNarrow({ row: { row, words }, bytes, at, signBits }: Element): Move {
  const shift = 32 - 8 * bytes;
  const keep = signBits >= 32 ? -1 : (1 << signBits) - 1;
  return ({ u8, u16, i32 }, locations, mask, w) => {
    const base = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const location = (locations[lane] ?? 0) + at;
      const raw = (bytes === 1 ? u8[location] : u16[location >>> 1]) ?? 0;
      const value = signBits === 0 ? raw : ((raw << shift) >> shift) & keep;
      const to = base + lane * words;
      i32[to] = value;
      for (let i = 1; i < words; i++) i32[to + i] = value >> 31;
    }
  };
}

function loadWord({ row: { row }, at }: Element): Move {
  return ({ i32 }, locations, mask, w) => {
    const base = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      i32[base + lane] = i32[((locations[lane] ?? 0) + at) >>> 2] ?? 0;
    }
  };
}

function loadWords({ row: { row, words }, bytes, at, signBits }: Element): Move {
  const own = bytes >> 2;
  return ({ i32 }, locations, mask, w) => {
    const base = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const from = ((locations[lane] ?? 0) + at) >>> 2;
      const to = base + lane * words;
      let last = 0;
      for (let i = 0; i < own; i++) i32[to + i] = last = i32[from + i] ?? 0;
      for (let i = own; i < words; i++) i32[to + i] = signBits === 0 ? 0 : last >> 31;
    }
  };
}

/** Loads an element into its row. */
export function loadMove(element: Element): Move {
  if (element.bytes < 4) return loadNarrow(element);
  return element.bytes === 4 && element.row.words === 1 ? loadWord(element) : loadWords(element);
}

/** Stores an element from its row. */
export function storeMove({ row: { row, words }, bytes, at }: Element): Move {
  if (bytes < 4) {
    return ({ u8, u16, i32 }, locations, mask, w) => {
      const base = (w + row) >>> 2;
      for (let lane = 0; lane < LANES; lane++) {
        if (((mask >>> lane) & 1) === 0) continue;
        const location = (locations[lane] ?? 0) + at;
        const value = i32[base + lane * words] ?? 0;
        if (bytes === 1) u8[location] = value;
        else u16[location >>> 1] = value;
      }
    };
  }
  const own = bytes >> 2;
  return ({ i32 }, locations, mask, w) => {
    const base = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const to = ((locations[lane] ?? 0) + at) >>> 2;
      const from = base + lane * words;
      for (let i = 0; i < own; i++) i32[to + i] = i32[from + i] ?? 0;
    }
  };
}

/** The elements of a value, one after the other in memory. */
export function elementsOf(
  context: HandlerContext,
  bound: BoundOperand,
  type = bound.type,
): Element[] {
  const bytes = TYPES[type].bits / 8;
  const signed = /^s\d+$/.test(type);
  return elementRows(context, bound).map((row, i) => ({
    row,
    bytes,
    at: i * bytes,
    signBits: signed ? row.bits : 0,
  }));
}

/**
 * Copies of structures, piece by piece. Compilers copy padding by loads and stores of its own where the members end
 * before the alignment does: the bytes of such a store hold nothing, and that is no mistake if bytes beside them do.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { BoundOperand } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { Block } from "./blocks.ts";
import { type Definitions, opcodeOf, operandOf, registersIn } from "./definitions.ts";
import type { Line } from "./lines.ts";

/** Alignment of structures at most: padding is no farther from what it follows. */
const STRUCTURE_BYTES = 16n;

/** Steps from a store to the load that its value came from. */
const MOST_STEPS = 32;

/** A value that a store copies. */
export interface CopiedValue {
  readonly value: Operand;
  /** Bytes of it, or of each of its elements. */
  readonly bytes: number;
}

interface Copy extends CopiedValue {
  readonly load: Line;
}

function valueOf({ match }: Line): BoundOperand | undefined {
  if (typeof match === "string") return undefined;
  return match.operands.find(({ name }) => name === "d" || name === "b");
}

/** Bytes of each element that a load or store moves. */
function elementBytes(line: Line): number {
  const value = valueOf(line);
  return value === undefined ? 0 : Math.ceil(TYPES[value.type].bits / 8);
}

/** Bytes that a load or store moves. */
function bytesOf(line: Line): bigint {
  const operand = valueOf(line)?.operand;
  return BigInt(elementBytes(line) * (operand?.kind === "vector" ? operand.elements.length : 1));
}

/** The load whose value a store passes on unchanged. */
function copyOf(store: Line, definitions: Definitions): Copy | undefined {
  const value = opcodeOf(store) === "st" ? operandOf(store, "b") : undefined;
  if (value === undefined) return undefined;
  let [register] = registersIn(value);
  for (let step = 0; step < MOST_STEPS && register !== undefined; step++) {
    const [load, other] = definitions.of(register.name);
    if (load === undefined || other !== undefined) return undefined;
    if (opcodeOf(load) === "ld") return { value, bytes: elementBytes(store), load };
    [register] = definitions.copied(load) ?? [];
  }
  return undefined;
}

interface LoadedFrom {
  /** What the address begins with, or the load itself where the text does not say. */
  readonly base: string | Line;
  readonly offset: bigint;
}

/** Where a register's value was loaded; undefined if it comes from no single load. */
function loadedFrom(register: string, definitions: Definitions): LoadedFrom | undefined {
  let name: string | undefined = register;
  for (let step = 0; step < MOST_STEPS && name !== undefined; step++) {
    const [line, other] = definitions.of(name);
    if (line === undefined || other !== undefined) return undefined;
    if (opcodeOf(line) === "ld") {
      const { base, offset } = definitions.location(line) ?? { base: line, offset: 0n };
      const index = registersIn(operandOf(line, "d")).findIndex((one) => one.name === name);
      return { base, offset: offset + BigInt(index * elementBytes(line)) };
    }
    name = definitions.copied(line)?.[0]?.name;
  }
  return undefined;
}

/**
 * Whether the elements of a store may be a piece of one structure: they were loaded from locations that lie as they do.
 * What was gathered from locations apart has no padding.
 */
function isOnePiece(store: Line, definitions: Definitions): boolean {
  const locations = registersIn(operandOf(store, "b")).map(({ name }) =>
    loadedFrom(name, definitions)
  );
  const [first] = locations;
  return first === undefined || locations.every((location, i) =>
    location === undefined ||
    (location.base === first.base &&
      location.offset - first.offset === BigInt(i * elementBytes(store)))
  );
}

/** How far one line's address is from that of another; undefined if the text does not say. */
function distance(from: Line, to: Line, definitions: Definitions): bigint | undefined {
  const [a, b] = [definitions.location(from), definitions.location(to)];
  return a === undefined || a.base !== b?.base ? undefined : b.offset - a.offset;
}

/** Stores that copy to near a store from as near to what that copies, and their loads come before it. */
function besides(lines: readonly Line[], store: Line, definitions: Definitions): Copy[] {
  const own = copyOf(store, definitions);
  if (own === undefined) return [];
  const before = lines.slice(0, lines.indexOf(store));
  return lines.flatMap((other) => {
    const copy = other === store ? undefined : copyOf(other, definitions);
    if (copy === undefined || !before.includes(copy.load)) return [];
    const bytes = distance(store, other, definitions);
    const isNear = bytes !== undefined && bytes > -STRUCTURE_BYTES && bytes < STRUCTURE_BYTES;
    return isNear && bytes === distance(own.load, copy.load, definitions) ? [copy] : [];
  });
}

/**
 * The values that other stores copy to the structure of a store, as far as they are loaded by then. Undefined if the
 * kernel writes what the store copies, which is a member and no padding, or if the store copies no piece of a
 * structure.
 */
export function copiedBeside(
  blocks: readonly Block[],
  store: Line,
  definitions: Definitions,
): readonly CopiedValue[] | undefined {
  const linesAround = (line: Line): readonly Line[] =>
    blocks.find(({ lines }) => lines.includes(line))?.lines ?? [];
  const copy = copyOf(store, definitions);
  if (copy === undefined) return [];
  if (!isOnePiece(store, definitions)) return undefined;
  const { load } = copy;
  const isMember = blocks.some(({ lines }) =>
    lines.some((other) => {
      if (opcodeOf(other) !== "st") return false;
      const bytes = distance(load, other, definitions);
      if (bytes === undefined || bytes >= bytesOf(load) || -bytes >= bytesOf(other)) return false;
      return besides(lines, other, definitions).length === 0;
    })
  );
  if (isMember) return undefined;
  return besides(linesAround(store), store, definitions);
}

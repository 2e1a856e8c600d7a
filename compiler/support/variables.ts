/**
 * Variables of a program that runs: what a compiler says of them (`compiler/names`), and what it asks of the debugger that
 * stopped the program (`emulator/debug`). Types only.
 */

import type { Span } from "./source.ts";

/** Instructions that repeat: from the first one to the branch back to it. */
export interface LoopRange {
  /** After its label. */
  readonly first: number;
  /** The last branch back. */
  readonly last: number;
}

/** A value of the source by its name: a tile, or a number, whose shape is empty. */
export interface NamedValue {
  /** The variable. */
  readonly name: string;
  /** Its type as the source spells it. */
  readonly type: string;
  /** Extents; empty for a number. */
  readonly shape: readonly number[];
  /** Row-major; elements that are not known are NaN or 0n. */
  readonly values: Float64Array | BigInt64Array | BigUint64Array;
  /** How each element is known: 0 held in a register, 1 computed, 2 not set yet, 3 gone. */
  readonly kinds: Uint8Array;
}

/** What a register holds: what its program comes to next needs it, an earlier or a later value, or nothing yet. */
export type RegisterState = "set" | "not set" | "gone";

/** A register of a warp. */
export interface WarpRegister {
  /** What it holds. */
  readonly state: RegisterState;
  /** Lanes that have written it. */
  readonly lanes: number;
  /** Its bits in a lane. */
  read(lane: number): bigint;
}

/** The program that is looked at, as the compiler asks for it. */
export interface ProgramReader {
  /** Its position in the grid. */
  readonly program: readonly number[];
  /** Programs by axis. */
  readonly grid: readonly number[];
  /** The warp of the focused thread. */
  readonly warp: number;
  /** Its lane. */
  readonly lane: number;
  /** A register of a warp; gone outside of the loop of this number. */
  register(name: string, warp: number, within: number | undefined): WarpRegister;
  /** Bytes of the argument block. */
  parameter(offset: number, bytes: number): Uint8Array | undefined;
  /** Bytes of global memory; undefined where one of the other addresses is in the same allocation. */
  memory(address: bigint, bytes: number, others: readonly bigint[]): Uint8Array | undefined;
}

/** What the compiler says of the variables of an entry (`compiler/driver/names_of.ts`). */
export interface SourceNames {
  /** The entry's instructions as they are printed; the other members number them in this order. */
  readonly instructions: readonly string[];
  /** Instructions that repeat. */
  readonly loops: readonly LoopRange[];
  /** Registers that loops carry, with the numbers of the loops. */
  readonly carried: ReadonlyMap<string, number>;
  /** The text of the statement that an instruction belongs to. */
  statementOf(instruction: number): Span | undefined;
  /** The variables in scope before the statement that an instruction belongs to. */
  at(instruction: number): readonly string[];
  /** Reads variables at an instruction. */
  reading(instruction: number, reader: ProgramReader): (name: string) => NamedValue | undefined;
}

/** What every lowering rule gets: the emitter and the values lowered so far. Types only. */
import type { Op, Value } from "../ir/func.ts";
import type { Emitter } from "./emitter.ts";
import type { Ref } from "./element.ts";
import type { CallTable } from "./call_table.ts";

/** The elements one thread holds of a value, by register index; computed when first asked for. */
export type Lowered = (register: number) => Ref;

export interface LowerContext {
  readonly emitter: Emitter;
  readonly numWarps: number;
  readonly values: Map<Value, Lowered>;
  /** How many operations wait for their elements to be asked for, up to a value (deferred.ts). */
  readonly deferred: Map<Value, number>;
  /** Bytes of the constant buffers that are used, by name. */
  readonly constants: Map<string, number>;
  /** Calls of what the device brings. */
  readonly calls: CallTable;
  /** 32-bit registers that loads fill: what a thread must hold at once, roughly. */
  readonly loaded: { registers: number };
  /** Reads and copies of shared memory that are to be emitted between the products that follow. */
  readonly aside: (() => void)[];
  /** Lowers the operations of a region by their rules. */
  readonly lowerOps: (ops: readonly Op[]) => void;
  /** The value that one differs from by the same amount in every element; itself where none is known. */
  readonly originOf: (value: Value) => Value;
}

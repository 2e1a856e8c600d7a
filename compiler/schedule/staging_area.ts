/** The staging area: the buffers of staged operands in shared memory, one after the other, with the barriers of slots. */
import { type Func, newOp, type OpOf, type Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { bytesOf, type IrType } from "../ir/types.ts";
import type { Span } from "../support/source.ts";
import { aligned } from "./allocate_shared.ts";
import type { InBuffer, StagedOperand } from "./staged_operand.ts";

/** A slot's barrier (PTX ISA 9.0, 9.7.13.15.1). */
export const BARRIER: IrType = {
  element: "uint64",
  shape: [1],
  shared: { shape: [1], columns: [], vectorBits: 0 },
};
export const BARRIER_BYTES = bytesOf(BARRIER.element);

/** Adds buffers to those of a function, from an offset on. */
export class StagingArea {
  #end: number;

  constructor(
    readonly func: Func,
    readonly buffers: OpOf<"shared_buffer">[],
    start = 0,
  ) {
    this.#end = start;
  }

  /** Where the next buffer begins. */
  get end(): number {
    return this.#end;
  }

  /** The operand with a buffer of its own. */
  stage<O extends StagedOperand>(operand: O, slots: number): InBuffer<O> {
    const { element, shape } = operand.source.type;
    const { columns, vectorBits } = operand.plan;
    const type: IrType = { element, shape, shared: { shape, columns, vectorBits } };
    const buffer = this.add(type, slots, aligned(operand.bytes), operand.dot.span);
    return { ...operand, buffer };
  }

  /** Barriers, such as one for each slot of a ring. */
  barriers(slots: number, span: Span): Value {
    return this.add(BARRIER, slots, BARRIER_BYTES, span);
  }

  add(type: IrType, slots: number, slotBytes: number, span: Span): Value {
    const attrs = { slots, slot_bytes: slotBytes, offset: this.#end, exclusive: false };
    const op = newOp(this.func, "shared_buffer", [], [type], span, attrs);
    this.buffers.push(op);
    this.#end += aligned(slotBytes * slots);
    return resultOf(op);
  }
}

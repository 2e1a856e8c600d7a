/** Scalar operations that a pass collects before it puts them somewhere. */
import { type Func, newUncheckedOp, type Op, type Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import type { TileOp } from "../ir/ops.ts";
import { type Element, scalarType } from "../ir/types.ts";
import type { Span } from "../support/source.ts";

export class ScalarOps {
  readonly #func: Func;
  readonly #span: Span;
  /** In order. */
  readonly ops: Op[] = [];

  constructor(func: Func, span: Span) {
    this.#func = func;
    this.#span = span;
  }

  emit(name: TileOp, operands: readonly Value[], element: Element): Value {
    return this.#put(name, operands, element, {});
  }

  constant(value: bigint, element: Element): Value {
    return this.#put("constant", [], element, { value });
  }

  #put(
    name: TileOp,
    operands: readonly Value[],
    element: Element,
    attrs: Readonly<Record<string, bigint>>,
  ): Value {
    const op = newUncheckedOp(this.#func, name, operands, [scalarType(element)], this.#span, attrs);
    this.ops.push(op);
    return resultOf(op);
  }
}

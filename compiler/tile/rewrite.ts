/**
 * One forward sweep that replaces operations. An operation's operands and regions are done before it is looked
 * at, so a chain collapses in a single sweep, and no use is ever searched for.
 */
import { must } from "../support/bug.ts";
import type { ScalarValue } from "../support/arith.ts";
import type { Span } from "../support/source.ts";
import {
  type Attrs,
  type Func,
  newUncheckedOp,
  type Op,
  type Region,
  takeNames,
  type Value,
} from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import type { AttrsOf, BareOp, TileOp } from "../ir/ops.ts";
import type { IrType } from "../ir/types.ts";
import { resolve, terminatorOf } from "../ir/walk.ts";

/** What a replacement may do. Everything lands before the operation it replaces. */
export interface Rewriter {
  /** A new operation with one result, rewritten itself if it can be. */
  emit(name: BareOp, operands: readonly Value[], type: IrType, span: Span): Value;
  emit<N extends TileOp>(
    name: N,
    operands: readonly Value[],
    type: IrType,
    span: Span,
    attrs: AttrsOf<N>,
  ): Value;
  constant(value: ScalarValue, type: IrType, span: Span): Value;
  /** A new operation without result. */
  append<N extends TileOp>(
    name: N,
    operands: readonly Value[],
    span: Span,
    attrs: AttrsOf<N>,
  ): void;
  /** Moves the operations of a region here; gives the values that it yields. */
  inline(region: Region): readonly Value[];
}

/** The values that replace an operation's results, which removes the operation; undefined: it stays. */
export type Rewrite = (op: Op, rw: Rewriter) => readonly Value[] | undefined;

/** True if anything was replaced. */
export function sweep(func: Func, rewrite: Rewrite): boolean {
  const state = new Sweep(func, rewrite);
  state.region(func.body);
  return state.changed;
}

class Sweep implements Rewriter {
  changed = false;
  #ops: Op[] = [];
  readonly #func: Func;
  readonly #rewrite: Rewrite;
  readonly #replacements = new Map<Value, Value>();

  constructor(func: Func, rewrite: Rewrite) {
    this.#func = func;
    this.#rewrite = rewrite;
  }

  region(region: Region): void {
    const outer = this.#ops;
    this.#ops = [];
    for (const op of region.ops) this.#visit(op);
    region.ops = this.#ops;
    this.#ops = outer;
  }

  #visit(op: Op): void {
    op.operands = this.#resolved(op.operands);
    for (const region of op.regions) this.region(region);
    const values = this.#rewrite(op, this);
    if (values === undefined) {
      this.#ops.push(op);
      return;
    }
    this.changed = true;
    op.results.forEach((result, index) => {
      const value = must(values[index], "replacement");
      takeNames(value, result);
      this.#replacements.set(result, value);
    });
  }

  #resolved(operands: Value[]): Value[] {
    if (!operands.some((value) => this.#replacements.has(value))) return operands;
    return operands.map((value) => resolve(this.#replacements, value));
  }

  emit(
    name: TileOp,
    operands: readonly Value[],
    type: IrType,
    span: Span,
    attrs: Attrs = {},
  ): Value {
    const op = newUncheckedOp(this.#func, name, operands, [type], span, attrs);
    const values = this.#rewrite(op, this);
    if (values === undefined) {
      this.#ops.push(op);
      return resultOf(op);
    }
    return must(values[0], "replacement");
  }

  constant(value: ScalarValue, type: IrType, span: Span): Value {
    return this.emit("constant", [], type, span, { value });
  }

  append<N extends TileOp>(
    name: N,
    operands: readonly Value[],
    span: Span,
    attrs: AttrsOf<N>,
  ): void {
    this.#visit(newUncheckedOp(this.#func, name, operands, [], span, attrs));
  }

  inline(region: Region): readonly Value[] {
    const end = terminatorOf(region);
    for (const op of region.ops) if (op !== end) this.#ops.push(op);
    return end.operands;
  }
}

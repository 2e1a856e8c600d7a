/** Small operations that scheduling inserts: the next slot of a ring, loads from slots, conditions of masked copies. */
import type { SharedAccess } from "../ir/shared_access.ts";
import {
  type Attrs,
  type Func,
  newOp,
  newUncheckedOp,
  type Op,
  type Region,
  type Value,
} from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import type { AttrsOf, BareOp, TileOp } from "../ir/ops.ts";
import { type IrType, scalarType } from "../ir/types.ts";
import type { SharedPlan } from "../layout/conversion.ts";
import { permuteLayout } from "../linear/linear.ts";
import type { Span } from "../support/source.ts";
import type { InBuffer, StagedOperand } from "./staged_operand.ts";
import { layoutOf } from "../layout/tiles.ts";
import { addResults, type Carried, listOf, newLike } from "./carried.ts";

/** How the reading side of a plan reads. */
export function accessOf({ matrices }: SharedPlan): SharedAccess {
  if (matrices === undefined) return "vectors";
  return matrices.transposed ? "transposed" : "matrices";
}

/** Appends operations to a list. */
export class ScheduleBuilder {
  constructor(
    readonly func: Func,
    readonly out: Op[],
    readonly span: Span,
  ) {}

  /** Of a region of an operation to come. */
  #inside(): ScheduleBuilder {
    return new ScheduleBuilder(this.func, [], this.span);
  }

  effect(name: BareOp, operands: readonly Value[]): void;
  effect<N extends TileOp>(name: N, operands: readonly Value[], attrs: AttrsOf<N>): void;
  effect(name: TileOp, operands: readonly Value[], attrs: Attrs = {}): void {
    this.out.push(newUncheckedOp(this.func, name, operands, [], this.span, attrs));
  }

  value(name: BareOp, operands: readonly Value[], type: IrType): Value;
  value<N extends TileOp>(
    name: N,
    operands: readonly Value[],
    type: IrType,
    attrs: AttrsOf<N>,
  ): Value;
  value(name: TileOp, operands: readonly Value[], type: IrType, attrs: Attrs = {}): Value {
    const op = newUncheckedOp(this.func, name, operands, [type], this.span, attrs);
    this.out.push(op);
    return resultOf(op);
  }

  /** What one thread of the block does, if a condition holds. */
  once(when: Value, build: (inside: ScheduleBuilder) => void): void {
    const inside = this.#inside();
    build(inside);
    inside.effect("yield", []);
    const body = { params: [], ops: inside.out };
    this.out.push(newOp(this.func, "once", [when], [], this.span, {}, [body]));
  }

  /** What the program does where a condition holds, and where it does not. */
  either(
    condition: Value,
    holds: (inside: ScheduleBuilder) => void,
    fails: (inside: ScheduleBuilder) => void,
  ): void {
    const regions = [holds, fails].map((build) => {
      const inside = this.#inside();
      build(inside);
      inside.effect("yield", []);
      return { params: [], ops: inside.out };
    });
    this.out.push(newOp(this.func, "if", [condition], [], this.span, {}, regions));
  }

  /** What one way of a branch gives where a condition holds, and what the other one gives elsewhere. */
  choose<T extends Carried<T>>(
    condition: Value,
    holds: (inside: ScheduleBuilder) => T,
    fails: (inside: ScheduleBuilder) => T,
  ): T {
    const [then, otherwise] = [this.#inside(), this.#inside()];
    const values = holds(then);
    then.effect("yield", listOf(values));
    otherwise.effect("yield", listOf(fails(otherwise), values));
    const regions = [then, otherwise].map(({ out }): Region => ({ params: [], ops: out }));
    const made = newOp(this.func, "if", [condition], [], this.span, {}, regions);
    this.out.push(made);
    return addResults(this.func, made, values);
  }

  /** A loop: `continues` gives whether another iteration follows, `iterate` what the one after it gets. */
  loop<T extends Carried<T>>(
    initial: T,
    continues: (inside: ScheduleBuilder, values: T) => Value,
    iterate: (inside: ScheduleBuilder, values: T) => T,
  ): T {
    const { func, span } = this;
    const [tested, values] = [newLike(func, initial), newLike(func, initial)];
    const [test, body] = [this.#inside(), this.#inside()];
    test.effect("condition", [continues(test, tested), ...listOf(tested)]);
    body.effect("yield", listOf(iterate(body, values), initial));
    const regions: Region[] = [
      { params: listOf(tested), ops: test.out },
      { params: listOf(values), ops: body.out },
    ];
    const made = newOp(func, "while", listOf(initial), [], span, {}, regions);
    this.out.push(made);
    return addResults(func, made, initial);
  }

  /** What the program does where a condition does not hold. */
  unless(condition: Value, build: (inside: ScheduleBuilder) => void): void {
    this.either(condition, () => {}, build);
  }

  /** What one thread beside those of the program does. */
  produce(build: (inside: ScheduleBuilder) => void): void {
    const inside = this.#inside();
    build(inside);
    inside.effect("yield", []);
    const body = { params: [], ops: inside.out };
    this.out.push(newOp(this.func, "produce", [], [], this.span, {}, [body]));
  }

  /** Waits until all threads of the block are here. */
  barrier(): void {
    this.effect("barrier", []);
  }

  /** Waits until at most so many groups of copies of any thread are under way. */
  waitGroup(pending: number): void {
    this.effect("wait_group", [], { pending });
    this.barrier();
  }

  int(value: number): Value {
    return this.value("constant", [], scalarType("int32"), { value: BigInt(value) });
  }

  true(): Value {
    return this.value("constant", [], scalarType("bool"), { value: 1n });
  }

  both(a: Value, b: Value): Value {
    return this.value("and", [a, b], a.type);
  }

  /** The slot after this one. */
  advance(slot: Value, slots: number): Value {
    const next = this.value("add", [slot, this.int(1)], slot.type);
    const isLast = this.value("eq", [next, this.int(slots)], scalarType("bool"));
    return this.value("select", [isLast, this.int(0), next], slot.type);
  }

  /** A mask that also needs a scalar condition. */
  maskBy(condition: Value, mask: Value | undefined, like: IrType): Value {
    const type: IrType = { ...like, element: "bool" };
    const everywhere = this.value("splat", [condition], type);
    return mask === undefined ? everywhere : this.both(everywhere, mask);
  }

  /** Gives a dot its operand from a slot. */
  load(operand: InBuffer, slot: Value): void {
    const { element, shape } = operand.source.type;
    const { buffer, layout } = operand;
    const attrs = { access: accessOf(operand.plan) };
    const source = this.value("local_load", [buffer, slot], { element, shape, layout }, attrs);
    operand.dot.operands[operand.index] = this.permuted(operand, source);
  }

  /** What an operand's permutations make of its source, or of a part of it. */
  permuted(operand: StagedOperand, source: Value): Value {
    let value = source;
    for (const permutation of operand.permutations) {
      const { order } = permutation.attrs;
      const layout = permuteLayout(layoutOf(value), order);
      const type: IrType = { ...value.type, shape: layout.shape, layout };
      value = this.value("permute", [value], type, { order });
    }
    return value;
  }
}
